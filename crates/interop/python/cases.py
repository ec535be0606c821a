"""Cases of the matrix: what an array holds, how it is stored, and which parts of it are read.

Uses numpy only and knows nothing of Blosc2: the expected bytes must not come from the library under test.
"""

import numpy as np

CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
FILTERS = ["none", "shuffle", "bitshuffle", "delta", "delta+shuffle", "combined"]
CONTENTS = ["random", "walk", "constant", "zeros", "nan", "runs"]
KINDS = {
    "bool": ["|b1"],
    "int": ["|i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8"],
    "uint": ["|u1", "<u2", ">u2", "<u4", ">u4", "<u8", ">u8"],
    "float": ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"],
    "complex": ["<c8", ">c8", "<c16", ">c16"],
    "text": ["|S1", "|S3", "|S17", "<U1", ">U4", "<U70", "|S300"],
    "time": ["<M8[ns]", ">M8[D]", "<m8[us]", ">m8[25s]", "<M8", "<m8"],
    "struct": [
        [("a", "<i4"), ("b", "<f8")],
        [("x", ">u2"), ("y", "|S5"), ("z", "<c8")],
        [("pos", "<f4", (3,)), ("id", "<u8")],
        [("head", [("t", "<M8[s]"), ("k", "|b1")]), ("grid", "<i2", (2, 3))],
        [("u", "<U2"), ("n", [("m", [("deep", ">f4")])])],
        [("wide", "<f8", (5, 7)), ("tag", "|u1")],
    ],
}
SLOTS = {"shuffle": 1, "bitshuffle": 2, "delta": 3, "trunc_prec": 4}
DIMS = [1, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 23, 31, 37, 64, 97, 128, 251, 509]


def combinations():
    """Every codec with every filter with every kind of dtype; truncation only where it is defined."""
    plain = [(c, f, k) for c in CODECS for f in FILTERS for k in KINDS]
    return plain + [(c, "trunc_prec", "float") for c in CODECS]


def pipeline(name, rng):
    """Six filter ids and six meta bytes.

    Delta comes first, and at most one filter after it: the reference's threads race on any other order, and its own
    decoder does not get back what it encoded with delta and two filters more.
    """
    ids, meta = [0] * 6, [0] * 6
    if name == "trunc_prec":
        ids[4], ids[5] = SLOTS["trunc_prec"], int(rng.choice([0, 1, 2]))
    elif name == "combined":
        chain = [["shuffle", "bitshuffle"], ["bitshuffle", "shuffle"], ["shuffle", "shuffle"], ["delta", "bitshuffle"]]
        chain += [["delta", "shuffle"], ["bitshuffle", "bitshuffle"]]
        picked = chain[rng.integers(len(chain))]
        places = sorted(rng.choice(6, len(picked), replace=False))
        for place, filter_name in zip(places, picked):
            ids[place] = SLOTS[filter_name]
    else:
        picked = [] if name == "none" else name.split("+")
        for place, filter_name in zip(range(6 - len(picked), 6), picked):
            ids[place] = SLOTS[filter_name]
    return ids, meta


def shape(rng, itemsize):
    """0 to 6 dimensions, odd lengths, now and then an empty axis; small enough that thousands run in minutes."""
    budget = (1 << 20 if rng.random() < 0.02 else 1 << 14) // itemsize
    ndim = int(rng.integers(0, 7))
    dims = []
    for _ in range(ndim):
        fit = [d for d in DIMS if d <= max(1, budget)]
        d = int(rng.choice(fit))
        dims.append(d)
        budget //= d
    rng.shuffle(dims)
    if ndim and rng.random() < 0.04:
        dims[rng.integers(ndim)] = 0
    return tuple(int(d) for d in dims)


