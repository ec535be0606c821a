"""Writes crates/b2nd/tests/fixtures/reduce.txt: arrays by python-blosc2, and what NumPy makes of them.

    python scripts/fixtures_reduce.py        (blosc2 4.14, numpy 2)

Lines `A dtype chunks blocks frame-in-hex`, each followed by lines `R op axes keep ddof dtype shape numpy-in-hex nearest-in-hex`.
`nearest` is the float nearest to the exact result, worked out with fractions; `=` where that is NumPy's own, or there is none.
"""

import warnings
from decimal import Decimal, getcontext
from fractions import Fraction
from pathlib import Path

import blosc2
import numpy as np

warnings.simplefilter("ignore")
getcontext().prec = 400
SHAPE, AXES = (4, 5, 3), [None, 0, 1, -1, (0, 2), (-1, -2)]
OPS = ["sum", "mean", "prod", "min", "max", "var", "std", "any", "all", "count_nan"]
DTYPES = "|b1 |i1 |u1 <i2 >u2 <i4 >i4 <u4 <i8 >u8 <f2 >f2 <f4 >f4 <f8 >f8 <c8 >c16 <M8[s] >M8[D] <m8[ms]".split()


def items(rng, dtype, content):
    n, kind = int(np.prod(SHAPE)), dtype.kind
    if kind == "b":
        data = rng.integers(0, 2, n)
    elif kind in "iumM":
        bits = dtype.itemsize * 8
        low, high = (0, 2**bits) if kind == "u" else (-(2 ** (bits - 1)) + 1, 2 ** (bits - 1))
        data = rng.integers(low, high, n, dtype="u8" if kind == "u" else "i8")
        if kind in "mM":
            data = data >> 20
    else:
        size = dtype.itemsize // (2 if kind == "c" else 1)
        span = {2: 6, 4: 30, 8: 40}[size]
        real = lambda: rng.standard_normal(n) * (2.0 ** rng.integers(-span, span, n) if content == "hard" else 1.0)
        data = real() + 1j * real() if kind == "c" else real()
        if content == "hard":
            half = n // 2
            data[half : 2 * half] = -data[:half][::-1] * (1 + 2.0**-9)
        elif size > 2:
            data += 1e4
    data = data.astype("i8" if kind in "mM" else dtype.newbyteorder("=")).reshape(SHAPE)
    if kind in "mM":
        data = data.view(dtype.newbyteorder("="))
    if content == "holes":
        data[:2] = 0
        if kind in "fc":
            data[3, 2, 1], data[3, 4, 2] = np.nan, np.inf
        elif kind in "mM":
            data[3, 2, 1] = "NaT"
    return data.astype(dtype)


def root(number):
    return Fraction((Decimal(number.numerator) / Decimal(number.denominator)).sqrt())


def nearest(number, dtype):
    """The float of `dtype` nearest to a fraction; ties cannot be told from neighbours by chance."""
    around = [dtype.type(float(number))]
    around += [np.nextafter(around[0], dtype.type(side)) for side in (-np.inf, np.inf)]
    finite = [x for x in around if np.isfinite(x)] or [around[0]]
    return min(finite, key=lambda x: (abs(Fraction(float(x)) - number), x.view(f"u{dtype.itemsize}") & 1))


def exact(op, group, ddof, dtype):
    parts = [(Fraction(int(x)), Fraction(0)) if group.dtype.kind in "biu" else (Fraction(float(x.real)), Fraction(float(x.imag))) for x in group]
    n = len(parts)
    re, im = sum(p[0] for p in parts), sum(p[1] for p in parts)
    if op in ("var", "std"):
        squares = sum((p[0] - re / n) ** 2 + (p[1] - im / n) ** 2 for p in parts) / (n - ddof)
        re, im = (squares if op == "var" else root(squares)), Fraction(0)
    elif op == "mean":
        re, im = re / n, im / n
    part = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    low = nearest(re, part)
    return low + 1j * nearest(im, part) if dtype.kind == "c" else low


def reduce(data, op, axis, keep, ddof):
    native = data.astype(data.dtype.newbyteorder("="))
    with np.errstate(all="ignore"):
        if op == "count_nan":
            result = (np.isnan(native) if native.dtype.kind in "fcmM" else np.zeros(SHAPE, bool)).sum(axis=axis, keepdims=keep)
        else:
            extra = {"ddof": ddof} if op in ("var", "std") else {}
            result = getattr(native, op)(axis=axis, keepdims=keep, **extra)
    result = np.asarray(result)
    best = result.copy()
    if result.dtype.kind in "fc" and op in ("sum", "mean", "var", "std"):
        reduced = range(3) if axis is None else {a % 3 for a in np.atleast_1d(axis)}
        kept = [a for a in range(3) if a not in reduced]
        rows = native.transpose(kept + sorted(reduced)).reshape(result.size, -1)
        for at, row in enumerate(rows):
            if np.isfinite(row).all():
                best.reshape(-1)[at] = exact(op, row, ddof, result.dtype)
    return result, best


def main():
    lines = []
    for number, text in enumerate(DTYPES):
        dtype = np.dtype(text)
        contents = ["plain", "holes"] + (["hard"] if dtype.kind in "fc" else [])
        for content in contents:
            rng = np.random.default_rng([7, number, len(lines)])
            data = items(rng, dtype, content)
            array = blosc2.asarray(data, chunks=(2, 4, 2), blocks=(2, 3, 1), cparams={"codec": blosc2.Codec.LZ4})
            lines.append(f"A {text} {array.to_cframe().hex()}")
            for op in OPS:
                axes = AXES if op in ("sum", "std", "max") else AXES[1::2] + [None]
                for n, axis in enumerate(axes):
                    keep, ddof = n % 3 == 1, n % 2
                    try:
                        result, best = reduce(data, op, axis, keep, ddof)
                    except TypeError:
                        continue
                    named = "all" if axis is None else ",".join(str(a) for a in np.atleast_1d(axis))
                    near = "=" if best.tobytes() == result.tobytes() else best.tobytes().hex()
                    shape = ",".join(map(str, result.shape)) or "-"
                    lines.append(f"R {op} {named} {int(keep)} {ddof} {result.dtype.str} {shape} {result.tobytes().hex()} {near}")
    path = Path(__file__).parent.parent / "crates/b2nd/tests/fixtures/reduce.txt"
    path.write_text("\n".join(lines) + "\n")
    print(len(lines), path.stat().st_size)


main()
