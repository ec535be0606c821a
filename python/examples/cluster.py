"""Writes an array from the workers of a cluster, some of which are killed, compares it, and reads it back with more and more workers.

    python cluster.py [--gigabytes 4] [--workers 4] [--kills 6] [--folder DIRECTORY]

Everything is on one machine here; on many, the folder has to be one that all of them reach.
"""

import argparse
import os
import random
import shutil
import signal
import tempfile
import threading
import time

import dask
import dask.array as da
import distributed
import numpy as np

import b2nd

SIDE = 1024
CHUNK = (4, 512, 1024)  # 8 MiB
PIECE = (16, 1024, 1024)  # 64 MiB


def piece_of(number: int, shape: tuple[int, ...]) -> np.ndarray:
    """The items of a piece, by its number alone: smooth, with some noise."""
    rng = np.random.default_rng(number)
    wave = np.sin(np.arange(shape[1], dtype="f4") / 50 + number)[None, :, None]
    return (1000 * wave + rng.integers(0, 8, shape)).astype("f4")


def made(block_info: dict) -> np.ndarray:
    place = block_info[None]
    return piece_of(place["chunk-location"][0], place["chunk-shape"])


def wrong_items(block: np.ndarray, block_info: dict) -> np.ndarray:
    """How many items of a piece are not what was to be written."""
    wrong = np.count_nonzero(block != piece_of(block_info[0]["chunk-location"][0], block.shape))
    return np.full((1, 1, 1), wrong, "i8")


def kill_workers(client: distributed.Client, kills: int, seconds: float, stop: threading.Event) -> None:
    """Kills workers at random moments; the cluster starts others."""
    rng, killed = random.Random(os.getpid()), 0
    while killed < kills and not stop.wait(rng.uniform(0.2, 1.8) * seconds):
        pids = list(client.run(os.getpid, on_error="ignore").values())
        try:
            os.kill(rng.choice(pids), signal.SIGKILL)
            killed += 1
            print(f"killed a worker ({killed})", flush=True)
        except (ProcessLookupError, IndexError):
            pass


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--folder")
    asked = parser.parse_args()
    folder = tempfile.mkdtemp(dir=asked.folder)
    path = os.path.join(folder, "big.b2nd")
    rows = max(int(asked.gigabytes * 1e9) // (4 * SIDE * SIDE) // PIECE[0], 1) * PIECE[0]
    dask.config.set({"distributed.scheduler.allowed-failures": 50})
    try:
        with distributed.LocalCluster(n_workers=asked.workers, threads_per_worker=1, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                source = da.map_blocks(made, chunks=((PIECE[0],) * (rows // PIECE[0]), (SIDE,), (SIDE,)), dtype="f4", meta=np.empty((0, 0, 0), "f4"))
                print(f"{source.nbytes / 1e9:.2f} GB in {source.npartitions} pieces, {asked.workers} workers", flush=True)
                started, stop = time.monotonic(), threading.Event()
                killer = threading.Thread(target=kill_workers, args=(client, asked.kills, 2.0, stop))
                killer.start()
                future = client.compute(b2nd.from_dask(source, path, chunks=CHUNK, codec="lz4", nthreads=1, compute=False))
                distributed.wait(future)
                stop.set()
                killer.join()
                future.result()
                took = time.monotonic() - started
                size = os.path.getsize(path)
                print(f"written in {took:.1f} s, {source.nbytes / 1e6 / took:.0f} MB/s, {size / 1e9:.2f} GB compressed", flush=True)
                a = b2nd.open(path)
                assert a.verify(), "the array is damaged"
                found = da.map_blocks(wrong_items, b2nd.to_dask(a, chunks=PIECE), chunks=(1, 1, 1), dtype="i8", meta=np.empty((0, 0, 0), "i8"))
                wrong = int(client.compute(found.sum()).result())
                assert wrong == 0, f"{wrong} items are not what was written"
                print("complete and equal", flush=True)
        for workers in range(1, asked.workers + 1):
            with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
                with distributed.Client(cluster) as client:
                    started = time.monotonic()
                    total = client.compute(b2nd.to_dask(b2nd.open(path, nthreads=1), chunks=PIECE).sum(dtype="f8")).result()
                    took = time.monotonic() - started
                    print(f"read and summed by {workers}: {took:.2f} s, {a.nbytes / 1e6 / took:.0f} MB/s (sum {total:.0f})", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
