"""Writes cases of NumPy's print: one a line, of dtype text, shape, the shown items in hex, and the text.

Backslashes, tabs and line breaks in the text are escaped. Of large arrays only the shown items are written.
Usage: python fixtures_print.py FILE [CASES [SEED [BYTES]]]   (BYTES bounds the file)
The committed file: python fixtures_print.py crates/cli/tests/fixtures/print.tsv 900 1 380000
"""
import ast
import sys

import numpy as np

path, cases, seed, most = sys.argv[1], *map(int, (sys.argv[2:] + ["3000", "1", "1000000000"][len(sys.argv) - 2:])[:3])
rng = np.random.default_rng(seed)

INTS = [o + c for o in "<>" for c in ("i2", "i4", "i8", "u2", "u4", "u8")] + ["|i1", "|u1"]
FLOATS = [o + c for o in "<>" for c in ("f2", "f4", "f8")]
COMPLEX = ["<c8", ">c8", "<c16", ">c16"]
UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]


def shape():
    pick = rng.integers(12)
    if pick == 0:
        return ()
    if pick <= 3:
        return (int(rng.choice([1, 2, 3, 5, 9, 20, 60])),)
    if pick == 4:
        return (int(rng.choice([999, 1000, 1001, 1500, 5000])),)
    if pick <= 7:
        return tuple(int(n) for n in rng.integers(1, 9, 2))
    if pick == 8:
        return [(1001, 1), (1, 1001), (40, 30), (7, 200), (6, 200), (200, 6), (500, 3), (34, 35), (3, 400)][rng.integers(9)]
    if pick == 9:
        return tuple(int(n) for n in rng.integers(1, 5, rng.integers(3, 6)))
    if pick == 10:
        return [(11, 10, 10), (2, 3, 200), (200, 3, 2), (7, 7, 7, 7), (2, 2, 2, 2, 80), (1, 1, 1, 1, 1, 1, 2000)][rng.integers(6)]
    return [(0,), (3, 0), (0, 3), (2, 0, 2000), (1, 1, 1), (1, 1)][rng.integers(6)]


def integers(dt, n):
    info = np.iinfo(dt)
    pick = rng.integers(4)
    if pick == 0:
        return rng.integers(info.min, info.max, n, dtype=dt.newbyteorder("="), endpoint=True)
    if pick == 1:
        return rng.integers(max(info.min, -12), 12, n)
    if pick == 2:
        return rng.integers(0, 100, n)
    bits = rng.integers(0, 8 * dt.itemsize, n)
    return (rng.integers(info.min, info.max, n, dtype=dt.newbyteorder("="), endpoint=True) >> bits.astype(dt.newbyteorder("=")))


