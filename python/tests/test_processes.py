"""Arrays in many threads and processes: forked, spawned, served; and operations that are stopped."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import b2nd

SHAPE = (8, 64, 64, 64)
CROP = 24


def field():
    rng = np.random.default_rng(0)
    return rng.normal(size=SHAPE).round(1).astype("f4")


def crops(array, seed, count=20):
    """Random crops, as loaders of medical images take them: the sum of each with its place."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        at = [int(rng.integers(0, n - CROP + 1)) for n in SHAPE[1:]]
        key = (int(rng.integers(0, SHAPE[0])), *[slice(n, n + CROP) for n in at])
        found.append((key, float(array[key].sum(dtype="f8"))))
    return found


def in_worker(job):
    array, seed = job
    return crops(array, seed)


_inherited = None


def in_forked_worker(seed):
    return crops(_inherited, seed)


def check(found, items):
    for key, total in found:
        assert total == float(items[key].sum(dtype="f8"))


@pytest.fixture
def stored(path):
    items = field()
    b2nd.array(items, urlpath=path, chunks=(1, 32, 32, 64), blocks=(1, 16, 16, 16), codec="lz4").close()
    return items, path


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_eight_workers_read_crops(method, stored):
    items, path = stored
    a = b2nd.open(path, nthreads=4)
    a[...]  # threads of the parent are there, and must not be missed
    context = multiprocessing.get_context(method)
    with context.Pool(8) as pool:
        for found in pool.imap_unordered(in_worker, [(a, seed) for seed in range(16)], chunksize=1):
            check(found, items)


def test_children_read_the_array_that_they_inherit(stored):
    global _inherited
    items, path = stored
    for make in (lambda: b2nd.open(path, nthreads=4, block_cache=1 << 20), lambda: b2nd.array(items, nthreads=4)):
        _inherited = make()
        _inherited[...]
        stop = threading.Event()

        def read(array=_inherited, stop=stop):
            while not stop.is_set():
                array[0, :20, ::3]

        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        try:
            # Forks in the middle of what the threads do.
            for _ in range(4):
                with multiprocessing.get_context("fork").Pool(8) as pool:
                    for found in pool.map(in_forked_worker, range(8), chunksize=1):
                        check(found, items)
        finally:
            stop.set()
            for reader in readers:
                reader.join()


def test_threads_share_an_array(stored):
    items, path = stored
    a = b2nd.open(path)
    failures = []

    def read(seed):
        try:
            check(crops(a, seed), items)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_readers_and_a_writer_of_one_handle(path):
    a = b2nd.zeros((64, 64), "i8", urlpath=path, chunks=(16, 16), durability="none")
    failures, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            rows = a[...]
            if rows.min() != rows.max():
                failures.append(rows)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    try:
        for value in range(50):
            a[...] = value
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert not failures and a[0, 0] == 49


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_write_does_not_wait_for_a_read(path, on_disk):
    items = np.random.default_rng(0).integers(0, 3, 64 << 20, "u1")
    kept = {"urlpath": path} if on_disk else {}
    a = b2nd.array(items, codec="zlib", clevel=1, filters=[], nthreads=1, chunks=4 << 20, **kept)
    reading, written, found = threading.Event(), threading.Event(), []

    def told(_):
        # In the middle of the read, which goes on when the write is done.
        reading.set()
        assert written.wait(60)

    def read():
        with b2nd.progress(told):
            found.append(a[...])

    reader = threading.Thread(target=read)
    reader.start()
    assert reading.wait(60)
    a[:10] = 9
    a[-10:] = 9
    written.set()
    reader.join()
    assert np.array_equal(found[0], items)
    assert (a[:10] == 9).all() and (a[-10:] == 9).all()


def test_the_interpreter_is_free_meanwhile():
    a = b2nd.array(np.random.default_rng(0).normal(size=4_000_000), codec="zstd", nthreads=1)
    turns, stop = [0], threading.Event()

    def turn():
        while not stop.is_set():
            turns[0] += 1
            time.sleep(0.0005)

    other = threading.Thread(target=turn)
    other.start()
    before = turns[0]
    for _ in range(5):
        a[...]
    during = turns[0] - before
    stop.set()
    other.join()
    assert during > 10


