"""python-blosc2's half of tests/all/peer_lock.rs: handles with locking that write while b2nd does. `versions`, `append`, `rows`."""

import random
import sys
import time

import blosc2
import numpy as np

ITEMS = 500


def content(writer, n):
    items = np.arange(ITEMS, dtype="<u8") // 9 + writer * 1000 + n
    items[:2] = writer, n
    return items


def append(path, writer, count):
    schunk = blosc2.open(path, mode="a", locking=True)
    rng = random.Random(writer)
    for n in range(count):
        schunk.append_data(content(writer, n))
        print("ack", writer, n, flush=True)
        time.sleep(rng.random() * 0.004)


def rows(path, writer, count):
    array = blosc2.open(path, mode="a", locking=True)
    rng = random.Random(writer)
    for n in range(count):
        for row in range(writer, array.shape[0], 4):
            array[row] = content(writer, n * 100 + row)
            time.sleep(rng.random() * 0.002)
    print("ack", writer, count, flush=True)


def watch(path, stop):
    """One handle, open all the time: it must see what b2nd commits."""
    schunk = blosc2.open(path, mode="r", locking=True)
    seen = set()
    deadline = time.time() + 60
    while schunk.nchunks < stop and time.time() < deadline:
        # A read looks for changes; the count of chunks alone does not.
        last = schunk.decompress_chunk(max(schunk.nchunks - 1, 0))
        writer, n = np.frombuffer(last, dtype="<u8")[:2]
        assert np.array_equal(np.frombuffer(last, dtype="<u8"), content(int(writer), int(n))), (writer, n)
        seen.add(schunk.nchunks)
        time.sleep(0.002)
    for n in range(schunk.nchunks):
        writer, number = np.frombuffer(schunk.decompress_chunk(n), dtype="<u8")[:2]
        print("saw", writer, number)
    print("steps", len(seen), flush=True)


def hold(path, seconds):
    schunk = blosc2.open(path, mode="a", locking=True)
    with schunk.holding_lock():
        print("held", flush=True)
        time.sleep(seconds)


if __name__ == "__main__":
    verb, arguments = sys.argv[1], sys.argv[2:]
    if verb == "versions":
        print(blosc2.__version__, np.__version__, blosc2.blosclib_version.split(" ")[0])
    else:
        verbs = {"append": append, "rows": rows, "watch": watch, "hold": hold}
        verbs[verb](arguments[0], *[int(argument) for argument in arguments[1:]])
