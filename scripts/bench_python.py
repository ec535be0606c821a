"""The Python package next to python-blosc2, zarr (with and without the zarrs pipeline), tensorstore and h5py, as far as they are installed.

    .venv-package/bin/python scripts/bench_python.py [--seconds 0.5] [--threads 1 2] [--only crops] [--json out.json]

All have the same chunks, and compress with zstd 5 and a shuffle where they can. What is read is compared with what was written
before any time is taken. Times are the best of some repetitions, engines in turn.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np


class B2nd:
    name = "b2nd"

    def __init__(self, threads):
        import b2nd

        self.b2nd, self.threads = b2nd, threads

    def write(self, path, items, chunks, blocks):
        self.b2nd.array(items, urlpath=path, chunks=chunks, blocks=blocks, codec="zstd", clevel=5, nthreads=self.threads, durability="none").close()

    def open(self, path):
        return self.b2nd.open(path, nthreads=self.threads)


class Blosc2:
    name = "python-blosc2"

    def __init__(self, threads):
        import blosc2

        self.blosc2, self.threads = blosc2, threads
        blosc2.set_nthreads(threads)

    def write(self, path, items, chunks, blocks):
        cparams = {"codec": self.blosc2.Codec.ZSTD, "clevel": 5, "filters": [self.blosc2.Filter.SHUFFLE], "nthreads": self.threads}
        self.blosc2.asarray(items, urlpath=path, mode="w", chunks=chunks, blocks=blocks, cparams=cparams)

    def open(self, path):
        return self.blosc2.open(path, mode="r", dparams={"nthreads": self.threads})


class Zarr:
    name = "zarr"

    def __init__(self, threads):
        import zarr

        self.zarr = zarr
        zarr.config.set({"threading.max_workers": threads, "codec_pipeline.path": self.pipeline()})

    def pipeline(self):
        return "zarr.core.codec_pipeline.BatchedCodecPipeline"

    def write(self, path, items, chunks, blocks):
        codec = self.zarr.codecs.BloscCodec(cname="zstd", clevel=5, shuffle="shuffle", typesize=items.dtype.itemsize)
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
    name = "h5py"

    def __init__(self, threads):
        import h5py

        self.h5py = h5py

    def write(self, path, items, chunks, blocks):
        with self.h5py.File(path, "w") as file:
            file.create_dataset("a", data=items, chunks=chunks, compression="gzip", compression_opts=5, shuffle=True)

    def open(self, path):
        return self.h5py.File(path, "r")["a"]


class Tensorstore:
    name = "tensorstore"

    def __init__(self, threads):
        import tensorstore

        self.ts, self.context = tensorstore, {"data_copy_concurrency": {"limit": threads}}

    def write(self, path, items, chunks, blocks):
        spec = {
            "driver": "zarr", "kvstore": {"driver": "file", "path": path},
            "metadata": {
                "shape": items.shape, "chunks": chunks, "dtype": items.dtype.str,
                "compressor": {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 1},
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


def fields():
    """What is stored: a name, the items, chunks and blocks."""
    rng = np.random.default_rng(0)
    axes = np.ogrid[:50, :100, :300, :250]
    four = (np.sin(axes[0] / 9) + np.cos(axes[1] / 17) + np.sin(axes[2] / 31) * np.cos(axes[3] / 23)).astype("f4")
    four += rng.integers(0, 16, four.shape, dtype="u1").astype("f4") / 256
    yield "planes", four, (10, 25, 50, 50), (5, 5, 25, 25)
    scan = np.repeat(np.repeat(rng.integers(0, 400, (1, 128, 128, 128), "i2"), 4, 1), 4, 2)
    scan = np.repeat(scan, 4, 3).astype("f4")
    scan += rng.integers(0, 8, scan.shape, dtype="u1")
    yield "crops", scan, (1, 128, 128, 128), (1, 32, 32, 32)


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


def timed(work, seconds):
    """The time of one turn: the best of those that fit."""
    best, end, n = float("inf"), time.perf_counter() + seconds, 0
    while n < 2 or time.perf_counter() < end:
        started = time.perf_counter()
        work(n)
        best = min(best, time.perf_counter() - started)
        n += 1
    return best


def measure(asked):
    found = []
    for group, items, chunks, blocks in fields():
        if asked.only and asked.only not in group:
            continue
        for threads in asked.threads:
            folder = tempfile.mkdtemp(dir=asked.folder)
            engines = []
            for kind in (B2nd, Blosc2, Zarr, Zarrs, Tensorstore, H5py):
                try:
                    engine = kind(threads)
                except ImportError:
                    continue
                path = os.path.join(folder, kind.__name__)
                started = time.perf_counter()
                engine.write(path, items, chunks, blocks)
                wrote = time.perf_counter() - started
                array = engine.open(path)
                assert np.array_equal(np.asarray(array[...]), items), f"{kind.name}: what is read is not what was written"
                engines.append((kind, array, wrote))
            report(found, group, "write", threads, items.nbytes, {kind.name: wrote for kind, _, wrote in engines})
            for name, size, work in cells(group, items, threads):
                times = {}
                for kind, array, _ in engines:
                    kind(threads)
                    times[kind.name] = timed(lambda n, array=array, work=work: work(array, n), asked.seconds)
                report(found, group, name, threads, size, times)
            shutil.rmtree(folder)
    return found


def report(found, group, cell, threads, size, times):
    ours = times["b2nd"]
    line = ", ".join(f"{name} {size / taken / 1e6:,.0f} MB/s ({taken / ours:.2f}x)" for name, taken in times.items())
    print(f"{group:7} {threads} threads, {cell:32}: {line}", flush=True)
    found.append({"group": group, "cell": cell, "threads": threads, "bytes": size, "seconds": times})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only")
    parser.add_argument("--folder")
    parser.add_argument("--json")
    asked = parser.parse_args()
    found = measure(asked)
    if asked.json:
        with open(asked.json, "w") as out:
            json.dump(found, out, indent=1)


if __name__ == "__main__":
    main()
