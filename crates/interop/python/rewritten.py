"""python-blosc2's half of tests/all/rewritten.rs: frames of the corpus that b2nd wrote anew. `versions`, and `serve`: a command a line, as JSON."""

import hashlib
import json
import sys

import blosc2
import numpy as np


def layers(schunk):
    meta = {name: blosc2.blosc2_ext.meta__getitem__(schunk, name).hex() for name in schunk.meta}
    # The checksums that b2nd keeps are not the user's.
    names = [name for name in schunk.vlmeta.get_names() if name != "b2nd.digests"]
    vlmeta = {name: schunk.vlmeta.get_vlmeta(name).hex() for name in names}
    return meta, vlmeta


def see(command):
    found = blosc2.open(command["path"], mode="r")
    schunk = getattr(found, "schunk", found)
    meta, vlmeta = layers(schunk)
    seen = {"meta": meta, "vlmeta": vlmeta, "nchunks": schunk.nchunks}
    if command["chunks"]:
        chunks = hashlib.sha256()
        for number in range(schunk.nchunks):
            chunks.update(schunk.decompress_chunk(number))
        seen["chunks"] = chunks.hexdigest()
    if command["items"]:
        seen["shape"] = list(found.shape)
        seen["items"] = hashlib.sha256(np.ascontiguousarray(found[...]).tobytes()).hexdigest()
    return seen


def note(command):
    found = blosc2.open(command["path"], mode="a")
    schunk = getattr(found, "schunk", found)
    for name, content in command["notes"].items():
        schunk.vlmeta[name] = content
    return {}


def main():
    if sys.argv[1] == "versions":
        print(f"blosc2 {blosc2.__version__}, numpy {np.__version__}, C-Blosc2 {blosc2.blosclib_version}")
        return
    for line in sys.stdin:
        command = json.loads(line)
        try:
            reply = {"see": see, "note": note}[command["op"]](command)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


main()
