"""One array, filled by many processes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _b2nd, _dtypes, _indexing, _msgpack
from ._array import Array
from ._options import making, opening, saving


class FillJob:
    """A job that fills a new array from many processes, machines or threads, without locks.

    One process begins it (:meth:`begin`); workers join by the path (:meth:`join`) and write whole chunks, each of which gives a
    receipt, a short text; whoever has the receipts commits them. A worker that is killed costs what it had not finished, and a chunk
    that is written again is the same chunk.

    >>> import b2nd, numpy as np, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "filled.b2nd")
    >>> job = b2nd.FillJob.begin(path, (4, 6), "i4", chunks=(2, 6))
    >>> worker = b2nd.FillJob.join(path)
    >>> receipts = worker.write(np.s_[:2], np.ones((2, 6), "i4")) + worker.write(np.s_[2:], 7)
    >>> a = job.finish(receipts)
    >>> int(a.sum())
    96
    """

    __slots__ = ("_job", "chunks", "dtype", "shape")

    def __init__(self, job: _b2nd.FillJob, dtype: np.dtype[Any] | None = None) -> None:
        shape, chunks, text = job.layout()
        self._job = job
        #: The shape of the array.
        self.shape = tuple(shape)
        #: The shape of its chunks: what is written is made of whole ones.
        self.chunks = tuple(chunks)
        #: The dtype of its items.
        self.dtype = _dtypes.from_text(text) if dtype is None else dtype

    @classmethod
    def begin(cls, urlpath: str | os.PathLike[str], shape: Sequence[int] | int, dtype: Any = np.float64, **options: Any) -> FillJob:
        """Makes the array, with nothing in it, and the folder ``NAME.parts`` beside it for what workers finish.

        For the options see :func:`b2nd.empty`. With ``overwrite=True`` an unfinished job at the path is replaced too.
        """
        of = np.dtype(dtype)
        made = making(**options)
        if _dtypes.is_foreign(of):
            made["vlmeta"] = [*made.get("vlmeta", []), (_dtypes.NAME_LAYER, _msgpack.pack(of.name))]
        lengths = [shape] if isinstance(shape, int) else [int(length) for length in shape]
        path = os.fspath(urlpath)
        job = cls(_b2nd.FillJob.begin(path, _dtypes.to_text(of), lengths, made), of)
        if "vlmeta" in made:
            # The job holds no array of Python's; this one is for the warning.
            with Array._made(_b2nd.open(path, opening()), made):
                pass
        return job

    @classmethod
    def join(cls, urlpath: str | os.PathLike[str], *, nthreads: int | None = None, durability: Any = None) -> FillJob:
        """Joins the job that was begun at a path."""
        path = os.fspath(urlpath)
        with Array._of(_b2nd.open(path, opening())) as array:
            dtype = array.dtype
        return cls(_b2nd.FillJob.join(path, opening(nthreads=nthreads, durability=durability)), dtype)

    @property
    def path(self) -> str:
        """Where the array is."""
        return os.fspath(self._job.path)

    def write(self, key: Any, value: Any) -> list[str]:
        """Writes a box of whole chunks, given by slices; a receipt for each chunk."""
        plan = _indexing.plan(key, self.shape)
        items = np.broadcast_to(np.asarray(value).astype(self.dtype, copy=False), plan.shape)
        return self._job.write(plan.selection, _dtypes.as_bytes(np.ascontiguousarray(items)))

    def commit(self, receipts: Iterable[str]) -> tuple[int, int]:
        """Puts chunks into the array by their receipts, all at once: how many were new, and how many are missing still.

        A commit whose outcome is not known is simply made again.
        """
        return self._job.commit(list(receipts))

    def missing(self) -> list[int]:
        """The numbers of the chunks that nobody has committed yet."""
        return self._job.missing()

    def finish(self, receipts: Iterable[str] = ()) -> Array:
        """Commits the last receipts and ends the job; the array, for reading. An error where chunks are missing."""
        return Array._of(self._job.finish(list(receipts)))

    def pack(self, receipts: Iterable[str], urlpath: str | os.PathLike[str], **options: Any) -> None:
        """As :meth:`finish`, and saves the array as one compact file at another path."""
        self._job.pack(list(receipts), os.fspath(urlpath), saving(**options))

    def abandon(self) -> None:
        """Ends the job without a result: removes the folder of the parts and the array, whatever was committed to it."""
        self._job.abandon()

    def __reduce__(self) -> Any:
        return _joined, (os.path.abspath(self.path),)


def _joined(path: str) -> FillJob:
    return FillJob.join(path)
