"""The foreign writer of tests/all/checksums.rs. `versions`, and `serve`: a command a line, as JSON."""

import hashlib
import json
import sys

import blosc2
import numpy as np

RNG = np.random.default_rng(1)


def see(command):
    found = blosc2.open(command["path"], mode="r")
    layers = found.schunk.vlmeta[:]
    items = hashlib.sha256(np.ascontiguousarray(found[...]).tobytes()).hexdigest()
    names = sorted(layers if isinstance(layers, dict) else [])
    return {"sha256": items, "layers": [n.decode() if isinstance(n, bytes) else n for n in names]}


def change(command):
    found = blosc2.open(command["path"], mode="a")
    how, rows, columns = command["how"], *found.shape
    if how == "update":
        found[3:7, 5:50] = RNG.integers(0, 1 << 30, (4, 45), dtype="i4")
    elif how == "same size":
        found[0:64] = RNG.integers(-(1 << 31), 1 << 31, (64, columns), dtype="i4")
    elif how == "append":
        found.resize((rows + 70, columns))
        found[rows:] = RNG.integers(0, 1 << 20, (70, columns), dtype="i4")
    elif how == "shape":
        found.resize((rows - 1, columns))
    elif how == "parameters":
        found.schunk.cparams = blosc2.CParams(codec=blosc2.Codec.LZ4, clevel=9, typesize=4, nthreads=3)
        found.resize((rows - 1, columns))
    elif how == "attribute":
        found.schunk.vlmeta["stranger"] = {"deep": [1, 2]}
    elif how == "metalayer":
        found.schunk.meta["owner"] = "someone else"[: len(found.schunk.meta["owner"])]
    elif how == "copy":
        copy = found.copy(urlpath=command["to"], mode="w", contiguous=command["contiguous"])
        for name in found.schunk.vlmeta:
            if name not in copy.schunk.vlmeta:
                copy.schunk.vlmeta.set_vlmeta(name, found.schunk.vlmeta.get_vlmeta(name), typesize=1)
    elif how == "to cframe":
        with open(command["to"], "wb") as file:
            file.write(found.to_cframe())
    else:
        raise ValueError(how)
    return {}


def main():
    if sys.argv[1] == "versions":
        print(f"blosc2 {blosc2.__version__}, numpy {np.__version__}, C-Blosc2 {blosc2.blosclib_version}")
        return
    for line in sys.stdin:
        command = json.loads(line)
        try:
            reply = {"see": see, "change": change}[command["op"]](command)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


main()
