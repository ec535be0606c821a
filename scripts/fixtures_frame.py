"""Makes the frames in crates/b2nd/tests/fixtures/frame with python-blosc2, and MANIFEST.tsv beside them.

Run it with a Python that has blosc2 and numpy; the fixtures are committed and only ever added to.
Each line of the manifest: file, number of chunks, sha256 of the decoded bytes, names of metalayers, names and sha256 of the
raw contents of vlmetalayers.
"""

import hashlib
import pathlib
import shutil
import sys

import blosc2
import numpy as np

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "crates/b2nd/tests/fixtures/frame")
ITEMS = 1000
CPARAMS = {"typesize": 4, "codec": blosc2.Codec.LZ4, "clevel": 5, "nthreads": 1}


def items(seed):
    return (np.arange(ITEMS, dtype="<i4") * (seed + 1)) // 3


def new(name, contiguous=True, **kwargs):
    path = ROOT / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    cparams = {**CPARAMS, **kwargs.pop("cparams", {})}
    return blosc2.SChunk(chunksize=ITEMS * 4, urlpath=str(path), contiguous=contiguous, mode="w", cparams=cparams, **kwargs)


def fill(schunk, n=4):
    for seed in range(n):
        schunk.append_data(items(seed))


def make():
    fill(new("contiguous.b2frame"))
    fill(new("sparse.b2frame", contiguous=False))
    for name, contiguous in [("meta.b2frame", True), ("meta_sparse.b2frame", False)]:
        schunk = new(name, contiguous, meta={"first": {"a": 1}, "second": b"\x00" * 40})
        fill(schunk, 2)
        schunk.vlmeta["greet"] = "hello"
        schunk.vlmeta["long"] = list(range(300))
        schunk.vlmeta["empty"] = ""
    for name, contiguous in [("special.b2frame", True), ("special_sparse.b2frame", False)]:
        schunk = new(name, contiguous)
        fill(schunk, 2)
        schunk.append_data(np.zeros(ITEMS, "<i4"))
        fill(schunk, 1)
        schunk.append_data(np.zeros(ITEMS, "<i4"))
        schunk.append_data(items(5)[: ITEMS // 3])
    new("zeros.b2frame").fill_special(5 * ITEMS, blosc2.SpecialValue.ZERO)
    new("nan.b2frame").fill_special(5 * ITEMS + 7, blosc2.SpecialValue.NAN)
    new("uninit.b2frame").fill_special(5 * ITEMS, blosc2.SpecialValue.UNINIT)
    new("value.b2frame").fill_special(2 * ITEMS, blosc2.SpecialValue.VALUE, 77)
    schunk = new("holes.b2frame")
    fill(schunk, 6)
    schunk.delete_chunk(4)
    schunk.delete_chunk(1)
    schunk.insert_data(0, items(9), copy=True)
    schunk.update_data(2, items(11)[::-1].copy(), copy=True)
    schunk = new("deleted_all.b2frame")
    fill(schunk, 2)
    schunk.delete_chunk(0)
    schunk.delete_chunk(0)
    new("empty.b2frame")
    new("empty_sparse.b2frame", contiguous=False)
    schunk = new("variable.b2frame")
    for n in [1000, 10, 700, 1000]:
        schunk.append_data(items(n)[:n])
    blosc2.zeros((4, 0), dtype="f8", urlpath=str(ROOT / "zero_axis.b2nd"), mode="w")


def digest(data):
    return hashlib.sha256(data).hexdigest()


def main():
    ROOT.mkdir(parents=True, exist_ok=True)
    make()
    lines = []
    for path in sorted(p for p in ROOT.iterdir() if p.suffix in (".b2frame", ".b2nd")):
        schunk = blosc2.open(str(path), mode="r")
        schunk = getattr(schunk, "schunk", schunk)
        uninit = path.name.startswith("uninit")
        data = b"" if uninit else b"".join(schunk.decompress_chunk(n) for n in range(schunk.nchunks))
        if uninit:
            data = bytes(schunk.nbytes)
        meta = ",".join(schunk.meta.keys()) or "-"
        vlmeta = ",".join(f"{k}={digest(blosc2_raw(schunk, k))}" for k in schunk.vlmeta) or "-"
        lines.append("\t".join([path.name, str(schunk.nchunks), digest(data), meta, vlmeta]))
    (ROOT / "MANIFEST.tsv").write_text("\n".join(lines) + "\n")


def blosc2_raw(schunk, name):
    import msgpack

    return msgpack.packb(schunk.vlmeta[name])


if __name__ == "__main__":
    main()
