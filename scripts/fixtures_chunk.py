"""Writes crates/b2nd/tests/fixtures/chunk: chunks by C-Blosc2 (through python-blosc2) and the digests of what it reads back.

Usage: python scripts/fixtures_chunk.py <folder>. Fixtures are append-only: add cases at the end, never change one.
"""
import hashlib
import os
import sys

import blosc2
import numpy as np

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
codecs = {c.name.lower(): c for c in (blosc2.Codec.BLOSCLZ, blosc2.Codec.LZ4, blosc2.Codec.LZ4HC, blosc2.Codec.ZLIB, blosc2.Codec.ZSTD)}
ids = {"none": 0, "shuffle": 1, "bitshuffle": 2, "delta": 3, "trunc_prec": 4}
table = open(os.path.join(out, "DIGESTS.tsv"), "w")
table.write(f"# file, bytes, sha256 of the decoded bytes; written by python-blosc2 {blosc2.__version__}\n")


def walk(nbytes, typesize):
    items = nbytes // typesize + 1
    steps = np.random.default_rng(typesize).integers(0, 5, items)
    values = (np.cumsum(steps) + 1000).astype("<u8").view("u1").reshape(items, 8)
    data = np.zeros((items, typesize), "u1")
    data[:, : min(typesize, 8)] = values[:, : min(typesize, 8)]
    return data.tobytes()[:nbytes]


count = 0


def save(name, chunk, data):
    global count
    name = f"{count:02}-{name}"
    count += 1
    with open(os.path.join(out, name + ".b2chunk"), "wb") as file:
        file.write(chunk)
    table.write(f"{name}.b2chunk\t{len(data)}\t{hashlib.sha256(data).hexdigest()}\n")


def case(data, typesize, codec="lz4", filters="shuffle", clevel=5, split=3, blocksize=0, short=False, threads=1):
    parts = [(part.split(":") + ["0"])[:2] for part in filters.split(",")]
    if short:
        # Only the interface of Blosc1 looks at this variable.
        os.environ["BLOSC_BLOSC1_COMPAT"] = "1"
        blosc2.set_blocksize(blocksize)
        blosc2.set_nthreads(1)
        chunk = blosc2.compress(data, typesize, clevel, blosc2.Filter(ids[filters]), codecs[codec], True)
        blosc2.set_blocksize(0)
        assert chunk[2] & 5 != 5
    else:
        chunk = blosc2.compress2(
            data, codec=codecs[codec], clevel=clevel, typesize=typesize, splitmode=blosc2.SplitMode(split),
            filters=[blosc2.Filter(ids[name]) for name, _ in parts], filters_meta=[int(meta) for _, meta in parts],
            blocksize=blocksize, nthreads=threads,
        )
    back = blosc2.decompress2(chunk) if data else b""
    assert back == data or "trunc_prec" in filters
    text = filters.replace(":", "").replace(",", "+")
    kind = "-short" if short else ""
    save(f"{codec}{clevel}-{text}-ts{typesize}-split{split}-{len(data)}{kind}", chunk, back)


for codec in codecs:
    for filters, typesize in (("none", 4), ("shuffle", 4), ("bitshuffle", 2), ("delta,shuffle", 8), ("shuffle,bitshuffle", 8)):
        case(walk(9601, 8)[: 9600 if "delta" in filters else 9601], typesize, codec, filters, blocksize=4096)
    case(walk(5000, 4), 4, codec, "shuffle", blocksize=2048, short=True)
for split in (1, 2, 3, 4):
    for typesize in (4, 24):
        case(walk(6000, typesize), typesize, "zstd", "shuffle", split=split, blocksize=1920)
for typesize in (1, 2, 3, 7, 16, 17, 255, 256, 1000):
    case(walk(9000, typesize), typesize, "lz4", "shuffle")
for filters in ("bitshuffle", "delta", "delta,bitshuffle"):
    case(walk(6000, 4), 4, "blosclz", filters, blocksize=1000, short=filters == "bitshuffle")
for typesize in (12, 16, 20, 24):
    case(walk(4800, typesize), typesize, "lz4", "delta", blocksize=960)
case(walk(6003, 6), 6, "lz4", "shuffle:3", blocksize=1200)
case(walk(6003, 6), 6, "lz4", "shuffle:100,bitshuffle", blocksize=1200)
floats = np.sqrt(np.arange(1, 1500)).astype("<f4").tobytes()
case(floats, 4, "zstd", "trunc_prec:10,shuffle", blocksize=2000)
case(np.sqrt(np.arange(1, 800)).tobytes(), 8, "zstd", "trunc_prec:-20,bitshuffle", blocksize=2000)
case(np.random.default_rng(1).bytes(700), 4, "zstd", "shuffle")
case(np.random.default_rng(1).bytes(700), 4, "lz4", "shuffle", short=True)
case(walk(700, 4), 4, "zstd", "shuffle", clevel=0)
case(walk(20, 4), 4, "zstd", "shuffle")
case(b"", 4)
case(bytes(5000), 4, "zlib", "bitshuffle")
case(bytes([200]) * 5000, 4, "zlib", "bitshuffle")
case(bytes(3000) + walk(3000, 4) + bytes([7]) * 3000, 4, "lz4", "shuffle", blocksize=1000)
case(walk(60000, 8), 8, "zstd", "delta,shuffle", clevel=9, blocksize=4000, threads=4)


def special(name, array):
    chunk = array.schunk.get_chunk(0)
    save("special-" + name, chunk, array.schunk.decompress_chunk(0))


special("zeros-ts8", blosc2.zeros((500,), dtype="f8"))
special("nans-ts4", blosc2.nans((500,), dtype="f4"))
special("nans-ts8", blosc2.nans((500,), dtype="f8"))
special("value-ts2", blosc2.full((500,), 77, dtype="i2"))
special("value-ts16", blosc2.full((500,), 3 - 4j, dtype="c16"))
special("value-ts300", blosc2.full((20,), b"x" * 300, dtype="S300"))
