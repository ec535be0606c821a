"""Writes the small arrays of crates/b2nd/tests/fixtures/b2nd with the blosc2 package.

    .venv/bin/python scripts/fixtures_b2nd.py

Fixtures are kept for ever: run this only to add some. Each line of MANIFEST.tsv gives file, revision, shape, chunk shape,
block shape, stored dtype, size of an item and the items: `seq` (the bytes 0, 1, 2 … modulo 251), `bits` (those modulo 2),
`repeat:HEX` (one item), `ramp:N` (little-endian integers 0, 1, 2 … of N bytes).
"""

import shutil
from pathlib import Path

import blosc2
import numpy as np

HERE = Path(__file__).resolve().parent.parent / "crates/b2nd/tests/fixtures/b2nd"
NESTED = [("head", [("t", "<M8[s]"), ("k", "|b1")]), ("grid", "<i2", (2, 3))]
DTYPES = [
    ("bool", "|b1", "bits"), ("i1", "|i1", "seq"), ("u2be", ">u2", "seq"), ("i4", "<i4", "ramp:4"), ("i8be", ">i8", "seq"),
    ("f2", "<f2", "seq"), ("f4be", ">f4", "seq"), ("f8", "<f8", "seq"), ("c8", "<c8", "seq"), ("c16", "<c16", "seq"),
    ("s5", "|S5", "seq"), ("u3", "<U3", "seq"), ("m8ns", "<M8[ns]", "ramp:8"), ("td25s", ">m8[25s]", "seq"),
    ("pair", [("a", "<i4"), ("b", ">f8")], "seq"), ("nested", NESTED, "seq"), ("s300", "|S300", "seq"),
]
SHAPES = [
    ("0d", (), (), ()), ("1d", (37,), (10,), (4,)), ("2d", (13, 9), (5, 4), (2, 3)), ("3d", (5, 1, 7), (2, 1, 7), (2, 1, 3)),
    ("4d", (2, 3, 2, 5), (2, 2, 1, 5), (1, 2, 1, 2)), ("5d", (2, 1, 2, 3, 2), (1, 1, 2, 2, 2), (1, 1, 1, 2, 1)),
    ("16d", (1, 2) + (1,) * 12 + (2, 3), (1, 2) + (1,) * 12 + (1, 2), (1,) * 15 + (2,)), ("empty", (3, 0), (3, 0), (3, 0)),
]
CODECS = ["BLOSCLZ", "LZ4", "LZ4HC", "ZLIB", "ZSTD"]
FILTERS = {"none": [0], "shuffle": [1], "bitshuffle": [2], "delta": [3], "delta-shuffle": [3, 1]}


def items(pattern, dtype, shape):
    n = int(np.prod(shape, dtype=int)) * dtype.itemsize
    if pattern.startswith("ramp:"):
        size = int(pattern[5:])
        return np.arange(n // size).astype(f"<u{size}").tobytes()
    return (np.arange(n) % (2 if pattern == "bits" else 251)).astype("u1").tobytes()


def save(lines, name, data, pattern, chunks, blocks, contiguous=True, vlmeta=None, meta=None, **cparams):
    path = HERE / f"{name}.b2nd"
    cparams = {"nthreads": 1, **cparams}
    array = blosc2.asarray(
        data, chunks=chunks, blocks=blocks, urlpath=str(path), mode="w", contiguous=contiguous, cparams=cparams, meta=meta
    )
    for key, value in (vlmeta or {}).items():
        array.schunk.vlmeta[key] = value
    assert array[...].tobytes() == data.tobytes()
    line(lines, path.name, array, pattern)


def line(lines, name, array, pattern, revision="b2nd-7"):
    raw = blosc2.blosc2_ext.meta__getitem__(array.schunk, "b2nd")
    stored = raw[raw.index(b"\xdb", 6 + 19 * array.ndim) + 5 :].decode()
    text = lambda dims: "x".join(map(str, dims)) or "()"
    fields = [name, revision, text(array.shape), text(array.chunks), text(array.blocks), stored]
    lines.append("\t".join(fields + [str(array.dtype.itemsize), pattern]))


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir(parents=True)
    lines = []
    for number, (name, descr, pattern) in enumerate(DTYPES):
        dtype = np.dtype(descr)
        _, shape, chunks, blocks = SHAPES[1 + number % 4]
        data = np.frombuffer(items(pattern, dtype, shape), dtype).reshape(shape)
        codec = blosc2.Codec[CODECS[number % 5]]
        save(lines, f"dtype-{name}", data, pattern, chunks, blocks, contiguous=number % 4 != 3, codec=codec)
    for name, shape, chunks, blocks in SHAPES:
        data = np.frombuffer(items("ramp:4", np.dtype("<i4"), shape), "<i4").reshape(shape)
        save(lines, f"shape-{name}", data, "ramp:4", chunks, blocks)
    for number, codec in enumerate(CODECS):
        for offset, (name, ids) in enumerate(FILTERS.items()):
            if (number + offset) % 2:
                continue
            data = np.arange(600, dtype="<u4").reshape(20, 30)
            filters = [blosc2.Filter(i) for i in [0] * (6 - len(ids)) + ids]
            options = {"codec": blosc2.Codec[codec], "filters": filters, "filters_meta": [0] * 6, "clevel": 1 + 2 * number}
            save(lines, f"{codec.lower()}-{name}", data, "ramp:4", (15, 16), (5, 8), **options)
    data = np.arange(600, dtype="<u4").reshape(20, 30)
    save(lines, "stored", data, "ramp:4", (15, 16), (5, 8), clevel=0)
    save(lines, "layers", data, "ramp:4", (15, 16), (5, 8), meta={"user": b"fixed"}, vlmeta={"note": "hello " * 20, "n": [1]})
    for name, value in [("zeros", 0), ("nan", np.nan), ("seven", 7.5)]:
        path = HERE / f"full-{name}.b2nd"
        array = blosc2.full((10, 11), value, "<f8", urlpath=str(path), mode="w", chunks=(4, 5), blocks=(2, 3))
        line(lines, path.name, array, "repeat:" + array[0, 0].tobytes().hex())
    path = HERE / "uninit.b2nd"
    array = blosc2.uninit((10, 11), "<f8", urlpath=str(path), mode="w", chunks=(4, 5), blocks=(2, 3))
    line(lines, path.name, array, "repeat:" + "00" * 8)
    (HERE / "MANIFEST.tsv").write_text("\n".join(lines) + "\n")


main()
