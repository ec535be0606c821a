"""Writes crates/b2nd/tests/fixtures/blocks: chunks by C-Blosc2 (through python-blosc2) with dictionaries and with blocks of
variable length, an array with dictionaries, and the digests of what it reads back.

Usage: python scripts/fixtures_blocks.py <folder>. Fixtures are append-only: add cases at the end, never change one.
"""
import hashlib
import os
import sys

import blosc2
import numpy as np
from blosc2 import blosc2_ext

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
codecs = {"lz4": blosc2.Codec.LZ4, "lz4hc": blosc2.Codec.LZ4HC, "zstd": blosc2.Codec.ZSTD}
filters = {"none": [], "shuffle": [blosc2.Filter.SHUFFLE], "delta": [blosc2.Filter.DELTA, blosc2.Filter.SHUFFLE]}
table = open(os.path.join(out, "DIGESTS.tsv"), "w")
table.write(f"# file, kind, bytes, sha256 of the decoded bytes; written by python-blosc2 {blosc2.__version__}\n")


def text(nbytes):
    words = ["temperature", "pressure", "humidity", "wind", "station", "north", "south", "[K]", "[hPa]", "[m s-1]"]
    picks = np.random.default_rng(7).integers(0, len(words), nbytes // 4 + 1)
    return "; ".join(f"{words[n]} {i * 37 % 1000}" for i, n in enumerate(picks)).encode()[:nbytes]


def save(name, kind, content, data):
    with open(os.path.join(out, name), "wb") as file:
        file.write(content)
    table.write(f"{name}\t{kind}\t{len(data)}\t{hashlib.sha256(data).hexdigest()}\n")


data = {"none": text(20_003)}
data["shuffle"] = (np.cumsum(np.random.default_rng(9).integers(0, 4, 5000)) * 3 + 70_000).astype("<u4").tobytes()
data["delta"] = data["shuffle"]
for codec in codecs:
    for name, pipeline in filters.items():
        typesize = 1 if name == "none" else 4
        chunk = blosc2.compress2(
            data[name], codec=codecs[codec], clevel=5, typesize=typesize, filters=pipeline,
            filters_meta=[0] * len(pipeline), blocksize=1024, use_dict=True, nthreads=1,
        )
        assert chunk[31] & 1 and not chunk[2] & 2, (codec, name, chunk[:32].hex())
        save(f"dict-{codec}-{name}.b2chunk", "dictionary", chunk, blosc2.decompress2(chunk))

lengths = np.random.default_rng(8).integers(1, 700, 40)
starts = np.concatenate([[0], lengths.cumsum()[:-1]])
for codec in codecs:
    for name, pipeline in filters.items():
        if name == "delta":
            # C-Blosc2 does not read back what it writes then.
            continue
        blocks = [data[name][start : start + n] for start, n in zip(starts, lengths)]
        for use_dict in (False, True):
            chunk = blosc2_ext.vlcompress(
                blocks, codec=codecs[codec], clevel=5, typesize=1 if name == "none" else 4, filters=pipeline,
                filters_meta=[0] * len(pipeline), use_dict=use_dict, nthreads=1,
            )
            assert chunk[30] & 1 and bool(chunk[31] & 1) == use_dict, (codec, name)
            assert [bytes(b) for b in blosc2_ext.vldecompress(chunk)] == blocks
            suffix = "-dict" if use_dict else ""
            save(f"variable-{codec}-{name}{suffix}.b2chunk", "variable", chunk, b"".join(blocks))

items = (np.add.outer(np.arange(90) // 3, np.arange(80)) % 23).astype("<u2")
for codec in codecs:
    path = os.path.join(out, f"dict-{codec}.b2nd")
    cparams = {"codec": codecs[codec], "clevel": 5, "use_dict": True, "nthreads": 1}
    array = blosc2.asarray(items, chunks=(50, 80), blocks=(10, 20), cparams=cparams, urlpath=path, mode="w")
    assert array.schunk.get_chunk(0)[31] & 1
    table.write(f"dict-{codec}.b2nd\tarray\t{items.nbytes}\t{hashlib.sha256(array[:].tobytes()).hexdigest()}\n")
table.close()
