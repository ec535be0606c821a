"""The other side of the interoperability matrix: writes arrays with python-blosc2, checks arrays that b2nd wrote.

    matrix.py versions
    matrix.py write DIR --seed S --start I --count N
    matrix.py check DIR --start I --count N
    matrix.py serve          one JSON command a line on stdin, one JSON answer a line on stdout

A directory holds `cases-<start>.jsonl` (one case a line), `expected-<start>.bin` (the expected bytes, by offset) and the arrays.
"""

import argparse
import ast
import hashlib
import json
import sys
import traceback
from pathlib import Path

import blosc2
import numpy as np

import cases
import schunks
import shapes

CODEC = {name: blosc2.Codec[name.upper()] for name in cases.CODECS}
SPLIT = {m.value: m for m in blosc2.SplitMode}


class Mismatch(Exception):
    """A difference between what is expected and what was read."""


def expect(what, found, wanted):
    if found != wanted:
        raise Mismatch(f"{what}: found {str(found)[:200]}, expected {str(wanted)[:200]}")


def pack(content):
    """Bytes as msgpack `bin`, as python-blosc2 stores them in a metalayer."""
    n = len(content)
    head = b"\xc4" + n.to_bytes(1, "big") if n < 256 else b"\xc5" + n.to_bytes(2, "big")
    return head + content


def raw_meta(array, name):
    return blosc2.blosc2_ext.meta__getitem__(array.schunk, name)


def user_layers(array):
    meta = {n: raw_meta(array, n).hex() for n in array.schunk.meta if n != "b2nd"}
    # The checksums that b2nd keeps are not the user's.
    names = [n for n in array.schunk.vlmeta.get_names() if n != "b2nd.digests"]
    vlmeta = {n: array.schunk.vlmeta.get_vlmeta(n).hex() for n in names}
    return meta, vlmeta


def stored_dtype(array):
    """The dtype text in the b2nd metalayer, byte for byte."""
    content = raw_meta(array, "b2nd")
    at = 3 + 3 * 1 + array.ndim * (9 + 5 + 5) + 1
    expect("marker of the dtype", content[at], 0xDB)
    length = int.from_bytes(content[at + 1 : at + 5], "big")
    return content[at + 5 : at + 5 + length].decode()


def make_dtype(text):
    return np.dtype(ast.literal_eval(text)) if text.startswith("[") else np.dtype(text)


