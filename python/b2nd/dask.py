"""Dask arrays of ours, and ours of Dask arrays.

Reading: each task opens the file where it runs (an array travels as its path) and reads without any lock. Writing: the tasks fill
one array by a :class:`b2nd.FillJob`, whole chunks each, and one commit puts them in. A worker that is killed on the way, and whose
tasks run again elsewhere, costs nothing but their time.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.base import tokenize

from ._array import Array
from ._errors import Error
from ._fill import FillJob


def to_dask(array: Array, chunks: Any = "auto", **options: Any) -> da.Array:
    """A Dask array of an array: its pieces are whole chunks, and it is read where and when they are computed.

    ``chunks="auto"`` takes as many chunks for a piece as Dask likes (``array.chunk-size`` in its configuration); ``None`` one each.

    >>> import b2nd
    >>> d = b2nd.to_dask(b2nd.ones((4, 6)), chunks=(2, 6))
    >>> float(d.sum().compute())
    24.0
    """
    if chunks is None:
        chunks = array.chunks
    elif chunks == "auto" and array.size:
        chunks = da.core.normalize_chunks("auto", array.shape, dtype=array.dtype, previous_chunks=array.chunks)
    name = options.pop("name", None) or f"b2nd-{tokenize(array, chunks)}"
    return da.from_array(array, chunks=chunks, name=name, lock=False, asarray=True, fancy=True, **options)


def from_dask(
    array: da.Array,
    urlpath: str | os.PathLike[str],
    *,
    chunks: Sequence[int] | int | None = None,
    compute: bool = True,
    **options: Any,
) -> Array | Any:
    """Computes a Dask array into a new array at a path that all workers reach, and opens it.

    The array's chunks are ``chunks``, or those of Dask where they are small and even enough to be a chunk. Where pieces and chunks do not fall together
    Dask rechunks, so that each task has whole chunks. A computation that fails leaves nothing at the path, and the error of the task is raised.

    ``compute=False`` gives a delayed object instead, and the array and the folder ``NAME.parts`` beside it are there from then on. When
    that computation fails they stay: ``FillJob.join(path).abandon()`` removes them, and ``overwrite=True`` replaces them.

    >>> import b2nd, dask.array as da, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.b2nd")
    >>> b2nd.from_dask(da.ones((4, 6), chunks=(2, 6)) * 2, path)[3]
    array([2., 2., 2., 2., 2., 2.])
    """
    if any(np.isnan(length) for length in array.shape):
        raise ValueError("the array has unknown lengths: call compute_chunk_sizes() first")
    path = os.path.abspath(os.fspath(urlpath))
    if chunks is None:
        chunks = _chunks(array)
    job = FillJob.begin(path, [int(n) for n in array.shape], array.dtype, chunks=chunks, **options)
    pieces = array.rechunk(_aligned(array, job.chunks))
    write = dask.delayed(_write, pure=False)
    blocks = pieces.to_delayed().reshape(-1) if pieces.ndim else [pieces.to_delayed()[()]]
    starts = [np.cumsum((0, *lengths[:-1])).tolist() for lengths in pieces.chunks]
    places = np.ndindex(*pieces.numblocks)
    receipts = [
        write(path, tuple(starts[axis][at] for axis, at in enumerate(place)), block)
        for place, block in zip(places, blocks, strict=True)
    ]
    finished = dask.delayed(_finish, pure=False)(path, receipts)
    if not compute:
        return finished
    try:
        return finished.compute()
    except BaseException:
        # The error of the task says more than one of the cleaning up.
        with contextlib.suppress(Error):
            job.abandon()
        raise


def _chunks(array: da.Array) -> tuple[int, ...] | None:
    """Dask's pieces, where they are a good size for a chunk; ``None`` for what b2nd would choose."""
    even = all(len(set(lengths[:-1])) <= 1 and lengths[-1] <= lengths[0] for lengths in array.chunks if lengths)
    size = int(np.prod(array.chunksize)) * array.dtype.itemsize
    return tuple(int(n) for n in array.chunksize) if even and 0 < size <= 32 << 20 else None


def _aligned(array: da.Array, chunks: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Pieces near those of Dask, made of whole chunks."""
    aligned = []
    for whole, own, chunk in zip(array.shape, array.chunksize, chunks, strict=True):
        length, step = int(whole), max(chunk, int(own) // max(chunk, 1) * chunk, 1)
        aligned.append(tuple(min(step, length - at) for at in range(0, length, step)) or (0,))
    return tuple(aligned)


@functools.lru_cache(maxsize=64)
def _joined(path: str, process: int, job: bytes) -> FillJob:
    return FillJob.join(path)


def _job(path: str) -> FillJob:
    """The job at a path: each process joins once."""
    # The file names the job. The folder's inode number does not: file systems give it to the next folder.
    with open(os.path.join(f"{path}.parts", "job"), "rb") as job:
        return _joined(path, os.getpid(), job.read())


def _write(path: str, start: tuple[int, ...], block: Any) -> list[str]:
    """Writes a piece: the receipts of its chunks."""
    items = np.asarray(block)
    if not items.size:
        return []
    return _job(path).write(tuple(slice(at, at + n) for at, n in zip(start, items.shape, strict=True)), items)


def _finish(path: str, receipts: list[list[str]]) -> Array:
    """The one commit."""
    return FillJob.join(path).finish(receipt for piece in receipts for receipt in piece)