def run(program, path, *, wait=None):
    """Runs a program; with ``wait``, Ctrl-C comes so long after it says `ready`."""
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n", child.stderr.read()
    time.sleep(wait)
    child.send_signal(signal.SIGINT)
    started = time.monotonic()
    out, err = child.communicate(timeout=60)
    return out, err, time.monotonic() - started


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as on Unix")
@pytest.mark.parametrize("work", ["a.var(0)", "a.verify()", "a.copy(clevel=9, codec='zstd')", "b2nd.array(x, codec='zstd', clevel=9)"])
def test_ctrl_c_stops_what_takes_long(work, path):
    program = f"""
        import signal, sys, numpy as np, b2nd
        # Where the tests run in the background of a shell, Ctrl-C is ignored from the start.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        x = np.random.default_rng(0).integers(0, 1000, 6_000_000).astype("f8")
        a = b2nd.array(x, codec="zstd", clevel=1, chunks=100_000, nthreads=2)
        print("ready", flush=True)
        try:
            while True:
                {work}
        except KeyboardInterrupt:
            # The array is as good as before.
            print(int(a[:5].sum() == x[:5].sum()), flush=True)
    """
    out, err, took = run(program, path, wait=0.3)
    assert out == "1\n" and not err, err
    # A chunk of this level that is begun is ended, on a busy machine too.
    assert took < 30


def test_progress_is_told(path):
    x = np.random.default_rng(0).integers(0, 1000, 4_000_000).astype("f8")
    told = []
    with b2nd.progress(told.append):
        a = b2nd.array(x, codec="zstd", clevel=9, urlpath=path, chunks=100_000)
    assert told == sorted(told) and told[-1] == x.nbytes
    count = len(told)
    b2nd.array(x, codec="zstd", clevel=9)
    assert len(told) == count

    def refuse(done):
        raise RuntimeError(f"enough after {done}")

    with pytest.raises(RuntimeError, match="enough"), b2nd.progress(refuse):
        b2nd.array(x, codec="zstd", clevel=9)
    with b2nd.progress(total=x.nbytes, label="sum"):
        a.sum()

    def nosy(done):
        assert a.shape == x.shape and a[3] == x[3]

    with b2nd.progress(nosy):
        a.copy(codec="zstd", clevel=9)


def test_a_killed_writer_leaves_the_old_state(path):
    b2nd.zeros(100_000, "i8", urlpath=path, chunks=1000).close()
    program = """
        import sys, b2nd
        a = b2nd.open(sys.argv[1], "r+", durability="none")
        print("ready", flush=True)
        n = 0
        while True:
            n += 1
            a[...] = n
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program), path], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.2)
    child.kill()
    child.wait()
    child.stdout.close()
    with b2nd.open(path, "r+") as a:
        rows = a[...]
        assert rows.min() == rows.max() and a.verify()


def test_many_processes_fill_one_array(path):
    job = b2nd.FillJob.begin(path, (60, 50), "f4", chunks=(10, 50))
    with multiprocessing.get_context("fork").Pool(3) as pool:
        receipts = pool.starmap(fill, [(path, n) for n in range(0, 60, 20)])
    assert job.missing() == list(range(6))
    assert job.commit(receipts[0]) == (2, 4) and job.commit(receipts[0]) == (0, 4)
    with pytest.raises(b2nd.UsageError):
        job.write(np.s_[5:15], 1)
    with pytest.raises(b2nd.UsageError):
        b2nd.FillJob.join(path).finish(receipts[1])
    a = job.finish(receipts[2])
    np.testing.assert_array_equal(a[...], np.repeat(np.arange(60, dtype="f4"), 50).reshape(60, 50))
    with pytest.raises(b2nd.UsageError):
        job.missing()
    assert not os.path.exists(path + ".parts")


def fill(path, start):
    rows = np.repeat(np.arange(start, start + 20, dtype="f8"), 50).reshape(20, 50)
    return b2nd.FillJob.join(path).write(np.s_[start : start + 20], rows)
