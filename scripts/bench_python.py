"""The Python package next to python-blosc2, zarr (with and without the zarrs pipeline), tensorstore and h5py, as far as they are installed.

    .venv-package/bin/pip install zarrs tensorstore h5py hdf5plugin
    .venv-package/bin/python scripts/bench_python.py [--seconds 0.5] [--threads 1 2] [--only crops] [--full] [--mapped] [--json out.json]

All have the same chunks, and compress with zstd and a shuffle. What is read is compared with what was written before any time is
taken. Engines take turns, each doing the same work in a turn; times are medians, and so are the ratios of a turn. On how many
threads is how many processors the process has, too. ``--full``: the 4-d array whole, and not the half of each axis.
``--mapped``: b2nd and python-blosc2 map their files into memory, as nnU-Net does.
"""

import argparse
import json
import multiprocessing
import os
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np


class B2nd:
    name, mapped = "b2nd", False

    def __init__(self, threads):
        import b2nd

        self.b2nd, self.threads = b2nd, threads

    def write(self, path, items, chunks, blocks, level):
        self.b2nd.array(items, urlpath=path, chunks=chunks, blocks=blocks, codec="zstd", clevel=level, nthreads=self.threads, durability="none").close()

    def open(self, path):
        return self.b2nd.open(path, nthreads=self.threads, mmap=self.mapped)


class Blosc2:
    name, mapped = "python-blosc2", False

    def __init__(self, threads):
        import blosc2

        self.blosc2, self.threads = blosc2, threads
        blosc2.set_nthreads(threads)

    def write(self, path, items, chunks, blocks, level):
        cparams = {"codec": self.blosc2.Codec.ZSTD, "clevel": level, "filters": [self.blosc2.Filter.SHUFFLE], "nthreads": self.threads}
        self.blosc2.asarray(items, urlpath=path, mode="w", chunks=chunks, blocks=blocks, cparams=cparams)

    def open(self, path):
        return self.blosc2.open(path, mode="r", dparams={"nthreads": self.threads}, mmap_mode="r" if self.mapped else None)


class Zarr:
    name = "zarr"

    def __init__(self, threads):
        import zarr

        self.zarr = zarr
        zarr.config.set({"threading.max_workers": threads, "codec_pipeline.path": self.pipeline()})

    def pipeline(self):
        return "zarr.core.codec_pipeline.BatchedCodecPipeline"

    def write(self, path, items, chunks, blocks, level):
        codec = self.zarr.codecs.BloscCodec(cname="zstd", clevel=level, shuffle="shuffle", typesize=items.dtype.itemsize)
        made = self.zarr.create_array(path, shape=items.shape, dtype=items.dtype, chunks=chunks, compressors=codec)
        made[...] = items

    def open(self, path):
        return self.zarr.open_array(path, mode="r")


class Zarrs(Zarr):
    name = "zarr with zarrs"

    def pipeline(self):
        import zarrs  # noqa: F401

        return "zarrs.ZarrsCodecPipeline"


class H5py:
    name = "h5py, Blosc2"

    def __init__(self, threads):
        import h5py
        import hdf5plugin

        self.h5py, self.plugin = h5py, hdf5plugin

    def write(self, path, items, chunks, blocks, level):
        with self.h5py.File(path, "w") as file:
            codec = self.plugin.Blosc2(cname="zstd", clevel=level, filters=self.plugin.Blosc2.SHUFFLE)
            file.create_dataset("a", data=items, chunks=chunks, compression=codec)

    def open(self, path):
        return self.h5py.File(path, "r")["a"]


class Tensorstore:
    name = "tensorstore"

    def __init__(self, threads):
        import tensorstore

        self.ts, self.context = tensorstore, {"data_copy_concurrency": {"limit": threads}}

    def write(self, path, items, chunks, blocks, level):
        spec = {
            "driver": "zarr", "kvstore": {"driver": "file", "path": path},
            "metadata": {
                "shape": items.shape, "chunks": chunks, "dtype": items.dtype.str,
                "compressor": {"id": "blosc", "cname": "zstd", "clevel": level, "shuffle": 1},
            },
        }  # fmt: skip
        self.ts.open(spec, create=True, context=self.ts.Context(self.context)).result()[...] = items

    def open(self, path):
        spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": path}}
        return Reader(self.ts.open(spec, context=self.ts.Context(self.context)).result())


class Reader:
    def __init__(self, store):
        self.store = store

    def __getitem__(self, key):
        return self.store[key].read().result()


