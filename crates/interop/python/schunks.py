"""Changes of super-chunks by python-blosc2, one at a time: the other writer of `tests/all/schunks.rs`."""

import hashlib

import blosc2

SPECIAL = {
    "zeros": blosc2.SpecialValue.ZERO,
    "nan": blosc2.SpecialValue.NAN,
    "uninit": blosc2.SpecialValue.UNINIT,
}


def serve(command):
    """Opens or makes the frame, changes it where that is asked for, and says what its chunks hold."""
    schunk = find(command)
    if "change" in command:
        change(schunk, command["change"])
    chunks = [hashlib.sha256(schunk.decompress_chunk(n)).hexdigest() for n in range(schunk.nchunks)]
    answer = {"chunks": chunks, "nbytes": schunk.nbytes, "chunksize": schunk.chunksize}
    if "path" not in command:
        answer["frame"] = schunk.to_cframe().hex()
    return answer


def find(command):
    if "create" in command:
        how = command["create"]
        where = {"urlpath": command["path"], "mode": "w"} if "path" in command else {}
        cparams = {"typesize": how["typesize"], "nthreads": 1, "blocksize": how["blocksize"]}
        return blosc2.SChunk(chunksize=how["chunksize"], contiguous=how["contiguous"], cparams=cparams, **where)
    if "path" in command:
        return blosc2.open(command["path"], mode="a" if "change" in command else "r")
    return blosc2.schunk_from_cframe(bytes.fromhex(command["frame"]), copy=True)


def change(schunk, how):
    kind = how["kind"]
    if kind in ("append", "insert", "update"):
        chunk = blosc2.compress2(bytes.fromhex(how["items"]), typesize=schunk.typesize, nthreads=1)
    if kind == "append":
        schunk.append_chunk(chunk)
    elif kind == "insert":
        schunk.insert_chunk(how["n"], chunk)
    elif kind == "update":
        schunk.update_chunk(how["n"], chunk)
    elif kind == "delete":
        schunk.delete_chunk(how["n"])
    elif kind == "reorder":
        schunk.reorder_offsets(how["order"])
    elif kind == "fill":
        if how["special"] == "value":
            schunk.fill_special(how["nitems"], blosc2.SpecialValue.VALUE, bytes.fromhex(how["value"]))
        else:
            schunk.fill_special(how["nitems"], SPECIAL[how["special"]])
    elif kind == "write":
        start = how["start"]
        items = bytes.fromhex(how["items"])
        schunk[start : start + len(items) // schunk.typesize] = items
    else:
        raise ValueError(kind)
