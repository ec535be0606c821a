"""Changes of shape by C-Blosc2 itself: python-blosc2 has no append, insert and delete for arrays of more than one dimension."""

import ctypes
import hashlib
from pathlib import Path

import blosc2

LIBRARY = next((Path(blosc2.__file__).parent / "lib").glob("libblosc2.so*"))


def library():
    lib = ctypes.CDLL(str(LIBRARY))
    lib.blosc2_init()
    return lib


C = library()


def longs(values):
    return (ctypes.c_int64 * len(values))(*values) if values is not None else None


def change(command):
    """One change of the array at a path, by the library."""
    array = ctypes.c_void_p()
    if C.b2nd_open(command["path"].encode(), ctypes.byref(array)) != 0:
        raise OSError("b2nd_open")
    items = bytes.fromhex(command.get("items", ""))
    axis, size = ctypes.c_int8(command.get("axis", 0)), ctypes.c_int64(len(items))
    start = ctypes.c_int64(command.get("index", 0))
    kind = command["kind"]
    if kind == "resize":
        code = C.b2nd_resize(array, longs(command["shape"]), longs(command["starts"]))
    elif kind == "append":
        code = C.b2nd_append(array, items, size, axis)
    elif kind == "insert":
        code = C.b2nd_insert(array, items, size, axis, start)
    else:
        code = C.b2nd_delete(array, axis, start, ctypes.c_int64(command["count"]))
    if C.b2nd_free(array) != 0 or code != 0:
        raise OSError(f"b2nd_{kind}: {code}")
    return {}


def look(command):
    """The shape and the items that python-blosc2 sees."""
    array = blosc2.open(command["path"], mode="r")
    return {"shape": list(array.shape), "sha256": hashlib.sha256(array[...].tobytes()).hexdigest()}
