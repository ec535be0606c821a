"""Dask reads and writes, on threads and on a cluster of processes of which some are killed."""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest

import b2nd

da = pytest.importorskip("dask.array")


def test_reading_by_dask(path):
    items = np.arange(60 * 40, dtype="f4").reshape(60, 40)
    a = b2nd.array(items, urlpath=path, chunks=(16, 16), blocks=(4, 8))
    d = b2nd.to_dask(a, chunks=None)
    assert d.chunks == ((16, 16, 16, 12), (16, 16, 8)) and d.dtype == items.dtype
    np.testing.assert_array_equal(d[3:50, ::-2].compute(), items[3:50, ::-2])
    assert b2nd.to_dask(a).numblocks == (1, 1)
    assert b2nd.to_dask(a).name == b2nd.to_dask(b2nd.open(path)).name
    a[0] = 1
    assert b2nd.to_dask(a).name != d.name
    np.testing.assert_array_equal(da.from_array(a.T, chunks=a.T.chunks).sum(axis=0).compute(), a[...].sum(axis=1))
    target = b2nd.zeros((60, 40), "f4", chunks=(16, 16))
    da.store(d, target)
    np.testing.assert_array_equal(target[...], a[...])
    part = b2nd.zeros((70, 40), "f4")
    da.store(da.from_array(items, chunks=7), part, regions=(slice(10, None), slice(None)))
    np.testing.assert_array_equal(part[10:], items)


@pytest.mark.parametrize("pieces", [(16, 16), (7, 40), (60, 1), ((5, 50, 5), 13)])
@pytest.mark.parametrize("chunks", [None, (16, 20), (60, 40)])
def test_writing_by_dask(path, pieces, chunks):
    items = np.arange(60 * 40, dtype="i4").reshape(60, 40)
    a = b2nd.from_dask(da.from_array(items, chunks=pieces), path, chunks=chunks, codec="lz4", attrs={"unit": "m"})
    np.testing.assert_array_equal(a[...], items)
    assert a.codec == "lz4" and a.attrs["unit"] == "m" and (chunks is None or a.chunks == chunks)
    assert not os.path.exists(path + ".parts")
    with pytest.raises(b2nd.Error):
        b2nd.from_dask(da.zeros(3), path)


def test_what_is_written_later(path):
    later = b2nd.from_dask(da.full((30, 3), 2.0, chunks=(4, 3)), path, compute=False)
    assert b2nd.open(path).sum() == 0
    assert later.compute().sum() == 180
    for shape in ((), (0, 3)):
        assert b2nd.from_dask(da.zeros(shape), f"{path}{len(shape)}").shape == shape


class Failed(Exception):
    pass


def fails_at_the_end(block, block_info=None):
    if block_info[0]["chunk-location"] == (2, 1):
        time.sleep(0.1)
        raise Failed
    return block


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("scheduler", ["threads", "sync"])
def test_a_task_that_fails_leaves_nothing(path, scheduler, sparse):
    import dask

    source = da.ones((30, 20), chunks=(10, 10), dtype="f4")
    failing = source.map_blocks(fails_at_the_end, dtype="f4", meta=np.empty((0, 0), "f4"))
    with dask.config.set(scheduler=scheduler):
        for _ in range(2):
            with pytest.raises(Failed):
                b2nd.from_dask(failing, path, chunks=(10, 10), sparse=sparse)
            assert os.listdir(os.path.dirname(path)) == []
        assert b2nd.from_dask(source, path, sparse=sparse).sum() == 600


def test_workers_notice_that_a_path_has_a_new_job(path):
    from b2nd.dask import _write

    # Inode numbers are reused at once on some file systems, after a while on others.
    for _ in range(20):
        job = b2nd.FillJob.begin(path, (4,), "i4", chunks=(4,))
        assert job.commit(_write(path, (0,), np.ones(4, "i4"))) == (1, 0)
        job.abandon()


def test_a_job_that_was_left_is_overwritten_or_abandoned(path):
    source = da.ones((30, 20), chunks=(10, 10), dtype="f4")
    failing = source.map_blocks(fails_at_the_end, dtype="f4", meta=np.empty((0, 0), "f4"))
    with pytest.raises(Failed):
        b2nd.from_dask(failing, path, compute=False).compute()
    assert os.path.exists(path + ".parts")
    with pytest.raises(b2nd.Error):
        b2nd.from_dask(source, path)
    assert b2nd.from_dask(source, path, overwrite=True).sum() == 600
    b2nd.from_dask(failing, path, compute=False, overwrite=True)
    left = b2nd.FillJob.join(path)
    left.abandon()
    assert os.listdir(os.path.dirname(path)) == []
    with pytest.raises(b2nd.UsageError):
        left.abandon()
    assert b2nd.from_dask(source, path).sum() == 600


def pieces_of(number, shape):
    rng = np.random.default_rng(number)
    return rng.integers(0, 1000, shape).astype("f4")


def made(block_info=None):
    place = block_info[None]
    time.sleep(0.05)
    return pieces_of(int(np.ravel_multi_index(place["chunk-location"], place["num-chunks"])), place["chunk-shape"])


def test_a_cluster_writes_although_workers_are_killed(path):
    distributed = pytest.importorskip("dask.distributed")
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 20, "distributed.logging.distributed": "critical"}),
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        chunks = ((50,) * 8, (80,) * 5)
        source = da.map_blocks(made, chunks=chunks, dtype="f4", meta=np.empty((0, 0), "f4"))
        pids = list(client.run(os.getpid).values())
        future = client.compute(b2nd.from_dask(source, path, chunks=(50, 40), compute=False))
        killer = threading.Thread(target=kill_some, args=(pids[:2],))
        killer.start()
        distributed.wait(future, timeout=120)
        killer.join()
        a = b2nd.open(path)
        for number, (row, column) in enumerate(np.ndindex(8, 5)):
            part = a[row * 50 : row * 50 + 50, column * 80 : column * 80 + 80]
            np.testing.assert_array_equal(part, pieces_of(number, (50, 80)))
        assert not os.path.exists(path + ".parts") and a.verify()
        d = b2nd.to_dask(a, chunks=None)
        assert float(client.compute(d.sum(dtype="f8")).result(timeout=60)) == float(a[...].sum(dtype="f8"))


def kill_some(pids):
    for pid in pids:
        time.sleep(random.uniform(0.1, 0.6))
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
