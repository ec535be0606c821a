"""Properties of an array: shape, dtype, compression, attributes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from . import _dtypes, _msgpack
from ._b2nd import Handle
from ._info import CParams, Info
from ._meta import Attributes, Metalayers
from ._operators import Refused
from ._options import Making


class Described(Refused):
    """An array's part that only tells of it: what :class:`b2nd.Array` is made on."""

    __slots__ = ("__weakref__", "_axes", "_dtype", "_handle")

    _handle: Handle
    _dtype: np.dtype[Any]
    #: Of a view: for each of its axes which of the array's it is, ``None`` for a new one.
    _axes: tuple[int | None, ...] | None

    @classmethod
    def _of(cls, handle: Handle, axes: tuple[int | None, ...] | None = None) -> Self:
        array = object.__new__(cls)
        array._handle, array._axes = handle, axes
        array._dtype = dtype_of(handle)
        return array

    @classmethod
    def _made(cls, handle: Handle, options: Making) -> Self:
        """The array that was just made with options."""
        array = cls._of(handle)
        if "vlmeta" in options:
            array.attrs._warn_if_crowded()
        return array

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self._arranged(self._handle.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an item."""
        return self._dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of items."""
        size = 1
        for length in self.shape:
            size *= length
        return size

    @property
    def itemsize(self) -> int:
        """The bytes of an item."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all items, uncompressed."""
        return self.size * self._dtype.itemsize

    @property
    def cbytes(self) -> int:
        """The bytes of the compressed chunks."""
        return self._handle.cbytes

    @property
    def cratio(self) -> float:
        """How many times smaller the chunks are than the items."""
        return self.nbytes / self.cbytes if self.cbytes else float("inf")

    @property
    def chunks(self) -> tuple[int, ...]:
        """The shape of a chunk, the unit of storage."""
        return self._arranged(self._handle.chunks)

    @property
    def blocks(self) -> tuple[int, ...]:
        """The shape of a block, the unit of decompression."""
        return self._arranged(self._handle.blocks)

    @property
    def nchunks(self) -> int:
        """The number of chunks."""
        return self._handle.nchunks

    @property
    def codec(self) -> str:
        """The name of the codec."""
        return self._handle.info()["codec"]

    @property
    def clevel(self) -> int:
        """The level of compression, 0 to 9."""
        return self._handle.info()["clevel"]

    @property
    def filters(self) -> list[tuple[str, int]]:
        """The names of the filters, with their parameters, in the order in which they are applied."""
        return self._handle.info()["filters"]

    @property
    def cparams(self) -> CParams:
        """How it is compressed, as options for another array: ``b2nd.array(x, **a.cparams)``."""
        told = self._handle.info()
        return CParams(**{name: told[name] for name in CParams.__dataclass_fields__})

    @property
    def urlpath(self) -> str | None:
        """Where it is; ``None`` for an array in memory."""
        path = self._handle.info()["path"]
        return None if path is None else os.fsdecode(path)

    @property
    def info(self) -> Info:
        """All that is told of it."""
        known = {
            "urlpath": self.urlpath,
            "shape": self.shape,
            "dtype": str(self.dtype),
            "chunks": self.chunks,
            "blocks": self.blocks,
            "nbytes": self.nbytes,
            "cbytes": self.cbytes,
            "cratio": self.cratio,
        }
        known.update((key, value) for key, value in self._handle.info().items() if key != "path")
        return Info(known)

    @property
    def attrs(self) -> Attributes:
        """Its attributes, which change at any time."""
        return Attributes(self._handle)

    @property
    def vlmeta(self) -> Attributes:
        """The same as :attr:`attrs`, under python-blosc2's name."""
        return Attributes(self._handle)

    @property
    def meta(self) -> Metalayers:
        """Its metalayers, which are made with it."""
        return Metalayers(self._handle)

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._handle.is_closed

    @property
    def nthreads(self) -> int:
        """On how many threads its operations work."""
        return self._handle.info()["nthreads"]

    @nthreads.setter
    def nthreads(self, count: int) -> None:
        self._handle.set_nthreads(count)

    def _arranged(self, lengths: Sequence[int]) -> tuple[int, ...]:
        if self._axes is None:
            return tuple(lengths)
        return tuple(1 if axis is None else lengths[axis] for axis in self._axes)


def dtype_of(handle: Handle) -> np.dtype[Any]:
    dtype = _dtypes.from_text(handle.dtype)
    if dtype.kind == "V" and dtype.fields is None and _dtypes.NAME_LAYER in handle.vlmetalayer_names():
        name = handle.vlmetalayer(_dtypes.NAME_LAYER)
        found = None if name is None else _dtypes.named(str(_msgpack.unpack(name)), dtype.itemsize)
        return dtype if found is None else found
    return dtype
