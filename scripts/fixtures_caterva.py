"""Writes the small caterva files of crates/b2nd/tests/fixtures/caterva with the caterva 0.7.3 package (needs numpy < 2).

    python scripts/fixtures_caterva.py

Fixtures are kept for ever: run this only to add some. Each line of MANIFEST.tsv gives file, revision, shape, chunk shape,
block shape, stored dtype, size of an item and the items: `seq` are the bytes 0, 1, 2 … modulo 251, C order.
"""

import shutil
from pathlib import Path

import caterva
import numpy as np

HERE = Path(__file__).resolve().parent.parent / "crates/b2nd/tests/fixtures/caterva"
CASES = [
    # name, shape, item size, chunks, blocks, contiguous, keyword arguments
    ("1d-ts1", (101,), 1, (40,), (7,), True, {}),
    ("1d-ts8-sparse", (33,), 8, (10,), (4,), False, {}),
    ("1d-one", (1,), 4, (1,), (1,), True, {}),
    ("2d-ts4", (17, 13), 4, (8, 5), (3, 2), True, {"codec": caterva.Codec.LZ4}),
    ("2d-ts2-sparse", (23, 7), 2, (7, 7), (2, 3), False, {"codec": caterva.Codec.ZSTD}),
    ("2d-ts3", (11, 5), 3, (4, 4), (4, 1), True, {"codec": caterva.Codec.ZLIB}),
    ("3d-ts8", (5, 7, 11), 8, (2, 3, 5), (2, 2, 2), True, {"codec": caterva.Codec.LZ4HC}),
    ("3d-ts1-sparse", (3, 1, 29), 1, (2, 1, 10), (1, 1, 3), False, {}),
    ("3d-stored", (4, 5, 6), 2, (3, 3, 3), (2, 2, 2), True, {"clevel": 0}),
    ("4d-ts16", (2, 3, 4, 5), 16, (2, 2, 2, 2), (1, 2, 1, 2), True, {}),
    ("4d-ts4-sparse", (3, 2, 5, 3), 4, (2, 2, 3, 3), (1, 1, 2, 3), False, {"codec": caterva.Codec.BLOSCLZ}),
    ("2d-bitshuffle", (16, 16), 4, (16, 8), (8, 8), True, {"filters": [caterva.Filter.BITSHUFFLE]}),
]


def items(shape, itemsize):
    n = int(np.prod(shape)) * itemsize
    return (np.arange(n) % 251).astype("u1").tobytes()


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir(parents=True)
    lines = []
    for name, shape, itemsize, chunks, blocks, contiguous, options in CASES:
        path = HERE / f"{name}.cat"
        data = items(shape, itemsize)
        array = caterva.from_buffer(
            data, shape, itemsize, chunks=chunks, blocks=blocks, contiguous=contiguous, urlpath=str(path), **options
        )
        assert array.to_buffer() == data
        text = lambda dims: "x".join(map(str, dims))
        lines.append("\t".join([path.name, "caterva-5", text(shape), text(chunks), text(blocks), "-", str(itemsize), "seq"]))
    (HERE / "MANIFEST.tsv").write_text("\n".join(lines) + "\n")


main()
