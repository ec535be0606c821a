"""python-blosc2's half of tests/all/places.rs: frames behind frames in one file. `versions`, and `serve`: a command a line, as JSON."""

import ctypes
import hashlib
import json
import pathlib
import sys

import blosc2
import numpy as np


def library():
    folder = pathlib.Path(blosc2.__file__).parent
    found = sorted(folder.rglob("libblosc2.so*")) or sorted(folder.rglob("libblosc2*.dylib"))
    lib = ctypes.CDLL(str(found[0]))
    # A copy of its own beside the one inside the extension module.
    lib.blosc2_init()
    for name in ["b2nd_save_append", "blosc2_schunk_append_file"]:
        call = getattr(lib, name)
        call.restype, call.argtypes = ctypes.c_int64, [ctypes.c_void_p, ctypes.c_char_p]
    return lib


def items(seed, shape):
    return (np.arange(int(np.prod(shape)), dtype="<i4") * (2 * seed + 1) // 3).reshape(shape)


def digest(what):
    data = what[:] if isinstance(what, blosc2.NDArray) else what[:]
    return hashlib.sha256(bytes(data)).hexdigest()


def see(what):
    schunk = what.schunk if isinstance(what, blosc2.NDArray) else what
    shape = list(what.shape) if isinstance(what, blosc2.NDArray) else None
    # The checksums that b2nd keeps are not the user's.
    notes = {name: schunk.vlmeta[name] for name in schunk.vlmeta if name != "b2nd.digests"}
    return {"shape": shape, "sha256": digest(what), "notes": notes, "nchunks": schunk.nchunks}


def make(command):
    data = items(command["seed"], command["shape"])
    if command["kind"] == "array":
        made = blosc2.asarray(data, chunks=command["chunks"], blocks=command["blocks"])
        made.schunk.vlmeta["note"] = command["seed"]
    else:
        made = blosc2.SChunk(chunksize=400, data=data, cparams={"typesize": 4})
        made.vlmeta["note"] = command["seed"]
    return made


def append(command, lib):
    made = make(command)
    path = command["path"].encode()
    if command["kind"] == "array":
        offset = lib.b2nd_save_append(made.c_array, path)
    else:
        offset = lib.blosc2_schunk_append_file(made.c_schunk, path)
    return {"offset": offset, "sha256": digest(made)}


def write(command):
    found = blosc2.open(command["path"], mode="a", offset=command["offset"])
    data = items(command["seed"], found.shape)
    found[...] = data
    found.schunk.vlmeta["note"] = command["seed"]
    return see(found)


def answer(command, lib):
    match command["op"]:
        case "append":
            return append(command, lib)
        case "open":
            return see(blosc2.open(command["path"], mode="r", offset=command["offset"]))
        case "write":
            return write(command)
        case "save":
            made = make(command)
            made.save(command["path"], contiguous=command["contiguous"])
            return see(made)


def main():
    if sys.argv[1] == "versions":
        print(f"blosc2 {blosc2.__version__}, numpy {np.__version__}, C-Blosc2 {blosc2.blosclib_version}")
        return
    lib = library()
    for line in sys.stdin:
        command = json.loads(line)
        try:
            reply = answer(command, lib)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


main()
