"""The array: what it is, and what is done with it."""

from __future__ import annotations

import contextlib
import operator
import os
from collections.abc import Iterator, Mapping, Sequence
from pickle import PickleBuffer
from typing import Any, Literal

import numpy as np

from . import _dtypes, _indexing, _search
from ._b2nd import Handle, from_frame
from ._b2nd import open as _open
from ._described import Described, dtype_of
from ._errors import ChangedError, UsageError
from ._fields import Field, Fields
from ._options import making, opening, said_of, saving
from ._reductions import given, part, reduce
from ._info import Chunk, ChunkInfo, Space, Verified

#: The axes that a reduction goes over; ``None``: all.
Axes = int | Sequence[int] | None


class Array(Described):
    """An N-dimensional compressed array, in a file, a directory or memory; or a view of one under other axes.

    It is made by :func:`b2nd.open`, :func:`b2nd.array` and their like, not by hand. Threads may share it: reads go side by side, a
    change waits for them. A process that forks may go on reading in the child.

    >>> import b2nd, numpy as np
    >>> a = b2nd.array(np.arange(12).reshape(3, 4))
    >>> a[1:, ::2]
    array([[ 4,  6],
           [ 8, 10]])
    >>> a.T[-1]
    array([ 3,  7, 11])
    """

    __slots__ = ()

    #: NumPy's operators turn to ``__array__``; ours come before those of arrays.
    __array_priority__ = 1.0

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError("arrays are made by b2nd.open, b2nd.array, b2nd.zeros and their like")

    # Reading.

    def __getitem__(self, key: Any) -> Any:
        """What an index takes, as NumPy has it: integers, slices with steps, ``...``, new axes, lists, arrays and masks. The name of
        a field gives a :class:`Field`."""
        if isinstance(key, str):
            return self._field(key)
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return self[...][key]
        return self._read(_indexing.plan(key, self.shape))

    def _field(self, name: str) -> Field:
        """The field of a name; NumPy's errors where there is none."""
        if self.dtype.names is None:
            raise IndexError(f"{name!r} is no index: the items have no fields, only integers, slices, lists and masks are valid")
        if name not in self.dtype.names:
            raise ValueError(f"no field of name {name}")
        return Field(self, name)

    def get(self, key: Any = ..., *, out: np.ndarray) -> np.ndarray:
        """Reads what an index takes into an array that is there: without a copy when it is contiguous and has the dtype.

        >>> import b2nd, numpy as np
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> out = np.empty(4, "i8")
        >>> a.get(1, out=out)
        array([4, 5, 6, 7])
        """
        plan = _indexing.plan(key, self.shape)
        if out.shape != plan.shape:
            raise ValueError(f"out has the shape {out.shape}, and the index gives {plan.shape}")
        if out.dtype == self.dtype and out.flags.c_contiguous and plan.order is None:
            self._read_raw(plan, out.reshape(plan.raw))
        else:
            out[...] = self._read(plan)
        return out

    @property
    def oindex(self) -> Indexer:
        """``a.oindex[[3, 1], ::2]``: every combination of a list, mask or range for each axis."""
        return Indexer(self, _indexing.orthogonal)

    @property
    def vindex(self) -> Indexer:
        """``a.vindex[[3, 1], [0, 5]]``: single items, by their indices along each axis or by a mask."""
        return Indexer(self, _indexing.pointwise)

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields of a structured dtype, to read and to write: ``a.fields["x"][2:5] = 0``."""
        return Fields(self)

    def take(
        self, indices: Any, axis: int | None = None, out: Any = None, mode: Literal["raise", "wrap", "clip"] = "raise"
    ) -> Any:
        """Items at indices along an axis, or, without one, in C order: as :func:`numpy.take`, which calls this.

        To have them compressed there is :meth:`slice`.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.take([0, 2], axis=0)[:, 1]
        array([1, 9])
        """
        result = self._read(_indexing.take(indices, None if axis is None else self._axis(operator.index(axis)), self.shape, mode))
        return given(result, out)

    def _read(self, plan: _indexing.Plan) -> Any:
        raw = np.empty(plan.raw, self.dtype)
        self._read_raw(plan, raw)
        result = plan.shaped(raw)
        return result[()] if plan.scalar else result

    def _read_raw(self, plan: _indexing.Plan, raw: np.ndarray) -> None:
        if raw.size and self.dtype.itemsize:
            self._handle.read_into(plan.selection, _dtypes.as_bytes(raw), self._axes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("the items are compressed: an array of them is always a copy")
        items = self[...]
        return items if dtype is None else items.astype(dtype, copy=False)

    def __dlpack__(self, **options: Any) -> Any:
        if options.get("copy") is False:
            raise BufferError("the items are compressed: an array of them is always a copy")
        options.pop("copy", None)
        return self[...].__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        """Along the first axis, read a row of chunks at a time."""
        if not self.shape:
            raise TypeError("iteration over an array without axes")
        step = max(self.chunks[0], 1)
        for start in range(0, self.shape[0], step):
            yield from self[start : start + step]

    def __bool__(self) -> bool:
        return bool(self[...])

    def __int__(self) -> int:
        return int(self[...])

    def __float__(self) -> float:
        return float(self[...])

    def __complex__(self) -> complex:
        return complex(self[...])

    def __index__(self) -> int:
        return self[...].__index__()

    def item(self, *index: int) -> Any:
        """The item at an index, or the only one there is, as an object of Python.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.item(1, 2)
        6
        """
        return self[index].item() if index else self[...].item()

    def tobytes(self) -> bytes:
        """The items in C order.

        >>> import b2nd
        >>> a = b2nd.array([1, 2], "u1")
        >>> list(a.tobytes())
        [1, 2]
        """
        return self[...].tobytes()

    def iterchunks(self) -> Iterator[Chunk]:
        """The chunks in C order, each of them read when it is asked to.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> sum(int(chunk.read().sum()) for chunk in a.iterchunks())
        66
        """
        return (self._chunk(position) for position in np.ndindex(*_counts(self.shape, self.chunks)))

    def _chunks_along(self, axis: int) -> Iterator[Chunk]:
        """The chunks, those that lie behind each other along an axis one after the other."""
        counts = _counts(self.shape, self.chunks)
        behind = counts.pop(axis)
        for position in np.ndindex(*counts):
            for at in range(behind):
                yield self._chunk((*position[:axis], at, *position[axis:]))

    def _chunk(self, position: tuple[int, ...]) -> Chunk:
        bounds = zip(position, self.chunks, self.shape, strict=True)
        return Chunk(self, position, tuple(slice(at * c, min((at + 1) * c, n)) for at, c, n in bounds))

    def iterchunks_info(self) -> Iterator[ChunkInfo]:
        """What is known of each chunk of the array without decompressing it, in C order.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> [info.nbytes for info in a.iterchunks_info()]
        [96]
        """
        for n, position in enumerate(np.ndindex(*_counts(self._handle.shape, self._handle.chunks))):
            yield ChunkInfo(coords=position, **self._handle.chunk_info(n))

    def get_chunk(self, nchunk: int) -> bytes:
        """A chunk as it is stored, compressed.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> len(a.get_chunk(0)) < a.nbytes + 32
        True
        """
        return bytes(self._handle.chunk(nchunk))

    # Writing.

    def __setitem__(self, key: Any, value: Any) -> None:
        """Writes what NumPy would write, and commits it, unless a transaction is open."""
        if isinstance(key, str):
            self._field(key)[...] = value
            return
        self._write(_indexing.plan(key, self.shape), value)

    def _write(self, plan: _indexing.Plan, value: Any) -> None:
        items = _dtypes.items_of(value, self.dtype, len(plan.shape) if plan.basic else None)
        whole = _indexing.broadcast(items, plan.shape)
        if 0 in plan.shape:
            return
        selection = plan.selection
        if items.size == 1:
            if self._axes is not None:
                raw = np.broadcast_to(items.reshape(()), plan.raw)
                selection, _ = _indexing.in_parent(selection, raw, self._axes, self.shape, tuple(self._handle.shape))
            self._handle.fill(selection, _dtypes.as_bytes(np.ascontiguousarray(items)))
            return
        data = plan.unshaped(whole)
        if self._axes is not None:
            selection, data = _indexing.in_parent(selection, data, self._axes, self.shape, tuple(self._handle.shape))
        self._handle.write(selection, _dtypes.as_bytes(np.ascontiguousarray(data)))

    def resize(self, newshape: Sequence[int] | int, *, starts: Sequence[int] | None = None, fill: Any = None) -> None:
        """Gives the array another shape, in place: each axis at its end, or where ``starts`` says; new items are zeros, or ``fill``.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.resize((4, 2))
        >>> a[2:]
        array([[8, 9],
               [0, 0]])
        """
        shape = [newshape] if isinstance(newshape, int) else list(newshape)
        item = None if fill is None else _dtypes.as_bytes(np.ascontiguousarray(_dtypes.items_of(fill, self.dtype)))
        self._own().resize(shape, None if starts is None else list(starts), item)

    def append(self, values: Any, axis: int = 0) -> int:
        """Appends items along an axis, in place; the new number of items.

        Of another :class:`Array` chunks come along as they are, compressed, where they fit.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.append([[7, 7, 7, 7]])
        16
        >>> a.shape
        (4, 4)
        """
        axis = self._axis(axis)
        handle = self._own()
        if isinstance(values, Array) and values._axes is None and values.dtype == self.dtype:
            Array._extend(handle, axis, values)
        else:
            handle.append(axis, _dtypes.as_bytes(self._slabs(values, axis)))
        return self.size

    @staticmethod
    def _extend(handle: Handle, axis: int, values: Array) -> None:
        if handle is values._handle:
            values = values.copy()
        handle.extend(axis, [values._handle])

    def insert(self, index: int, values: Any, axis: int = 0) -> None:
        """Inserts items before an index of an axis, in place.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.insert(0, [9, 9, 9, 9])
        >>> a[:, 0]
        array([9, 0, 4, 8])
        """
        axis = self._axis(axis)
        length = self.shape[axis]
        at = index + length if index < 0 else index
        if not 0 <= at <= length:
            raise IndexError(f"index {index} is out of bounds for axis {axis} with size {length}")
        self._own().insert(axis, at, _dtypes.as_bytes(self._slabs(values, axis)))

    def delete(self, index: Any, axis: int = 0) -> None:
        """Deletes an index, a slice, a list or a mask along an axis, in place.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.delete([0, 2])
        >>> a[...]
        array([[4, 5, 6, 7]])
        """
        axis = self._axis(axis)
        whole = [slice(None)] * self.ndim
        whole[axis] = index
        part = _indexing.orthogonal(tuple(whole), self.shape).selection[axis]
        self._own().delete(axis, part)

    def _slabs(self, values: Any, axis: int) -> np.ndarray:
        """Items for this axis: of the other axes' lengths, or of one axis less for one index."""
        items = _dtypes.items_of(values, self.dtype)
        if items.ndim == self.ndim - 1:
            items = np.expand_dims(items, axis)
        others = [n for at, n in enumerate(items.shape) if at != axis]
        if items.ndim != self.ndim or others != [n for at, n in enumerate(self.shape) if at != axis]:
            raise ValueError(f"items of shape {items.shape} do not fit along axis {axis} of an array of shape {self.shape}")
        return np.ascontiguousarray(items)

    def _axis(self, axis: int) -> int:
        if not -self.ndim <= axis < self.ndim:
            raise np.exceptions.AxisError(axis, self.ndim)
        return axis % self.ndim

    def _own(self) -> Handle:
        if self._axes is not None:
            raise UsageError("this is a view: the shape is changed through the array itself")
        return self._handle

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Array]:
        """All changes inside a ``with`` become visible together at its end, or, when it ends by an exception, none.

        Where the commit itself fails (the disk is full, another writer was faster) none is visible either, and the array is closed,
        as after :meth:`close`: open it again.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> with a.transaction():
        ...     a[0] = 1
        ...     a.attrs["rows"] = 3
        >>> a[0]
        array([1, 1, 1, 1])
        """
        self._handle.begin()
        try:
            yield self
        except BaseException:
            if self._handle.is_changing:
                self._handle.rollback()
            raise
        if self._handle.is_changing:
            self._handle.commit()

    # Under other axes.

    def _view(self, axes: Sequence[int | None]) -> Array:
        """A view by axes of this one."""
        own = self._axes if self._axes is not None else tuple(range(self.ndim))
        made = object.__new__(Array)
        made._handle, made._dtype = self._handle, self._dtype
        made._axes = tuple(None if axis is None else own[axis] for axis in axes)
        return made

    def transpose(self, axes: Sequence[int] | None = None) -> Array:
        """A view with the axes in another order: reversed, or as ``axes`` says.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.transpose((1, 0)).shape
        (4, 3)
        """
        if axes is None:
            return self._view(range(self.ndim)[::-1])
        order = [self._axis(axis) for axis in axes]
        if sorted(order) != list(range(self.ndim)):
            raise ValueError("axes don't match array")
        return self._view(order)

    @property
    def T(self) -> Array:
        """A view with the axes reversed."""
        return self.transpose()

    @property
    def mT(self) -> Array:
        """A view with the last two axes swapped."""
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return self._view([*range(self.ndim - 2), self.ndim - 1, self.ndim - 2])

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Array:
        """A view without axes of length 1: all of them, or those named.

        >>> import b2nd
        >>> a = b2nd.zeros((3, 1))
        >>> a.squeeze().shape
        (3,)
        """
        if axis is None:
            gone = {at for at, length in enumerate(self.shape) if length == 1}
        else:
            gone = {self._axis(at) for at in ([axis] if isinstance(axis, int) else axis)}
            if any(self.shape[at] != 1 for at in gone):
                raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
        return self._view([at for at in range(self.ndim) if at not in gone])

    def expand_dims(self, axis: int | Sequence[int]) -> Array:
        """A view with new axes of length 1 at these places of its shape.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.expand_dims(0).shape
        (1, 3, 4)
        """
        given = [axis] if isinstance(axis, int) else list(axis)
        ndim = self.ndim + len(given)
        places = {at + ndim if at < 0 else at for at in given}
        if len(places) != len(given) or not all(0 <= at < ndim for at in places):
            raise ValueError(f"the view cannot have new axes at {given}")
        own = iter(range(self.ndim))
        return self._view([None if at in places else next(own) for at in range(ndim)])

    # Arrays made of it.

    def copy(self, urlpath: str | os.PathLike[str] | None = None, **options: Any) -> Array:
        """A copy, in memory or at a path: compressed as it is, or as the options of :func:`b2nd.empty` say.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.copy(codec="lz4").codec
        'lz4'
        """
        dtype = options.pop("dtype", None)
        if dtype is not None and np.dtype(dtype) != self.dtype:
            return self.astype(dtype, urlpath=urlpath, **options)
        made = making(**options)
        return Array._made(self._handle.slice(_path(urlpath), made, None, self._axes), made)

    def slice(self, key: Any, urlpath: str | os.PathLike[str] | None = None, **options: Any) -> Array:
        """What an index takes, as an array of its own, never whole in memory.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.slice((slice(1, 3), 0))[...]
        array([4, 8])
        """
        plan = _indexing.plan(key, self.shape)
        if plan.order is not None or plan.shape != plan.raw:
            from ._create import array

            return array(self._read(plan), urlpath=urlpath, **options)
        made = making(**options)
        return Array._made(self._handle.slice(_path(urlpath), made, plan.selection, self._axes), made)

    def astype(
        self,
        dtype: Any,
        urlpath: str | os.PathLike[str] | None = None,
        *,
        casting: Literal["no", "equiv", "safe", "same_kind", "unsafe"] = "unsafe",
        **options: Any,
    ) -> Array:
        """A copy with the items converted, in memory or at a path.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.astype("f4").dtype
        dtype('float32')
        """
        to = np.dtype(dtype)
        if not np.can_cast(self.dtype, to, casting):
            raise TypeError(f"Cannot cast array data from {self.dtype} to {to} according to the rule {casting!r}")
        if self._axes is not None or _dtypes.is_foreign(to) or _dtypes.is_foreign(self.dtype):
            from ._create import array

            return array(self[...].astype(to), urlpath=urlpath, **options)
        made = making(**options)
        return Array._made(self._handle.astype(_path(urlpath), made, _dtypes.to_text(to)), made)

    def reshape(self, *shape: Any, urlpath: str | os.PathLike[str] | None = None, **options: Any) -> Array:
        """A copy of another shape, with the items in the same order; one length may be -1.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.reshape(2, -1).shape
        (2, 6)
        """
        given = list(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else list(shape)
        if -1 in given:
            others = 1
            for length in given:
                others *= 1 if length == -1 else length
            given[given.index(-1)] = self.size // others if others else 0
        if self._axes is not None:
            with self.copy() as copy:
                return copy.reshape(given, urlpath=urlpath, **options)
        made = making(**options)
        return Array._made(self._handle.reshape(_path(urlpath), made, given), made)

    def save(self, urlpath: str | os.PathLike[str], **options: Any) -> None:
        """Saves a compact copy at a path, without recompression.

        >>> import b2nd, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.b2nd")
        >>> b2nd.arange(12).save(path)
        >>> b2nd.open(path).shape
        (12,)
        """
        if self._axes is not None:
            self.copy(urlpath, **options).close()
        else:
            self._handle.save(os.fspath(urlpath), saving(**options))

    def to_cframe(self) -> memoryview:
        """The array as one contiguous frame, which :func:`b2nd.from_cframe` opens, python-blosc2 too: made once, lent without a copy.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> b2nd.from_cframe(a.to_cframe()).shape
        (3, 4)
        """
        if self._axes is not None:
            return self.copy().to_cframe()
        return memoryview(self._handle.to_frame())

    # Reducing.

    def sum(self, axis: Axes = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, item: Any = None) -> Any:
        """Sums, with one rounding at the end.

        In all reductions ``item`` says of what part: ``a.sum(0, item=np.s_[5:9])`` is that of ``a[5:9]``.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.sum(axis=0)
        array([12, 15, 18, 21])
        """
        return reduce(self, "sum", axis, keepdims, 0.0, dtype, out, item)

    def prod(self, axis: Axes = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, item: Any = None) -> Any:
        """Products.

        >>> import b2nd, numpy as np
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> int(a.prod(item=np.s_[0, 1:]))
        6
        """
        return reduce(self, "prod", axis, keepdims, 0.0, dtype, out, item)

    def mean(self, axis: Axes = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, item: Any = None) -> Any:
        """Means.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.mean(axis=1)
        array([1.5, 5.5, 9.5])
        """
        return reduce(self, "mean", axis, keepdims, 0.0, dtype, out, item)

    def var(
        self, axis: Axes = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *, item: Any = None
    ) -> Any:
        """Variances.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.var(axis=1)
        array([1.25, 1.25, 1.25])
        """
        return reduce(self, "var", axis, keepdims, ddof, dtype, out, item)

    def std(
        self, axis: Axes = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *, item: Any = None
    ) -> Any:
        """Standard deviations.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> round(float(a.std()), 3)
        3.452
        """
        return reduce(self, "std", axis, keepdims, ddof, dtype, out, item)

    def min(self, axis: Axes = None, out: Any = None, keepdims: bool = False, *, item: Any = None) -> Any:
        """Least items; NaN where there is one.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.min(axis=1)
        array([0, 4, 8])
        """
        return reduce(self, "min", axis, keepdims, 0.0, None, out, item)

    def max(self, axis: Axes = None, out: Any = None, keepdims: bool = False, *, item: Any = None) -> Any:
        """Greatest items; NaN where there is one.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> int(a.max())
        11
        """
        return reduce(self, "max", axis, keepdims, 0.0, None, out, item)

    def any(self, axis: Axes = None, out: Any = None, keepdims: bool = False, *, item: Any = None) -> Any:
        """Whether any item is true.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> bool(a.any())
        True
        """
        return reduce(self, "any", axis, keepdims, 0.0, None, out, item)

    def all(self, axis: Axes = None, out: Any = None, keepdims: bool = False, *, item: Any = None) -> Any:
        """Whether all items are true.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.all(axis=1)
        array([False,  True,  True])
        """
        return reduce(self, "all", axis, keepdims, 0.0, None, out, item)

    def count_nan(self, axis: Axes = None, out: Any = None, keepdims: bool = False, *, item: Any = None) -> Any:
        """How many items are NaN.

        >>> import b2nd
        >>> a = b2nd.array([1.0, float("nan")])
        >>> int(a.count_nan())
        1
        """
        return reduce(self, "count_nan", axis, keepdims, 0.0, None, out, item)

    def argmin(self, axis: int | None = None, out: Any = None, keepdims: bool = False, *, item: Any = None) -> Any:
        """Where the least items are along an axis, or, without one, in C order.

        It is the first of equal ones, and the first NaN where there is one. A chunk at a time is read.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> int(a.argmin())
        0
        """
        return self._find("argmin", axis, out, keepdims, item)

    def argmax(self, axis: int | None = None, out: Any = None, keepdims: bool = False, *, item: Any = None) -> Any:
        """Where the greatest items are along an axis, or, without one, in C order.

        It is the first of equal ones, and the first NaN where there is one. A chunk at a time is read.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.argmax(axis=1)
        array([3, 3, 3])
        """
        return self._find("argmax", axis, out, keepdims, item)

    def _find(self, name: _search.Name, axis: int | None, out: Any, keepdims: bool, item: Any) -> Any:
        if item is not None:
            with part(self, item) as taken:
                return taken._find(name, axis, out, keepdims, None)
        return given(_search.find(self, name, axis, keepdims), out)

    # The file.

    def verify(self) -> Verified:
        """Decodes every block, and checks it where there are checksums.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> bool(a.verify())
        True
        """
        return Verified(**self._handle.verify())

    def refresh(self) -> bool:
        """Takes over what others have committed since it was opened; whether there was anything.

        >>> import b2nd, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.b2nd")
        >>> writer = b2nd.zeros(3, urlpath=path)
        >>> reader = b2nd.open(path)
        >>> writer[0] = 1
        >>> reader[0], reader.refresh(), reader[0]
        (np.float64(0.0), True, np.float64(1.0))
        >>> writer.close()
        """
        changed = self._handle.refresh()
        self._dtype = dtype_of(self._handle)
        return changed

    def compact(self) -> None:
        """Writes the file anew without the dead bytes that changes have left, compressed as it is.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.compact()
        >>> a.space().dead
        0
        """
        self._handle.compact()

    def space(self) -> Space:
        """The bytes that its files hold, and those of them that nothing refers to: a writer fills them again, :meth:`compact` gives them back.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.space().stored > 0
        True
        """
        return Space(*self._handle.space())

    def close(self) -> None:
        """Lets go of the file and its locks. The array, and all views of it, can then not be used any more.

        >>> import b2nd
        >>> a = b2nd.arange(12, shape=(3, 4))
        >>> a.close()
        >>> a.closed
        True
        """
        self._handle.close()

    def __enter__(self) -> Array:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, protocol: Any) -> Any:
        path = self.urlpath
        if self._handle.is_changing:
            raise UsageError("a transaction of this array is open: commit it, or roll it back, before it is pickled")
        if path is not None:
            return _reopened, (os.path.abspath(path), self._handle.state(), self._axes, said_of(self.nthreads))
        frame = memoryview(self._handle.to_frame())
        return _from_bytes, (PickleBuffer(frame) if protocol >= 5 else bytes(frame), self._axes, said_of(self.nthreads))

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return _from_bytes(self._handle.to_frame(), self._axes, self.nthreads)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        path = self.urlpath
        content = bytes(self._handle.to_frame()) if path is None else (os.path.abspath(path), self._handle.state())
        return ("b2nd.Array", content, self._axes)

    def __repr__(self) -> str:
        if self.closed:
            return "<b2nd.Array, closed>"
        view = " view" if self._axes is not None else ""
        place = f" {self.urlpath!r}" if self.urlpath else ""
        return (
            f"<b2nd.Array{view}{place} shape={self.shape} dtype={self.dtype} chunks={self.chunks} blocks={self.blocks} "
            f"{self.codec} {self.cratio:.2f}x>"
        )

    def _repr_html_(self) -> str:
        from ._repr import html

        return html(self)


