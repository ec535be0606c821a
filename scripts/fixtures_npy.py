"""Writes crates/b2nd/tests/fixtures/npy.tsv: headers of .npy files as NumPy writes them.

Columns: dtype as python-blosc2 stores it, shape, C or F, the whole header in hex.
Usage: python fixtures_npy.py > crates/b2nd/tests/fixtures/npy.tsv
"""
import ast
import io
import itertools
import pathlib
import warnings

import numpy as np
from numpy.lib import _format_impl

warnings.simplefilter("ignore")
fixture = pathlib.Path(__file__).parent.parent / "crates/b2nd/tests/fixtures/dtype.tsv"
shapes = [(), (0,), (1,), (7,), (1000,), (3, 4), (3, 0), (10**9, 2), (2**62,), (1, 1, 1, 1, 1, 1, 1, 1),
          (12, 345, 6789), (10**15, 10**15, 10**18), tuple(range(1, 17)), tuple(10**n for n in range(16))]


def header(dt, shape, fortran):
    d = {"descr": np.lib.format.dtype_to_descr(dt), "fortran_order": fortran, "shape": shape}
    out = io.BytesIO()
    _format_impl._write_array_header(out, d)
    return out.getvalue()


def row(dt, shape, fortran):
    stored = str(dt) if dt.kind == "V" else dt.str
    print(stored, ",".join(map(str, shape)), "F" if fortran else "C", header(dt, shape, fortran).hex(), sep="\t")


# The helper above is what numpy.save does.
for a in np.zeros((3, 4), "<f4"), np.zeros((3, 4), ">i2", order="F"), np.zeros((), "S3"), np.zeros(5, [("a", "i1")]):
    saved = io.BytesIO()
    np.save(saved, a)
    made = header(a.dtype, a.shape, a.flags.fnc)
    assert saved.getvalue().startswith(made) and len(saved.getvalue()) == len(made) + a.nbytes

for shape, fortran in itertools.product(shapes, [False, True]):
    row(np.dtype("<f8"), shape, fortran)
# Every length of padding, and names beyond ASCII and beyond Latin-1.
for n in range(70):
    row(np.dtype([("x" * (n + 1), "<i4")]), (5,), False)
for name in "é", "日", "\xa0", "\U0001f600", "it's", "tab\t":
    row(np.dtype([(name, "<i4")]), (5,), False)
seen = set()
for line in fixture.read_text().splitlines():
    stored, descr = line.split("\t")[5:7]
    if stored == "-" or descr == "-" or stored in seen:
        continue
    seen.add(stored)
    dt = np.dtype(ast.literal_eval(stored) if stored[0] in "[{" else stored)
    row(dt, (3, 4), False)
