"""Writes crates/b2nd/tests/fixtures/astype.txt: what NumPy makes of numbers of every dtype in every other.

One block for each source dtype: a line with the dtype and the bytes of its items, then a line for each target.
Floats that have no place in `u4` are left out there: NumPy itself gives one thing for an array and another for a scalar.
"""

import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
INTS = ["|i1", "<i2", ">i4", "<i8", "|u1", ">u2", "<u4", "<u8"]
FLOATS = ["<f2", "<f4", ">f8"]
ALL = ["|b1"] + INTS + FLOATS + ["<c8", ">c16"]
TIMES = ["<M8[s]", ">M8[s]", "<m8[25us]"]

REALS = [0.0, -0.0, 1.0, -1.0, 0.1, 1.5, -2.5, 300.7, -300.7, 65519.0, 65520.0, 2049.0, 6e-8, 1e-40, 3.4028236e38, 2147483647.5,
         -2147483648.5, 4294967295.0, 1e10, -1e10, 2.0**63, -(2.0**63), 1e19, 1e300, np.nan, np.inf, -np.inf, 1.00048828125000011]


def source(dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([0, 1], "u1").view("?")
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = [0, 1, 2, 100, 127, 128, 255, 256, 2049, 65504, 65519, 65520, 16777217, 2**31 - 1, 2**31, 2**53 + 1,
                  2**62 + 2**38 + 1, 2**63 - 1, 2**63, 2**64 - 1]
        values += [-v for v in values]
        return np.array([v for v in values if info.min <= v <= info.max], dtype)
    reals = np.array(REALS)
    if dtype.kind == "c":
        return (reals + 0j).astype(dtype) + np.array(reals[::-1] * 1j).astype(dtype)
    return reals.astype(dtype)


def fits_u4(a):
    real = a.real.astype("f8")
    return (real > -1) & (real < 2.0**32) if a.dtype.kind in "fc" else np.ones(a.shape, bool)


def main(path):
    with open(path, "w") as out:
        for one in ALL:
            for part in [False, True]:
                a = source(one)
                fits = fits_u4(a)
                if part and (a.dtype.kind not in "fc" or not fits.any()):
                    continue
                a = a[fits] if part else a
                a = np.ascontiguousarray(a).astype(one)
                print(one, a.tobytes().hex(), file=out)
                for other in ALL:
                    if (other == "<u4") == part or a.dtype.kind not in "fc":
                        print(" ", other, a.astype(other, casting="unsafe").tobytes().hex(), file=out)
        for one, others in [("<M8[s]", [">M8[s]", ">i8", "<i4"]), ("<i4", TIMES), ("|b1", TIMES), (">m8[25us]", ["<u8", "<m8[25us]"])]:
            a = source("<i8").view(one) if one[1] in "mM" else source(one)
            print(one, a.tobytes().hex(), file=out)
            for other in others:
                print(" ", other, a.astype(other, casting="unsafe").tobytes().hex(), file=out)
        for one, others in [("|S3", ["|S5", "|S2"]), ("<U2", [">U3", "<U1"]), ("|V3", ["|V2"])]:
            a = np.array([b"abc", b"d", b""], one) if one[1] != "U" else np.array(["ab", "c", ""], one)
            print(one, a.tobytes().hex(), file=out)
            for other in others:
                print(" ", other, a.astype(other, casting="unsafe").tobytes().hex(), file=out)


if __name__ == "__main__":
    main(sys.argv[1])