def fields(full):
    """What is stored: a name, the items, chunks, blocks, and the level."""
    rng = np.random.default_rng(0)
    shape = [length if full else length // 2 for length in (50, 100, 300, 250)]
    axes = np.ogrid[tuple(slice(length) for length in shape)]
    four = np.sin(axes[0] / 9) + np.cos(axes[1] / 17) + np.sin(axes[2] / 31) * np.cos(axes[3] / 23)
    four = np.round(four * 1024) / 1024 + rng.integers(0, 4, shape, dtype="u1") / 1024
    yield "planes", four, (10, 25, 50, 50), (3, 5, 10, 20), 1
    # What nnU-Net's rule gives for patches of 128 items a side.
    yield "crops", scan(), (1, 80, 64, 64), (1, 16, 16, 16), 5


def scan():
    """A scan brought to other voxels and normalised: smooth, with noise, and no two items alike."""
    rng = np.random.default_rng(0)
    made = rng.normal(size=(33, 33, 33)).astype("f4")
    at = np.linspace(0, 32, 512, dtype="f4")
    below = np.minimum(at.astype(int), 31)
    for _ in range(3):
        share = (at - below).astype("f4")[:, None, None]
        made = np.ascontiguousarray(np.moveaxis(made[below] * (1 - share) + made[below + 1] * share, 0, 2))
    made += rng.normal(scale=0.05, size=made.shape)
    return made[None]


def cells(group, items, threads):
    """The work: a name, the bytes that it gives, and what is done with an open array for turn `n`."""
    rng = np.random.default_rng(1)
    if group == "planes":
        for axis in range(items.ndim):
            count = items.shape[axis]
            places = rng.integers(0, count, 1000)
            size = items.nbytes // count
            yield f"plane along axis {axis}", size, lambda a, n, axis=axis, places=places: a[(slice(None),) * axis + (int(places[n % 1000]),)]
    else:
        corners = rng.integers(0, 512 - 128 + 1, (1000, 3))

        def crop(a, n):
            x, y, z = (int(at) for at in corners[n % 1000])
            return a[0:1, x : x + 128, y : y + 128, z : z + 128]

        yield "random crops (1,128,128,128)", 4 << 21, crop
        if threads > 1:
            pool = ThreadPoolExecutor(threads)
            yield f"random crops, {threads} threads at once", 8 * (4 << 21), lambda a, n: list(pool.map(lambda k: crop(a, 8 * n + k), range(8)))[-1]
    yield "whole", items.nbytes, lambda a, n: a[...]


def timed(engines, work, threads, seconds):
    """The times of each turn, in which all engines do the same work, in an order of its own: what one leaves behind meets all."""
    times = {kind.name: [] for kind, _, _ in engines}
    order = np.random.default_rng(2)
    until, n = time.perf_counter() + seconds * len(engines), 0
    while n < 9 or time.perf_counter() < until:
        for at in order.permutation(len(engines)):
            kind, array, _ = engines[at]
            kind(threads)
            started = time.perf_counter()
            work(array, n)
            times[kind.name].append(time.perf_counter() - started)
        n += 1
    return times


def measure(asked, threads):
    """Times everything on so many threads: in a process of its own, as those that a library has started stay on their processors."""
    B2nd.mapped = Blosc2.mapped = asked.mapped
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    found = []
    for group, items, chunks, blocks, level in fields(asked.full):
        if asked.only and asked.only not in group:
            continue
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            engines = []
            for kind in (B2nd, Blosc2, Zarr, Zarrs, Tensorstore, H5py):
                try:
                    engine = kind(threads)
                except ImportError:
                    continue
                path = os.path.join(folder, kind.__name__)
                started = time.perf_counter()
                engine.write(path, items, chunks, blocks, level)
                wrote = time.perf_counter() - started
                array = engine.open(path)
                assert np.array_equal(np.asarray(array[...]), items), f"{kind.name}: what is read is not what was written"
                engines.append((kind, array, wrote))
            report(found, group, "write", threads, items.nbytes, {kind.name: [wrote] for kind, _, wrote in engines})
            for name, size, work in cells(group, items, threads):
                report(found, group, name, threads, size, timed(engines, work, threads, asked.seconds))
    return found


def report(found, group, cell, threads, size, times):
    """The median times, and the medians of what each takes of our time in the same turn."""
    median = {name: statistics.median(taken) for name, taken in times.items()}
    ratios = {name: statistics.median(t / o for t, o in zip(taken, times["b2nd"], strict=True)) for name, taken in times.items()}
    line = ", ".join(f"{name} {size / median[name] / 1e6:,.0f} MB/s ({ratios[name]:.2f}x)" for name in times)
    print(f"{group:7} {threads} threads, {cell:32}: {line}", flush=True)
    turns = len(times["b2nd"])
    found.append({"group": group, "cell": cell, "threads": threads, "bytes": size, "turns": turns, "seconds": median, "ratios": ratios})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--mapped", action="store_true")
    parser.add_argument("--folder")
    parser.add_argument("--json")
    asked = parser.parse_args()
    found = []
    for threads in asked.threads:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            found += process.submit(measure, asked, threads).result()
    if asked.json:
        with open(asked.json, "w") as out:
            json.dump(found, out, indent=1)


if __name__ == "__main__":
    main()
