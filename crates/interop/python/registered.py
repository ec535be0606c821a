"""Arrays with the registered filters and codecs, by python-blosc2: each side's are read by the other.

versions        says which versions are there
check FOLDER    for every N.json: N.ours.b2nd must give N.ours; writes N.theirs.b2nd of the items in N.raw, and its items
                as they are read back to N.theirs
"""

import json
import pathlib
import sys

import blosc2
import numpy as np


def items(path):
    array = blosc2.open(str(path), mode="r")
    return array, array[...].tobytes()


def check_one(path):
    case = json.loads(path.read_text())
    ours, read = items(path.with_suffix(".ours.b2nd"))
    cparams = ours.schunk.cparams
    # It shows what 0 stands for.
    typesize = ours.schunk.typesize
    metas = [typesize if f == 35 and m == 0 else m for f, m in zip(case["filters"], case["filters_meta"])]
    stored = [int(getattr(f, "value", f)) for f in cparams.filters]
    if stored != case["filters"] or [m % 256 for m in cparams.filters_meta] != metas:
        raise ValueError(f"other filters: {stored} {cparams.filters_meta}")
    if (int(getattr(cparams.codec, "value", cparams.codec)), cparams.codec_meta % 256) != (case["codec"], case["codec_meta"]):
        raise ValueError(f"another codec: {cparams.codec}")
    if read != path.with_suffix(".ours").read_bytes():
        raise ValueError("other items")
    data = np.frombuffer(path.with_suffix(".raw").read_bytes(), case["dtype"]).reshape(case["shape"])
    target = path.with_suffix(".theirs.b2nd")
    blosc2.asarray(
        data, chunks=case["chunks"], blocks=case["blocks"], urlpath=str(target), mode="w",
        cparams={
            "codec": blosc2.Codec(case["codec"]),
            "codec_meta": case["codec_meta"],
            "clevel": case["clevel"],
            "filters": [blosc2.Filter(f) for f in case["filters"]],
            "filters_meta": case["filters_meta"],
            "splitmode": blosc2.SplitMode(case["split"]),
            "typesize": data.dtype.itemsize,
            "nthreads": 1,
        },
    )
    path.with_suffix(".theirs").write_bytes(items(target)[1])


def check(folder):
    done = 0
    for path in sorted(folder.glob("*.json")):
        try:
            check_one(path)
            done += 1
        except Exception as error:
            print(f"{path.read_text()}: {error!r}", file=sys.stderr)
    print(json.dumps({"done": done}))


if __name__ == "__main__":
    if sys.argv[1] == "versions":
        print("blosc2", blosc2.__version__, "C-Blosc2", blosc2.blosclib_version)
    else:
        check(pathlib.Path(sys.argv[2]))
