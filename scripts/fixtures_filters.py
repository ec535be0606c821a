"""Writes the small arrays of crates/b2nd/tests/fixtures/registered and .../zfp with the blosc2 package.

    .venv/bin/python scripts/fixtures_filters.py

Fixtures are kept for ever: run this only to add some. MANIFEST.tsv is that of fixtures_b2nd.py, where the items may also be
`file`: those that blosc2 itself reads back, in NAME.items (what is lost by lossy filters and codecs is lost there too).
"""

import shutil

import blosc2
import numpy as np

import fixtures_b2nd

HERE = fixtures_b2nd.HERE.parent
LZ4, NDLZ = blosc2.Codec.LZ4, blosc2.Codec.NDLZ
# Folder, name, dtype, shape, chunk shape, block shape, codec, its meta, filters with their meta.
CASES = [
    ("registered", "bytedelta", "<u2", (30, 20), (20, 20), (10, 20), LZ4, 0, [(1, 0), (35, 0)]),
    ("registered", "bytedelta-f8", "<f8", (100,), (100,), (100,), LZ4, 0, [(1, 0), (35, 8)]),
    ("registered", "int_trunc", "<i4", (20, 20), (20, 20), (20, 20), LZ4, 0, [(36, 30), (1, 0)]),
    ("registered", "ndcell-2d", "|u1", (34, 22), (32, 22), (32, 22), LZ4, 0, [(32, 4)]),
    ("registered", "ndcell-3d", "<f4", (8, 9, 7), (8, 9, 7), (8, 5, 7), LZ4, 0, [(32, 3), (1, 0)]),
    ("registered", "ndmean-1d", "<f4", (90,), (90,), (45,), LZ4, 0, [(33, 8)]),
    ("registered", "ndmean-2d", "<f8", (18, 20), (18, 20), (10, 11), LZ4, 0, [(33, 4)]),
    ("registered", "ndlz-4", "|u1", (20, 22), (20, 22), (20, 22), NDLZ, 4, [(1, 0)]),
    ("registered", "ndlz-8", "<i2", (32, 34), (32, 34), (32, 34), NDLZ, 8, [(1, 0)]),
    ("zfp", "accuracy", "<f8", (10, 13), (10, 13), (8, 13), blosc2.Codec.ZFP_ACC, 255, []),
    ("zfp", "precision", "<f4", (8, 9, 8), (8, 9, 8), (8, 8, 8), blosc2.Codec.ZFP_PREC, 4, []),
    ("zfp", "rate-1d", "<f8", (100,), (64,), (32,), blosc2.Codec.ZFP_RATE, 20, []),
    ("zfp", "rate-4d", "<f4", (4, 8, 4, 5), (4, 8, 4, 5), (4, 8, 4, 5), blosc2.Codec.ZFP_RATE, 25, []),
]


def items(codec, dtype, shape):
    at = np.indices(shape)
    if codec == NDLZ:
        return (at[0] % 5 * 7 + at[1] // 3 + (at.sum(0) % 41 == 0)).astype(dtype) % 6
    if codec == LZ4:
        return (np.sin(at.sum(0) / 20) * 20).round().astype(dtype)
    return (np.sin(at.sum(0) / 5) * 100).astype(dtype)


def main():
    manifests = {}
    for folder in ["registered", "zfp"]:
        shutil.rmtree(HERE / folder, ignore_errors=True)
        (HERE / folder).mkdir(parents=True)
    for folder, name, dtype, shape, chunks, blocks, codec, meta, filters in CASES:
        data = items(codec, np.dtype(dtype), shape)
        path = HERE / folder / f"{name}.b2nd"
        empty = 6 - len(filters)
        cparams = {
            "codec": codec, "codec_meta": meta, "clevel": 9, "nthreads": 1, "typesize": data.dtype.itemsize,
            "filters": [blosc2.Filter(0)] * empty + [blosc2.Filter(f) for f, _ in filters],
            "filters_meta": [0] * empty + [m for _, m in filters],
        }
        if codec == NDLZ:
            cparams["splitmode"] = blosc2.SplitMode.ALWAYS_SPLIT
        blosc2.asarray(data, chunks=chunks, blocks=blocks, urlpath=str(path), mode="w", cparams=cparams)
        array = blosc2.open(str(path), mode="r")
        path.with_suffix(".items").write_bytes(array[...].tobytes())
        assert array.schunk.cbytes < data.nbytes, (name, array.schunk.cbytes, data.nbytes)
        fixtures_b2nd.line(manifests.setdefault(folder, []), path.name, array, "file")
    for folder, lines in manifests.items():
        (HERE / folder / "MANIFEST.tsv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
