#!/usr/bin/env python3
"""Writes crates/b2nd/tests/fixtures/blosclz/: BloscLZ streams made by C-Blosc2, through python-blosc2.

Needs numpy and blosc2 (the files in the repository are by blosc2 4.14.1, C-Blosc2 3.3.5). Each file is one
stream, cut out of a chunk of one block. MANIFEST lists name, length and FNV-1a of what it stands for.
"""

import pathlib
import struct

import blosc2
import numpy as np

OUT = pathlib.Path(__file__).parent.parent / "crates/b2nd/tests/fixtures/blosclz"


def shuffled(array):
    return array.view(np.uint8).reshape(-1, array.itemsize).T.tobytes()


def inputs():
    rng = np.random.default_rng(7)
    walk = np.round(np.cumsum(rng.uniform(-1, 1, 2000)) + 300, 1)
    yield "walk", 1, shuffled(walk)
    yield "walk", 5, shuffled(np.round(walk).astype("f4"))
    yield "ramp", 9, shuffled(np.arange(4000, dtype="i4"))
    yield "abcd", 5, b"abcd" * 24
    yield "long", 5, bytes(range(40)) + bytes(30000) + bytes(range(40))
    words = [b"the ", b"chunk ", b"of ", b"an ", b"array ", b"lies ", b"in ", b"blocks, ", b"each ", b"frame.\n"]
    yield "text", 3, b"".join(words[i] for i in rng.integers(0, 10, 2000))
    noise = rng.integers(0, 256, 300, dtype="u1").tobytes()
    gap = b"".join(words[i] for i in rng.integers(0, 10, 2200))
    yield "far", 9, noise + gap + noise + gap[:5000] + noise
    yield "farthest", 9, noise + bytes(73_000) + noise + bytes(1000)


def stream(data, clevel):
    chunk = blosc2.compress2(
        data,
        codec=blosc2.Codec.BLOSCLZ,
        clevel=clevel,
        filters=[blosc2.Filter.NOFILTER] * 6,
        typesize=1,
        blocksize=len(data),
        nthreads=1,
        splitmode=blosc2.SplitMode.NEVER_SPLIT,
    )
    assert chunk[2] & 2 == 0, "stored, not compressed"
    (start,) = struct.unpack_from("<i", chunk, 32)
    (size,) = struct.unpack_from("<i", chunk, start)
    assert 0 < size < len(data), "not a compressed stream"
    return chunk[start + 4 : start + 4 + size]


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    lines = []
    for name, clevel, data in inputs():
        name = f"{name}{clevel}.blosclz"
        (OUT / name).write_bytes(stream(data, clevel))
        lines.append(f"{name} {len(data)} {fnv1a(data):016x}\n")
    (OUT / "MANIFEST").write_text("".join(lines))


main()
