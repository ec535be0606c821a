"""The other side of the random sequences: NumPy as the truth, python-blosc2 and C-Blosc2 as the second writer.

Reads one JSON command a line and answers with one. A command names a step, who does it on the file (`ours` did it
already, `theirs` is done here) and the path. The step is always done to a NumPy array too; the file is then opened and
compared with that array, whoever wrote it.
"""

import ast
import ctypes
import hashlib
import json
import os
import sys

import blosc2
import numpy as np

LIBRARY = ctypes.CDLL(os.path.join(os.path.dirname(blosc2.__file__), "lib", "libblosc2.so"))
LIBRARY.blosc2_init()
POINTER, AXIS, LENGTH, BYTES = ctypes.c_void_p, ctypes.c_int8, ctypes.c_int64, ctypes.c_char_p
LIBRARY.b2nd_append.argtypes = [POINTER, BYTES, LENGTH, AXIS]
LIBRARY.b2nd_insert.argtypes = [POINTER, BYTES, LENGTH, AXIS, LENGTH]
LIBRARY.b2nd_delete.argtypes = [POINTER, AXIS, LENGTH, LENGTH]
LIBRARY.b2nd_free.argtypes = [POINTER]


def items_of(step, dtype):
    return np.frombuffer(bytes.fromhex(step["items"]), dtype=dtype)


def key_of(step):
    """The index that NumPy and python-blosc2 take."""
    if "slices" in step:
        return tuple(slice(*part) for part in step["slices"])
    if "lists" in step:
        return np.ix_(*[np.array(part, dtype=np.int64) for part in step["lists"]])
    if "points" in step:
        return tuple(np.array(part, dtype=np.int64) for part in step["points"])
    raise ValueError(f"no key in {step['name']}")


def orthogonal(step, shape):
    """The lists as python-blosc2 reads them right: it does not count negative ones from the end."""
    return tuple(np.array(part, dtype=np.int64) % n for part, n in zip(step["lists"], shape))


def mask_of(step, shape):
    return np.array(step["mask"], dtype=bool).reshape(shape)


def slab(step, model):
    shape = list(model.shape)
    shape[step["axis"]] = step["count"]
    return items_of(step, model.dtype).reshape(shape)


def create(step):
    text = step["dtype"]
    shape, dtype = tuple(step["shape"]), np.dtype(ast.literal_eval(text) if text.startswith("[") else text)
    return items_of(step, dtype).reshape(shape).copy()


def write(step, model):
    key = key_of(step)
    model[key] = items_of(step, model.dtype).reshape(model[key].shape)
    return model


def resize(step, model):
    new = np.zeros(step["shape"], dtype=model.dtype)
    common = tuple(slice(0, min(a, b)) for a, b in zip(model.shape, new.shape))
    new[common] = model[common]
    return new


def insert(step, model):
    axis, at = step["axis"], step["at"]
    before, after = np.split(model, [at], axis=axis)
    return np.concatenate([before, slab(step, model), after], axis=axis)


def delete(step, model):
    taken = slice(step["at"], step["at"] + step["count"])
    return np.delete(model, taken, axis=step["axis"])


def append(step, model):
    return np.concatenate([model, slab(step, model)], axis=step["axis"])


# What changes an array in NumPy.
CHANGES = {
    "write": write,
    "orthogonal_write": write,
    "scatter": write,
    "resize": resize,
    "append": append,
    "insert": insert,
    "delete": delete,
}


def read(step, array):
    """What a reading step gives, of a NumPy array or of a blosc2 array."""
    if step["name"] == "mask_read":
        return array[mask_of(step, array.shape)]
    if step["name"] == "orthogonal_read" and not isinstance(array, np.ndarray):
        return array.oindex[orthogonal(step, array.shape)]
    return array[key_of(step)]


def with_c_array(path, work):
    """Calls a function of C-Blosc2 that Python does not have."""
    array = POINTER()
    code = LIBRARY.b2nd_open(os.fsencode(path), ctypes.byref(array))
    if code < 0:
        raise RuntimeError(f"b2nd_open: {code}")
    code = work(array)
    LIBRARY.b2nd_free(array)
    if code < 0:
        raise RuntimeError(f"C-Blosc2: {code}")


def create_theirs(step, path, model):
    cparams = blosc2.CParams(
        codec=blosc2.Codec[step["codec"]],
        clevel=step["clevel"],
        typesize=model.dtype.itemsize,
        filters=[blosc2.Filter(f) for f in step["filters"]],
        filters_meta=[0] * 6,
        nthreads=1,
    )
    options = {"urlpath": path, "contiguous": not step["sparse"], "cparams": cparams}
    blosc2.asarray(model, chunks=step["chunks"], blocks=step["blocks"], **options)


def change_theirs(step, path, model):
    """Does a step with python-blosc2 or C-Blosc2; `model` is as before it."""
    name = step["name"]
    if name == "append":
        data = bytes.fromhex(step["items"])
        with_c_array(path, lambda a: LIBRARY.b2nd_append(a, data, len(data), step["axis"]))
    elif name == "insert":
        data = bytes.fromhex(step["items"])
        with_c_array(path, lambda a: LIBRARY.b2nd_insert(a, data, len(data), step["axis"], step["at"]))
    elif name == "delete":
        with_c_array(path, lambda a: LIBRARY.b2nd_delete(a, step["axis"], step["at"], step["count"]))
    elif name == "resize":
        blosc2.open(path, mode="a").resize(tuple(step["shape"]))
    else:
        key = key_of(step)
        array, items = blosc2.open(path, mode="a"), items_of(step, model.dtype).reshape(model[key].shape)
        if name == "orthogonal_write":
            array.oindex[orthogonal(step, array.shape)] = items
        else:
            array[key] = items


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


class Sequence:
    def __init__(self):
        self.model = None

    def run(self, command):
        step, path, theirs = command["step"], command["path"], command["by"] == "theirs"
        if step["name"] == "create":
            self.model = create(step)
            if theirs:
                create_theirs(step, path, self.model)
        elif step["name"] in CHANGES:
            if theirs:
                change_theirs(step, path, self.model)
            # Joining turns some dtypes into native ones.
            self.model = CHANGES[step["name"]](step, self.model).astype(self.model.dtype)
        else:
            return self.compare(read(step, self.model), read(step, blosc2.open(path, mode="r")))
        return self.compare(self.model, blosc2.open(path, mode="r")[...])

    @staticmethod
    def compare(wanted, found):
        wanted, found = np.asarray(wanted), np.asarray(found)
        same = wanted.shape == found.shape and wanted.tobytes() == found.tobytes()
        answer = {"shape": list(wanted.shape), "sha256": digest(wanted), "same": same}
        if not same:
            answer["found"] = found.tobytes().hex()[:400]
            answer["wanted"] = wanted.tobytes().hex()[:400]
        return answer


def main():
    if sys.argv[1:] == ["versions"]:
        print(f"blosc2 {blosc2.__version__}, numpy {np.__version__}, C-Blosc2 {blosc2.blosclib_version}")
        return
    sequence = Sequence()
    for line in sys.stdin:
        try:
            answer = sequence.run(json.loads(line))
        except Exception as error:  # whatever it is, it belongs to this command
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
