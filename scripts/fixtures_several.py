"""Makes crates/b2nd/tests/fixtures/several: files of several frames, appended by C-Blosc2, and MANIFEST.tsv beside them.

Run it with a Python that has blosc2 (its wheel's libblosc2.so is called through ctypes) and numpy; the fixtures are
committed and only ever added to. Each line of the manifest: file, offset, shape of the array (- for a plain frame), sha256 of
the decoded bytes, the attribute `note`.
"""

import ctypes
import hashlib
import pathlib
import sys

import blosc2
import numpy as np

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "crates/b2nd/tests/fixtures/several")


def library():
    lib = ctypes.CDLL(str(sorted(pathlib.Path(blosc2.__file__).parent.rglob("libblosc2.so*"))[0]))
    # A copy of its own beside the one inside the extension module.
    lib.blosc2_init()
    for name in ["b2nd_save_append", "blosc2_schunk_append_file"]:
        getattr(lib, name).restype = ctypes.c_int64
        getattr(lib, name).argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    return lib


def main():
    lib = library()
    ROOT.mkdir(parents=True, exist_ok=True)
    lines = []
    for name, before in [("several.b2nd", b""), ("behind.bin", b"These bytes are no frame: b2frame.\n" * 3)]:
        path = ROOT / name
        path.write_bytes(before)
        for seed, shape in enumerate([(5, 7), None, (0, 3), (40, 30)]):
            data = (np.arange(int(np.prod(shape or 500)), dtype="<i4") * (2 * seed + 1) // 3).reshape(shape or 500)
            if shape is None:
                made = blosc2.SChunk(chunksize=400, data=data, cparams={"typesize": 4, "nthreads": 1})
                made.vlmeta["note"] = seed
                offset = lib.blosc2_schunk_append_file(made.c_schunk, str(path).encode())
            else:
                blocks = tuple(max(1, n // 2) for n in shape)
                made = blosc2.asarray(data, chunks=tuple(max(1, n) for n in shape), blocks=blocks, cparams={"nthreads": 1})
                made.schunk.vlmeta["note"] = seed
                offset = lib.b2nd_save_append(made.c_array, str(path).encode())
            assert offset >= 0, offset
            shown = "x".join(map(str, shape)) if shape else "-"
            lines.append(f"{name}\t{offset}\t{shown}\t{hashlib.sha256(data.tobytes()).hexdigest()}\t{seed}")
    (ROOT / "MANIFEST.tsv").write_text("\n".join(lines) + "\n")


main()
