"""Chunks of Blosc1, both ways, by numcodecs (the codec of Zarr, which carries C-Blosc 1.x).

versions        says which versions are there
check FOLDER    for every N.json: N.ours must decompress to N.raw; compresses N.raw to N.theirs as N.json says
"""

import json
import pathlib
import sys

import numcodecs
from numcodecs import blosc

SHUFFLES = {"none": blosc.NOSHUFFLE, "shuffle": blosc.SHUFFLE, "bitshuffle": blosc.BITSHUFFLE}


def check(folder):
    done = 0
    for path in sorted(folder.glob("*.json")):
        case = json.loads(path.read_text())
        raw = path.with_suffix(".raw").read_bytes()
        try:
            got = bytes(blosc.decompress(path.with_suffix(".ours").read_bytes()))
            if got != raw:
                where = next((i for i, (a, b) in enumerate(zip(got, raw)) if a != b), min(len(got), len(raw)))
                raise ValueError(f"{len(got)} bytes instead of {len(raw)}, other from byte {where} on")
            theirs = blosc.compress(
                raw,
                case["codec"].encode(),
                case["clevel"],
                SHUFFLES[case["filter"]],
                case["blocksize"],
                case["typesize"],
            )
            path.with_suffix(".theirs").write_bytes(theirs)
            done += 1
        except (RuntimeError, ValueError) as error:
            print(f"{case}: {error}", file=sys.stderr)
    print(json.dumps({"done": done}))


if __name__ == "__main__":
    if sys.argv[1] == "versions":
        print("numcodecs", numcodecs.__version__)
    else:
        blosc.set_nthreads(1)
        check(pathlib.Path(sys.argv[2]))