def read_whole(array, filters):
    """All items. Chunks with delta are decompressed whole: the reference reads single blocks of them wrongly."""
    if 3 not in filters or array.size == 0:
        return array[...]
    out = np.zeros(array.shape, f"V{array.dtype.itemsize}")
    grid = [-(-s // c) for s, c in zip(array.shape, array.chunks)]
    block_grid = [-(-c // b) for c, b in zip(array.chunks, array.blocks)]
    for number, at in enumerate(np.ndindex(*grid)):
        chunk = np.frombuffer(array.schunk.decompress_chunk(number), out.dtype).reshape(block_grid + list(array.blocks))
        pairs = [axis for d in range(array.ndim) for axis in (d, d + array.ndim)]
        chunk = chunk.transpose(pairs).reshape([g * b for g, b in zip(block_grid, array.blocks)])
        start = [a * c for a, c in zip(at, array.chunks)]
        stop = [min(a + c, s) for a, c, s in zip(start, array.chunks, array.shape)]
        inside = tuple(slice(0, b - a) for a, b in zip(start, stop))
        out[tuple(slice(a, b) for a, b in zip(start, stop))] = chunk[inside]
    return out.view(array.dtype) if array.ndim else np.frombuffer(out.tobytes(), array.dtype).reshape(())


# ---------------------------------------------------------------- write


class Writer:
    """Writes cases of one range with python-blosc2."""

    def __init__(self, folder, seed, start):
        self.folder, self.seed = Path(folder), seed
        self.expected = open(self.folder / f"expected-{start}.bin", "wb")
        self.lines = open(self.folder / f"cases-{start}.jsonl", "w")
        self.offset = 0

    def keep(self, data):
        at = self.offset
        self.expected.write(data)
        self.offset += len(data)
        return {"offset": at, "nbytes": len(data)}

    def write(self, index):
        rng = np.random.default_rng([self.seed, index])
        combos = cases.combinations()
        codec, filter_name, kind = combos[index % len(combos)]
        clevel = index // len(combos) % 10
        dtypes = cases.KINDS[kind] if filter_name != "trunc_prec" else ["<f4", "<f8"]
        dtype = np.dtype(dtypes[rng.integers(len(dtypes))])
        ids, meta = cases.pipeline(filter_name, rng)
        if filter_name == "trunc_prec":
            meta[4] = int(rng.choice([-20, -3, -1, 1, 5, 10, 20])) % 256
        dims = cases.shape(rng, dtype.itemsize)
        chunks, blocks = cases.partition(rng, dims)
        content = cases.CONTENTS[rng.integers(len(cases.CONTENTS))]
        data = cases.items(rng, dtype, dims, content)
        form = ["file", "sparse", "cframe", "cframe-sparse"][rng.integers(4)]
        cparams = {
            "codec": CODEC[codec], "clevel": clevel, "filters": [blosc2.Filter(i) for i in ids], 
            "filters_meta": [m - 256 if m > 127 else m for m in meta],
            "splitmode": SPLIT[int(rng.integers(1, 5))], "nthreads": int(rng.integers(1, 3)), "typesize": dtype.itemsize,
        }
        path = self.folder / f"{index:06}.b2nd"
        array = self.create(rng, path, form, data, content, chunks, blocks, cparams)
        self.layers(rng, array, path, form)
        meta_layers, vl_layers = user_layers(array)
        if filter_name == "trunc_prec" and clevel > 0:
            data = truncate_as_stored(array, data, meta[4])
        line = {
            "id": index, "path": path.name, "form": form.split("-")[0], "kind": kind, "filter": filter_name,
            "content": content, "dtype": stored_dtype(array), "typesize": dtype.itemsize, "shape": list(dims),
            "chunks": list(array.chunks), "blocks": list(array.blocks), "codec": codec, "clevel": clevel,
            "filters": ids, "filters_meta": meta, "split": cparams["splitmode"].value,
            "meta": meta_layers, "vlmeta": vl_layers, "data": self.keep(data.tobytes()), "selections": [],
        }
        for _ in range(3):
            text = cases.selection(rng, dims)
            part = cases.select(data, cases.parse_selection(text))
            line["selections"].append({"text": text, "shape": list(part.shape), **self.keep(part.tobytes())})
        expect("python-blosc2's own reading", read_whole(array, ids).tobytes(), data.tobytes())
        if form.startswith("cframe"):
            path.write_bytes(array.to_cframe())
        self.lines.write(json.dumps(line) + "\n")

    def create(self, rng, path, form, data, content, chunks, blocks, cparams):
        kw = {"cparams": cparams, "chunks": chunks, "blocks": blocks, "contiguous": form in ("file", "cframe")}
        if not form.startswith("cframe"):
            kw["urlpath"] = str(path)
        if rng.random() < 0.5:
            kw["meta"] = {f"user{n}": rng.bytes(int(rng.integers(0, 300))) for n in range(rng.integers(1, 4))}
        plain = data.dtype.kind in "biufcSM" and data.ndim and data.size
        if plain and content == "zeros" and rng.random() < 0.7:
            return blosc2.zeros(data.shape, data.dtype, **kw)
        if plain and content in ("constant", "nan") and data.dtype.kind in "iuf" and rng.random() < 0.7:
            if content == "constant" or data.dtype.kind == "f":
                return blosc2.full(data.shape, data.flat[0], data.dtype, **kw)
        if plain and content == "runs" and rng.random() < 0.5:
            array = blosc2.uninit(data.shape, data.dtype, **kw)
            half = data.shape[0] // 2
            array[half:] = data[half:]
            array[:half] = data[:half]
            return array
        return blosc2.asarray(data, **kw)

    def layers(self, rng, array, path, form):
        if rng.random() < 0.4:
            for n in range(rng.integers(1, 4)):
                size = int(rng.choice([0, 1, 31, 32, 33, 700, 5000]))
                content = rng.bytes(size) if rng.random() < 0.5 else b"words " * (size // 6)
                array.schunk.vlmeta.set_vlmeta(f"vl-{n}", content + b".", typesize=1)


def truncate_as_stored(array, data, meta):
    """Truncation leaves chunks alone that the reference stores raw or as one value; which they are, the flags say."""
    signed = meta - 256 if meta > 127 else meta
    cut = cases.truncated(data, signed)
    read = array[...]
    words = f"u{data.dtype.itemsize}"
    same = (read.view(words) == data.view(words)) | (read.view(words) == cut.view(words))
    expect("items that are neither whole nor truncated", int((~same).sum()), 0)
    return read


# ---------------------------------------------------------------- check


def open_array(folder, line):
    path = folder / line["path"]
    if line["form"] == "cframe":
        return blosc2.ndarray_from_cframe(path.read_bytes())
    return blosc2.open(str(path), mode="r")


def check(folder, line, expected):
    array = open_array(folder, line)
    take = lambda span: expected[span["offset"] : span["offset"] + span["nbytes"]]
    dtype = make_dtype(line["dtype"])
    expect("class", type(array).__name__, "NDArray")
    expect("shape", list(array.shape), line["shape"])
    expect("chunks", list(array.chunks), line["chunks"])
    expect("blocks", list(array.blocks), line["blocks"])
    expect("dtype", array.dtype, dtype)
    text = stored_dtype(array)
    expect("dtype text", make_dtype(text) if text.startswith("[") else text, dtype if line["dtype"].startswith("[") else line["dtype"])
    expect("typesize", array.schunk.typesize, dtype.itemsize)
    cparams = array.schunk.cparams
    expect("codec", cparams.codec, CODEC[line["codec"]])
    expect("clevel", cparams.clevel, line["clevel"])
    expect("filters", [int(getattr(f, "value", f)) for f in cparams.filters], line["filters"])
    expect("filters_meta", [m % 256 for m in cparams.filters_meta], line["filters_meta"])
    expect("splitmode", cparams.splitmode.value, line["split"])
    expect("sparse", array.schunk.contiguous, line["form"] != "sparse")
    expect("metalayers", user_layers(array), (line["meta"], line["vlmeta"]))
    whole = read_whole(array, line["filters"])
    expect("items", whole.tobytes() == take(line["data"]), True)
    # The reference reads parts of delta chunks wrongly (it does not decode their first block), but whole ones rightly.
    direct = 3 not in line["filters"]
    for part in line["selections"]:
        key = cases.parse_selection(part["text"])
        wanted = np.frombuffer(take(line["data"]), dtype).reshape(line["shape"])
        wanted = cases.select(wanted, key)
        expect(f"shape of [{part['text']}]", part["shape"], list(wanted.shape))
        expect(f"items of [{part['text']}]", take(part) == wanted.tobytes(), True)
        if direct and forward(key):
            read = np.asarray(array[key], dtype)
            expect(f"python-blosc2's [{part['text']}]", read.tobytes() == wanted.tobytes(), True)


def forward(key):
    return all(isinstance(k, int) or (isinstance(k, slice) and (k.step or 1) == 1) for k in key)


def each_case(folder, start, count):
    for file in sorted(folder.glob("cases-*.jsonl")):
        expected = np.memmap(folder / file.name.replace("cases", "expected").replace("jsonl", "bin"), "u1", "r")
        for text in file.read_text().splitlines():
            line = json.loads(text)
            if start <= line["id"] < start + count:
                yield line, expected.data


# ---------------------------------------------------------------- serve


def serve(command):
    """One command on an array file: the other writer of the alternation test."""
    if command["op"] == "digest":
        array = blosc2.open(command["path"], mode="r")
        return {"sha256": hashlib.sha256(array[...].tobytes()).hexdigest(), "layers": user_layers(array)}
    if command["op"] == "write":
        array = blosc2.open(command["path"], mode="a")
        items = np.frombuffer(bytes.fromhex(command["items"]), array.dtype)
        key = tuple(slice(a, b) for a, b in zip(command["start"], command["stop"]))
        array[key] = items.reshape([b - a for a, b in zip(command["start"], command["stop"])])
        for name, content in command["vlmeta"].items():
            array.schunk.vlmeta.set_vlmeta(name, bytes.fromhex(content), typesize=1)
        return {}
    if command["op"] in ("change", "look"):
        return getattr(shapes, command["op"])(command)
    if command["op"] == "rewrite":
        return rewrite(command)
    if command["op"] == "schunk":
        return schunks.serve(command)
    raise ValueError(command["op"])


def rewrite(command):
    """Stores an `.npy` file with given parameters; its sizes are the other column of the table of real data."""
    data = np.load(command["npy"])
    array = blosc2.asarray(
        data, urlpath=command["path"], mode="w", chunks=command["chunks"], blocks=command["blocks"],
        cparams={"codec": CODEC[command["codec"]], "clevel": command["clevel"], "nthreads": 1},
    )
    return {"cbytes": array.schunk.cbytes, "sha256": hashlib.sha256(array[...].tobytes()).hexdigest()}


def run(args):
    folder, failures, done = Path(args.folder), 0, 0
    if args.verb == "write":
        writer = Writer(folder, args.seed, args.start)
        jobs = ((index, lambda index=index: writer.write(index)) for index in range(args.start, args.start + args.count))
    else:
        found = each_case(folder, args.start, args.count)
        jobs = ((line["id"], lambda line=line, raw=raw: check(folder, line, raw)) for line, raw in found)
    for index, job in jobs:
        try:
            job()
            done += 1
        except Exception as error:
            failures += 1
            place = "" if isinstance(error, Mismatch) else traceback.format_exc().splitlines()[-3].strip()
            print(f"case {index}: {error!r} {place}", file=sys.stderr)
    print(json.dumps({"done": done, "failures": failures}))
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["versions", "write", "check", "serve"])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=1 << 30)
    args = parser.parse_args()
    blosc2.set_nthreads(1)
    if args.verb == "versions":
        print(json.dumps({"blosc2": blosc2.__version__, "numpy": np.__version__, "c-blosc2": blosc2.blosclib_version}))
        return 0
    if args.verb in ("write", "check"):
        return run(args)
    for text in sys.stdin:
        try:
            answer = serve(json.loads(text))
        except Exception as error:
            answer = {"error": repr(error)}
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