def partition(rng, dims):
    """Random chunk and block shapes, or None for the automatic ones."""
    if rng.random() < 0.25 or 0 in dims:
        return None, None
    while True:
        chunks = [int(rng.integers(1, d + 1)) if rng.random() < 0.8 else d for d in dims]
        blocks = [int(rng.integers(1, c + 1)) if rng.random() < 0.8 else c for c in chunks]
        if np.prod([-(-d // c) for d, c in zip(dims, chunks)]) <= 60:
            if np.prod([-(-c // b) for c, b in zip(chunks, blocks)]) <= 200:
                return tuple(chunks), tuple(blocks)


def items(rng, dtype, dims, content):
    """Items of a dtype as an array; random bytes for the kinds that allow any."""
    n = int(np.prod(dims, dtype=np.int64))
    if content == "zeros":
        return np.zeros(dims, dtype)
    if content == "nan" and dtype.kind in "fc":
        return np.full(dims, np.nan, dtype)
    if content == "constant":
        return np.full(dims, _random(rng, dtype, 1)[0], dtype) if n else np.zeros(dims, dtype)
    if content == "walk" and dtype.kind in "iuf":
        steps = rng.normal(0, 3, n).cumsum() if dtype.kind == "f" else rng.integers(-3, 4, n).cumsum()
        with np.errstate(all="ignore"):
            return steps.astype(dtype).reshape(dims)
    if content in ("runs", "walk", "nan"):
        return np.repeat(_random(rng, dtype, n // 9 + 1), 9)[:n].reshape(dims)
    return _random(rng, dtype, n).reshape(dims)


def _random(rng, dtype, n):
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(dtype)
    if dtype.kind == "U":
        points = rng.integers(32, 0x2FF, n * dtype.itemsize // 4, dtype=np.uint32)
        order = dtype.newbyteorder("=") if dtype.byteorder == "|" else dtype
        return np.frombuffer(points.astype(order.byteorder + "u4").tobytes(), dtype).copy()
    return np.frombuffer(rng.bytes(n * dtype.itemsize), dtype).copy()


def truncated(array, meta):
    """What truncation to a precision leaves: `meta` mantissa bits kept, or `-meta` of them cleared."""
    bits = {4: 23, 8: 52}[array.dtype.itemsize]
    cleared = bits - meta if meta >= 0 else -meta
    words = np.frombuffer(array.tobytes(), f"<u{array.dtype.itemsize}")
    kept = words & words.dtype.type((1 << (8 * array.dtype.itemsize)) - (1 << cleared))
    return np.frombuffer(kept.tobytes(), array.dtype).reshape(array.shape)


def selection(rng, dims):
    """One selection in NumPy's notation, negative steps, new axes and the ellipsis included."""
    parts, left = [], list(dims)
    if left and rng.random() < 0.2:
        keep = int(rng.integers(0, len(left) + 1))
        cut = int(rng.integers(0, keep + 1))
        left = left[:cut] + [None] + left[len(left) - (keep - cut):]
    for d in left:
        if d is None:
            parts.append("...")
        elif d and rng.random() < 0.25:
            parts.append(str(int(rng.integers(-d, d))))
        else:
            parts.append(_range(rng, d))
        if rng.random() < 0.03:
            parts.append("None")
    return ", ".join(parts) if parts else "..."


def _range(rng, d):
    a, b = (int(v) for v in rng.integers(-d - 2, d + 3, 2))
    if rng.random() < 0.6:
        a, b = sorted((a % (d + 1), b % (d + 1)))
    start, stop = (str(v) if rng.random() < 0.8 else "" for v in (a, b))
    step = "" if rng.random() < 0.7 else ":" + str(int(rng.choice([1, 2, 3, 7, -1, -2, -5])))
    return f"{start}:{stop}{step}"


def parse_selection(text):
    """The index object of a selection text."""
    return tuple(_part(part.strip()) for part in text.split(","))


def _part(part):
    if part == "...":
        return Ellipsis
    if part == "None":
        return None
    if ":" not in part:
        return int(part)
    return slice(*(int(v) if v.strip() else None for v in part.split(":")))


def select(array, key):
    """The selected items as an array: NumPy would make single items scalars of native byte order, without their zeros."""
    return array[key if Ellipsis in key else key + (Ellipsis,)]


def dtype_text(dtype):
    """The text that the metalayer stores."""
    return str(dtype.descr) if dtype.fields else dtype.str
