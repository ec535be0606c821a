"""Makes the files of crates/b2nd/tests/fixtures/objects: what python-blosc2 stores as an array that has no data of its own.

    .venv/bin/python scripts/fixtures_objects.py

A lazy expression or function is an array without data whose metalayer `b2o` says what it is. Releases before that named the
metalayer `LazyArray`; that file is made by hand, of the same parts. Fixtures are kept for ever: run this only to add some.
"""

import os
import shutil
from pathlib import Path

import blosc2
import numpy as np

HERE = Path(__file__).resolve().parent.parent / "crates/b2nd/tests/fixtures/objects"


@blosc2.dsl_kernel
def double_sum(a, b):
    return 2 * (a + b)


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir(parents=True)
    os.chdir(HERE)
    storage = {"chunks": (4, 3), "blocks": (2, 3), "cparams": {"nthreads": 1}}
    a = blosc2.asarray(np.arange(35, dtype="<f8").reshape(7, 5), urlpath="operand.b2nd", mode="w", **storage)
    (a * 2 + 1).save("lazyexpr.b2nd")
    (a + 3).save("lazyexpr-sparse.b2nd", contiguous=False)
    blosc2.lazyudf(double_sum, (a, a), dtype=a.dtype, shape=a.shape).save("lazyudf.b2nd")
    old = blosc2.empty(a.shape, a.dtype, urlpath="lazyarray-old.b2nd", mode="w", meta={"LazyArray": 0}, **storage)
    old.schunk.vlmeta["_LazyArray"] = {"expression": "(o0 * 2)", "UDF": None, "operands": {"o0": "operand.b2nd"}}
    Path("operand.b2nd").unlink()


main()
