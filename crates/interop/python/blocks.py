"""Chunks with dictionaries and with blocks of variable length, by python-blosc2: each side's are read by the other.

versions        says which versions are there
check FOLDER    for every N.json: N.ours must give N.raw (block by block where N.json has lengths); writes N.theirs of the same
"""

import json
import pathlib
import sys

import blosc2
from blosc2 import blosc2_ext

CODECS = {"lz4": blosc2.Codec.LZ4, "lz4hc": blosc2.Codec.LZ4HC, "zstd": blosc2.Codec.ZSTD}
FILTERS = {"none": [], "shuffle": [blosc2.Filter.SHUFFLE], "bitshuffle": [blosc2.Filter.BITSHUFFLE]}


def check(folder):
    done = 0
    for path in sorted(folder.glob("*.json")):
        case = json.loads(path.read_text())
        raw = path.with_suffix(".raw").read_bytes()
        ours = path.with_suffix(".ours").read_bytes()
        pipeline = FILTERS[case["filter"]]
        cparams = {
            "codec": CODECS[case["codec"]],
            "clevel": case["clevel"],
            "typesize": case["typesize"],
            "filters": pipeline,
            "filters_meta": [0] * len(pipeline),
            "use_dict": case["dictionary"],
            "nthreads": 1,
        }
        try:
            if case["lengths"]:
                ends = [sum(case["lengths"][: n + 1]) for n in range(len(case["lengths"]))]
                blocks = [raw[end - length : end] for end, length in zip(ends, case["lengths"])]
                if [bytes(b) for b in blosc2_ext.vldecompress(ours)] != blocks:
                    raise ValueError("other blocks")
                theirs = blosc2_ext.vlcompress(blocks, **cparams)
            else:
                if blosc2.decompress2(ours) != raw:
                    raise ValueError("other bytes")
                theirs = blosc2.compress2(raw, blocksize=case["blocksize"], **cparams)
            path.with_suffix(".theirs").write_bytes(theirs)
            done += 1
        except (RuntimeError, ValueError) as error:
            print(f"{case}: {error}", file=sys.stderr)
    print(json.dumps({"done": done}))


if __name__ == "__main__":
    if sys.argv[1] == "versions":
        print("blosc2", blosc2.__version__, "C-Blosc2", blosc2.blosclib_version)
    else:
        check(pathlib.Path(sys.argv[2]))
