#!/usr/bin/env python3
"""b2nd next to other formats: slices of one array, read from zarr-python, zarrs, TensorStore and HDF5 (Blosc, Blosc2).

    python3 -m venv formats && formats/bin/pip install numpy blosc2 zarr zarrs tensorstore h5py hdf5plugin
    cargo build --release -p b2nd-bench
    formats/bin/python scripts/bench_formats.py --json formats.json

All hold the same items in chunks of the same shape and with the same codec, level and filter, in files that the system
keeps in memory. b2nd reads a file made by python-blosc2, in a process of its own that times itself (`b2nd-bench
--child-slices`), turn and turn about with the other; a ratio is the median over the rounds, above 1 where b2nd is
faster. One thread means that the process may use one processor, two that it may use two. The sums of all bytes that
were read must be equal. Cells named A/A time the other format against itself. The JSON has the shape of b2nd-bench's.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SUBJECTS = {
    # name: shape, chunks, blocks, dtype, codec, level
    "4-d f8 zstd-1": ((25, 50, 150, 125), (10, 25, 50, 50), (3, 5, 10, 20), "<f8", "zstd", 1),
    "3-d i8 lz4-5": ((625, 372, 200), (50, 150, 100), (13, 21, 30), "<i8", "lz4", 5),
}


def items(shape, dtype):
    """A smooth field, with noise in its last bits."""
    rng = np.random.default_rng(7)
    out = np.zeros(shape)
    for axis, length in enumerate(shape):
        wave = np.sin(np.arange(length) * (0.11 / (axis + 1))) * 8 + np.arange(length) * 0.01
        out += wave.reshape([-1 if d == axis else 1 for d in range(len(shape))])
    out = np.round(out * 1024) + rng.integers(0, 4, shape, dtype="u1")
    return (out / 1024 if dtype == "<f8" else out).astype(dtype)


def slices(shape):
    """The boxes of each kind, as (start, stop)."""
    rng = np.random.default_rng(11)
    ndim = len(shape)
    kinds = {"read all": [([0] * ndim, list(shape))]}
    for axis in range(ndim):
        kinds[f"read hyperplanes, axis {axis}"] = [
            ([int(n) if d == axis else 0 for d in range(ndim)], [int(n) + 1 if d == axis else shape[d] for d in range(ndim)])
            for n in rng.integers(0, shape[axis], 3)
        ]
    for name, length, count in (("read random boxes 8^n", 8, 40), ("read random items", 1, 60)):
        starts = [[int(rng.integers(0, n - length + 1)) for n in shape] for _ in range(count)]
        kinds[name] = [(start, [a + length for a in start]) for start in starts]
    return kinds


def writers(folder, data, chunks, blocks, codec, level):
    """Stores the array in each format; gives a function that opens it for each, which gives something to slice."""
    import blosc2
    import h5py
    import hdf5plugin
    import tensorstore
    import zarr
    from zarr.codecs import BloscCodec

    made = {}
    path = folder / "array.b2nd"
    cparams = {"codec": blosc2.Codec[codec.upper()], "clevel": level, "filters": [blosc2.Filter.SHUFFLE], "filters_meta": [0]}
    blosc2.asarray(data, urlpath=str(path), mode="w", chunks=chunks, blocks=blocks, cparams=cparams)

    store = folder / "array.zarr"
    compressor = BloscCodec(cname=codec, clevel=level, shuffle="shuffle", typesize=data.dtype.itemsize)
    array = zarr.create_array(store=str(store), shape=data.shape, dtype=data.dtype, chunks=chunks, compressors=compressor)
    array[...] = data

    def zarr_with(pipeline):
        def opened():
            zarr.config.set({"codec_pipeline.path": pipeline})
            return zarr.open_array(str(store), mode="r")

        return opened

    made[f"zarr-python {version('zarr')}"] = zarr_with("zarr.core.codec_pipeline.BatchedCodecPipeline")
    made[f"zarrs {version('zarrs')} under zarr-python"] = zarr_with("zarrs.ZarrsCodecPipeline")

    class Store:
        def __init__(self):
            spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(store)}}
            self.array = tensorstore.open(spec, read=True, open=True).result()

        def __getitem__(self, index):
            return self.array[index].read().result()

    made[f"TensorStore {version('tensorstore')}"] = Store

    filters = {
        "Blosc": hdf5plugin.Blosc(cname=codec, clevel=level, shuffle=hdf5plugin.Blosc.SHUFFLE),
        "Blosc2": hdf5plugin.Blosc2(cname=codec, clevel=level, filters=hdf5plugin.Blosc2.SHUFFLE),
    }
    for name, compression in filters.items():
        file = folder / f"{name}.h5"
        with h5py.File(file, "w") as h5:
            h5.create_dataset("array", data=data, chunks=chunks, compression=compression)
        made[f"h5py {version('h5py')} + hdf5plugin {name}"] = lambda file=file: h5py.File(file, "r")["array"]
    return path, made


def timed(array, boxes):
    """Seconds to read all boxes."""
    index = [tuple(slice(a, b) for a, b in zip(*box)) for box in boxes]
    start = time.perf_counter()
    for part in index:
        np.asarray(array[part])
    return time.perf_counter() - start


def total(array, boxes):
    """The sum of all bytes of all boxes."""
    parts = (np.ascontiguousarray(array[tuple(slice(a, b) for a, b in zip(*box))]) for box in boxes)
    return sum(int(part.view("u1").sum(dtype="u8")) for part in parts)


def ours(bench, path, boxes_file, threads):
    output = subprocess.run(
        [bench, "--child-slices", path, boxes_file, str(threads)], check=True, capture_output=True, text=True
    )
    return json.loads(output.stdout)


def cells_of(subject, folder, bench, rounds):
    """The cells of one array."""
    shape, chunks, blocks, dtype, codec, level = SUBJECTS[subject]
    data = items(shape, dtype)
    path, formats = writers(folder, data, chunks, blocks, codec, level)
    kinds, cells, processors = slices(shape), [], sorted(os.sched_getaffinity(0))
    for threads in (1, 2)[: len(processors)]:
        os.sched_setaffinity(0, processors[:threads])
        for kind, boxes in kinds.items():
            boxes_file = folder / "boxes.json"
            boxes_file.write_text(json.dumps(boxes))
            nbytes = sum(int(np.prod([b - a for a, b in zip(*box)])) for box in boxes) * data.dtype.itemsize
            expected = total(data, boxes)
            if ours(bench, path, boxes_file, threads)["sum"] != expected:
                sys.exit(f"{subject}, {kind}: b2nd reads other items")
            for name, opened in formats.items():
                array = opened()
                if total(array, boxes) != expected:
                    sys.exit(f"{subject}, {kind}: {name} reads other items")
                times = [(ours(bench, path, boxes_file, threads)["seconds"], timed(array, boxes)) for _ in range(rounds)]
                again = [(timed(array, boxes), timed(array, boxes)) for _ in range(rounds)] if kind == "read all" else []
                for prefix, pairs in (("A/A ", again), ("", times)):
                    if pairs:
                        a, b = (statistics.median(side) for side in zip(*pairs))
                        cells.append({
                            "group": "formats", "name": f"{prefix}{subject}, {kind}", "threads": threads, "unit": "MB/s",
                            "ours": round(nbytes / a / 1e6, 4), "rival": round(nbytes / b / 1e6, 4), "rival_name": name,
                            "ratio": round(statistics.median(y / x for x, y in pairs), 4),
                        })  # fmt: skip
                        print(cells[-1]["name"], threads, name, cells[-1]["ratio"], file=sys.stderr)
    os.sched_setaffinity(0, processors)
    return cells


def page(run):
    lines = ["# b2nd and other formats", "", run["machine"], "", ", ".join(f"{k} {v}" for k, v in run["versions"].items()), ""]
    lines += ["| | threads | unit | b2nd | rival | rival is | ratio |", "|---|---|---|---|---|---|---|"]
    for c in run["cells"]:
        lines.append(
            f"| {c['name']} | {c['threads']} | {c['unit']} | {c['ours']:.2f} | {c['rival']:.2f} | {c['rival_name']} | {c['ratio']:.3f} |"
        )
    for name in dict.fromkeys(c["rival_name"] for c in run["cells"]):
        ratios = [c["ratio"] for c in run["cells"] if c["rival_name"] == name and not c["name"].startswith("A/A")]
        lines += ["", f"{name}: {len(ratios)} cells, geometric mean {statistics.geometric_mean(ratios):.3f}"]
    return "\n".join(lines) + "\n"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", type=Path, default=Path("formats.json"))
    arguments.add_argument("--bench", type=Path, default=ROOT / "target/release/b2nd-bench")
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    git = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
    model = [line.split(": ")[1] for line in open("/proc/cpuinfo") if line.startswith("model name")] if Path("/proc/cpuinfo").exists() else []
    run = {
        "machine": f"{(model or [platform.processor()])[0].strip()}, {os.cpu_count()} processors, {platform.machine()}",
        "versions": {"commit": git.stdout.strip() or "unknown", "python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "blosc2", "zarr", "zarrs", "tensorstore", "h5py", "hdf5plugin")},
        "cells": [],
    }
    for subject in SUBJECTS:
        with tempfile.TemporaryDirectory(prefix="b2nd-formats-") as folder:
            run["cells"] += cells_of(subject, Path(folder), given.bench, given.rounds)
    given.json.write_text(json.dumps(run, indent=2))
    given.json.with_suffix(".md").write_text(page(run))
    print(page(run))


if __name__ == "__main__":
    main()