def floats(dt, n):
    info = np.finfo(dt)
    pick = rng.integers(16)
    if pick == 0:
        raw = rng.integers(0, 256, n * dt.itemsize, dtype="u1").tobytes()
        x = np.frombuffer(raw, dt.newbyteorder("=")).copy()
    elif pick == 1:
        x = rng.normal(size=n)
    elif pick == 2:
        x = np.round(rng.normal(size=n) * 10, rng.integers(0, 4))
    elif pick == 3:
        x = rng.integers(-50, 50, n).astype("f8")
    elif pick == 4:
        x = 10.0 ** rng.uniform(-4.1, 0, n)
    elif pick == 5:
        x = 10.0 ** rng.uniform(-1.6, 1.6, n) * rng.choice([-1, 1], n)
    elif pick == 6:
        x = rng.integers(0, 10, n) * 10.0 ** rng.integers(-6, 9, n)
    elif pick == 7:
        x = rng.integers(1, 20, n) * float(info.smallest_subnormal)
    elif pick == 8:
        x = 2.0 ** rng.integers(info.minexp - 3, info.maxexp, n)
    elif pick == 9:
        x = 1000 * rng.choice([1, 1.0001, 0.9999, 1.00025, 1.00026, 1.0005], n)
        x[: n // 2] = 1
    elif pick == 10:
        x = rng.choice([0.0, -0.0, 1.0, 0.5], n)
    elif pick == 11:
        x = rng.choice([1e-4, 1e-5, 0.00011, 9.99e-5, 1e3, 999.5, 1e6, 999999.5, 1e8, 99999999.5, 1e15, 1e16], n)
        x[n // 3:] = x[:1]
    elif pick == 12:
        x = rng.integers(1, 10**6, n) + rng.choice([0.5, 0.25, 0.125, 0.123456785, 5e-9, 1.5e-8], n)
    elif pick == 13:
        x = np.linspace(rng.uniform(-2, 0), rng.uniform(1, 3), n)
    elif pick == 14:
        x = (rng.integers(0, 2**rng.integers(1, 30), n) / 2 ** rng.integers(0, 30)) % 60000
    else:
        x = np.nextafter(10.0 ** rng.integers(-4, 4), rng.choice([-np.inf, np.inf]), dtype=dt.newbyteorder("=")) * np.ones(n)
    with np.errstate(all="ignore"):
        x = x.astype(dt)
    if n and rng.integers(4) == 0:
        for _ in range(rng.integers(1, 4)):
            x[rng.integers(n)] = rng.choice([np.nan, np.inf, -np.inf, -0.0])
    if n and rng.integers(40) == 0:
        x[:] = rng.choice([np.nan, np.inf, -np.inf], n)
    return x


CHARS = list("abcXYZ 0'\"\\\n\t\r\0\x01\x7f~é\xa0\xad日\u200b\U0001f600\u0378\U00010000\u2028") + ["\ud800"]


def strings(dt, n):
    size = dt.itemsize // (4 if dt.kind == "U" else 1)
    tame = rng.integers(2)
    out = []
    for _ in range(n):
        length = rng.integers(0, size + 1)
        if dt.kind == "U":
            out.append("".join(rng.choice(CHARS[:7] if tame else CHARS, length)))
        else:
            out.append(bytes(rng.choice([97, 98, 32, 48] if tame else [*range(256), 34, 34, 39, 39], length).astype("u1")))
    return np.array(out, dtype=dt)


def times(dt, n):
    unit, count = np.datetime_data(dt)
    near = {"Y": 100, "M": 2000, "W": 5000, "D": 40000}.get(unit, 10**12)
    pick = rng.integers(4)
    if pick == 0:
        x = rng.integers(-near, near, n)
    elif pick == 1:
        x = rng.integers(0, 2, n) + rng.integers(0, near)
    elif pick == 2:
        x = rng.integers(-(2**62) // max(count, 400), 2**62 // max(count, 400), n)
    else:
        x = rng.integers(-near * 100, near * 100, n) >> rng.integers(0, 40, n)
    x = x.astype("i8").astype(dt.newbyteorder("=").str.replace("M", "m").replace("m8", "i8").split("[")[0])
    x = x.view(dt.newbyteorder("=")).astype(dt)
    if n and rng.integers(3) == 0:
        x[rng.integers(n)] = "NaT"
    if rng.integers(20) == 0:
        x[:] = "NaT"
    return x


def plain():
    pick = rng.integers(13)
    if pick <= 1:
        return rng.choice(INTS)
    if pick <= 5:
        return rng.choice(FLOATS)
    if pick == 6:
        return rng.choice(COMPLEX)
    if pick == 7:
        return "|b1"
    if pick == 8:
        return f"|S{rng.choice([0, 1, 3, 8, 20])}"
    if pick == 9:
        return f"{rng.choice(['<', '>'])}U{rng.choice([0, 1, 3, 8, 20])}"
    if pick == 10:
        return f"|V{rng.choice([0, 1, 3, 16])}"
    count = rng.choice(["", "2", "25"])
    order = rng.choice(["<", ">"])
    if pick == 11:
        return f"{order}M8[{count}{rng.choice(UNITS)}]"
    return f"{order}m8[{count}{rng.choice(UNITS)}]" if rng.integers(5) else "<m8"


def structure(depth=0):
    fields = []
    for n in range(rng.integers(0 if rng.integers(9) == 0 else 1, 5)):
        t = structure(depth + 1) if depth < 2 and rng.integers(6) == 0 else plain()
        sub = [(), (), (), (2,), (1,), (2, 3), (0,), (2, 0), (1001,), (20, 60)][rng.integers(10 if rng.integers(4) == 0 else 6)]
        fields.append((f"f{n}", t, sub) if sub else (f"f{n}", t))
    if rng.integers(5) == 0 and depth == 0:
        return np.dtype(fields, align=True)
    return np.dtype(fields) if rng.integers(2) else fields


def values(dt, n):
    if dt.subdtype:
        base, sub = dt.subdtype
        return values(base, n * int(np.prod(sub))).reshape((n,) + sub)
    if dt.names is not None:
        x = np.zeros(n, dt)
        for name in dt.names:
            x[name] = values(dt[name], n)
        return x
    if dt.kind in "iu":
        return integers(dt, n).astype(dt)
    if dt.kind == "f":
        return floats(dt, n)
    if dt.kind == "c":
        half = np.dtype(f"{'>' if dt.byteorder == '>' else '<'}f{dt.itemsize // 2}")
        x = np.zeros(n, dt)
        x.real, x.imag = floats(half, n), floats(half, n)
        return x
    if dt.kind == "b":
        return rng.integers(0, 2, n).astype(dt)
    if dt.kind in "SU":
        return strings(dt, n)
    if dt.kind == "V":
        return np.frombuffer(rng.integers(0, 256, n * max(dt.itemsize, 1), dtype="u1").tobytes(), f"V{max(dt.itemsize, 1)}").astype(dt)
    return times(dt, n)


def edges(a):
    if a.size <= 1000:
        return a
    for axis, n in enumerate(a.shape):
        if n > 6:
            a = np.take(a, [0, 1, 2, n - 3, n - 2, n - 1], axis)
    return a


def round_trips(text, dt):
    """Inner aligned structures do not come back from their own text."""
    try:
        return np.dtype(ast.literal_eval(text) if text[0] in "[{" else text) == dt
    except ValueError:
        return False


done = bytes_out = 0
with open(path, "w") as out:
    while done < cases and bytes_out < most:
        try:
            dt = np.dtype(structure() if rng.integers(6) == 0 else plain())
        except ValueError:  # a sub-array of items of no bytes
            continue
        dims = shape()
        if dt.names is not None and dt.itemsize > 1000 and len(dims):
            dims = (2,)
        a = values(dt, int(np.prod(dims))).reshape(dims)
        try:
            text = str(a)
        except Exception as e:  # what NumPy cannot print is no case
            print(dt, dims, type(e).__name__, e, file=sys.stderr)
            continue
        for char, escape in ("\\", "\\\\"), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r"):
            text = text.replace(char, escape)
        try:
            text.encode()
        except UnicodeEncodeError:  # a lone surrogate, printed alone
            continue
        stored = str(a.dtype) if a.dtype.kind == "V" else a.dtype.str
        if not round_trips(stored, a.dtype):
            continue
        row = "\t".join([stored, ",".join(map(str, dims)), edges(a).tobytes().hex(), text]) + "\n"
        if most < 10**9 and len(row) > most // 60:  # many small cases say more than a few large ones
            continue
        assert row.count("\t") == 3 and row.count("\n") == 1
        out.write(row)
        done += 1
        bytes_out += len(row.encode())
print(done, "cases", bytes_out, "bytes", file=sys.stderr)
