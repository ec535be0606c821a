"""Arrays that b2nd made of others, or of slabs, opened by python-blosc2 and compared with what NumPy makes of the same.

versions        says which versions are there
check FOLDER    for every N.json: N.b2nd must hold what NumPy makes of the arrays N.0.raw, N.1.raw, …; where the case asks for
                dictionaries, writes N.theirs.b2nd, the same array with dictionaries
"""

import json
import pathlib
import sys

import blosc2
import numpy

CODECS = {"lz4": blosc2.Codec.LZ4, "lz4hc": blosc2.Codec.LZ4HC, "zstd": blosc2.Codec.ZSTD}


def due(case, arrays):
    """What NumPy makes of the arrays of a case."""
    first = arrays[0]
    match case["kind"]:
        case "concatenate":
            return numpy.concatenate(arrays, axis=case["axis"])
        case "stack":
            return numpy.stack(arrays, axis=case["axis"])
        case "reshape":
            return first.reshape(case["to"])
        case "astype":
            return first.astype(case["to"])
        case "view":
            return numpy.expand_dims(first.transpose(case["to"]), case["axis"])
        case "slice":
            return first[tuple(slice(*part) if isinstance(part, list) else part for part in case["to"])]
        case _:
            return first


def by_chunks(array):
    """The items, from chunks that are decompressed whole.

    Of arrays with dictionaries C-Blosc2 3.3.5 does not read all slices, neither of ours nor of its own (docs/FORMAT.md, 2.6).
    """
    grid = [-(-n // c) for n, c in zip(array.shape, array.chunks)]
    counts = [-(-c // b) for c, b in zip(array.chunks, array.blocks)]
    axes = range(array.ndim)
    items = numpy.empty([n * c for n, c in zip(grid, array.chunks)], dtype=array.dtype)
    for number, place in enumerate(numpy.ndindex(*grid)):
        chunk = numpy.frombuffer(array.schunk.decompress_chunk(number), dtype=array.dtype)
        chunk = chunk.reshape([*counts, *array.blocks]).transpose([d + k * array.ndim for d in axes for k in (0, 1)])
        chunk = chunk.reshape([n * b for n, b in zip(counts, array.blocks)])
        box = tuple(slice(at * c, (at + 1) * c) for at, c in zip(place, array.chunks))
        items[box] = chunk[tuple(slice(c) for c in array.chunks)]
    return items[tuple(slice(n) for n in array.shape)]


def compare(case, path, wanted):
    """Raises ValueError where the file holds something else."""
    array = blosc2.open(str(path.with_suffix(".b2nd")), mode="r")
    if array.shape != wanted.shape or array.dtype != wanted.dtype:
        raise ValueError(f"{array.shape} {array.dtype} instead of {wanted.shape} {wanted.dtype}")
    if case["kind"] == "dictionary":
        if not array.schunk.cparams.use_dict:
            raise ValueError("the frame says nothing of dictionaries")
        if by_chunks(array).tobytes() != wanted.tobytes():
            raise ValueError("other items")
        return
    if array[...].tobytes() != wanted.tobytes():
        raise ValueError("other items")
    if wanted.size and wanted.ndim and array[-1].tobytes() != wanted[-1].tobytes():
        raise ValueError("other last items")


def check(folder):
    done = 0
    for path in sorted(folder.glob("*.json")):
        case = json.loads(path.read_text())
        arrays = [
            numpy.frombuffer(path.with_suffix(f".{n}.raw").read_bytes(), dtype="<i4").reshape(shape)
            for n, shape in enumerate(case["shapes"])
        ]
        try:
            compare(case, path, due(case, arrays))
            if case["kind"] == "dictionary":
                blosc2.asarray(
                    arrays[0],
                    chunks=case["chunks"],
                    blocks=case["blocks"],
                    urlpath=str(path.with_suffix(".theirs.b2nd")),
                    cparams={"codec": CODECS[case["codec"]], "clevel": case["clevel"], "use_dict": True},
                )
            done += 1
        except (RuntimeError, ValueError) as error:
            print(f"{path.name} {case}: {error}", file=sys.stderr)
    print(json.dumps({"done": done}))


if __name__ == "__main__":
    if sys.argv[1] == "versions":
        print("blosc2", blosc2.__version__, "C-Blosc2", blosc2.blosclib_version)
    else:
        check(pathlib.Path(sys.argv[2]))