class Indexer:
    """Another way to index an array: :attr:`Array.oindex` and :attr:`Array.vindex`.

    >>> import b2nd
    >>> a = b2nd.arange(12, shape=(3, 4))
    >>> a.oindex[[0, 2], [1, 3]]
    array([[ 1,  3],
           [ 9, 11]])
    >>> a.vindex[[0, 2], [1, 3]]
    array([ 1, 11])
    """

    __slots__ = ("_array", "_plan")

    def __init__(self, array: Array, plan: Any) -> None:
        self._array, self._plan = array, plan

    def __getitem__(self, key: Any) -> Any:
        return self._array._read(self._plan(key, self._array.shape))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array._write(self._plan(key, self._array.shape), value)


def _path(urlpath: str | os.PathLike[str] | None) -> str | None:
    return None if urlpath is None else os.fspath(urlpath)


def _counts(shape: Sequence[int], chunks: Sequence[int]) -> list[int]:
    """The number of chunks along each axis."""
    return [-(-n // c) if c else 0 for n, c in zip(shape, chunks, strict=True)]


def _reopened(path: str, state: int, axes: tuple[int | None, ...] | None, nthreads: int | None = None) -> Array:
    array = Array._of(_open(path, opening(mode="r", nthreads=nthreads)), axes)
    if array._handle.state() != state:
        raise ChangedError(f"{path}: the file has changed since this array was pickled: open it again by its path")
    return array


def _from_bytes(frame: Any, axes: tuple[int | None, ...] | None, nthreads: int | None = None) -> Array:
    return Array._of(from_frame(frame, opening(mode="r+", nthreads=nthreads)), axes)
