"""Arrays whose items are computed, or come from an iterator: made a few chunks at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from . import _indexing
from ._array import Array
from ._create import Path, Shape, _create, _shape
from ._options import making

#: The bytes of items that are made at once.
_MOST = 64 << 20

#: A part of an array, and its items.
_Slab = tuple[tuple[slice, ...], np.ndarray]


def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: Any = None,
    shape: Shape | None = None,
    *,
    urlpath: Path | None = None,
    **options: Any,
) -> Array:
    """A new array of evenly spaced numbers, as :func:`numpy.arange`, in a shape; for the options see :func:`empty`.

    >>> import b2nd
    >>> b2nd.arange(2, 14, 2, shape=(2, 3))[...]
    array([[ 2,  4,  6],
           [ 8, 10, 12]])
    """
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    of = np.result_type(*map(np.asarray, (start, stop, step))) if dtype is None else np.dtype(dtype)
    if of.kind not in "iufc" or not all(np.asarray(one).dtype.kind in "biuf" for one in (start, stop, step)):
        raise TypeError("arange needs numbers, and makes numbers")
    count = max(math.ceil((stop - start) / step), 0)
    # As NumPy: the second item says what the step is among items of this dtype.
    first, second = (np.asarray(one).astype(of) for one in (start, start + step))
    delta = second - first
    return _computed(_of_size(shape, count), of, urlpath, options, lambda at: first + at.astype(of) * delta)


def linspace(
    start: complex,
    stop: complex,
    num: int | None = None,
    endpoint: bool = True,
    dtype: Any = None,
    shape: Shape | None = None,
    *,
    urlpath: Path | None = None,
    **options: Any,
) -> Array:
    """A new array of numbers evenly spaced over an interval, as :func:`numpy.linspace`; for the options see :func:`empty`.

    Of ``num`` and ``shape`` one has to be given.

    >>> import b2nd
    >>> b2nd.linspace(0, 1, shape=(2, 3))[...]
    array([[0. , 0.2, 0.4],
           [0.6, 0.8, 1. ]])
    """
    if num is None:
        if shape is None:
            raise ValueError("linspace needs to know how many numbers to make: num or shape")
        num = math.prod(_shape(shape))
    if num < 0:
        raise ValueError(f"num has to be 0 or more, not {num}")
    inner = np.result_type(start, stop, float(num))
    of = inner if dtype is None else np.dtype(dtype)
    first, last, parts = inner.type(start), inner.type(stop), num - 1 if endpoint else num
    step = (last - first) / parts if parts > 0 else inner.type(0)

    def items(at: np.ndarray) -> np.ndarray:
        made = at.astype(inner) * step + first
        if endpoint and num > 1:
            made[at == num - 1] = last
        return (np.floor(made) if of.kind in "iu" else made).astype(of)

    return _computed(_of_size(shape, num), of, urlpath, options, items)


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = np.float64, *, urlpath: Path | None = None, **options: Any
) -> Array:
    """A new array of two dimensions with ones on a diagonal, as :func:`numpy.eye`; for the options see :func:`empty`.

    >>> import b2nd
    >>> b2nd.eye(2, 3, dtype="u1")[...]
    array([[1, 0, 0],
           [0, 1, 0]], dtype=uint8)
    """
    shape = [N, N if M is None else M]

    def slabs(array: Array) -> Iterator[_Slab]:
        for rows, columns in _boxes(array):
            if not (rows.start + k < columns.stop and columns.start < rows.stop + k):
                continue  # They are zeros already.
            yield (rows, columns), np.eye(rows.stop - rows.start, columns.stop - columns.start, rows.start + k - columns.start, array.dtype)

    return _filled(shape, np.dtype(dtype), urlpath, options, slabs)


def fromiter(
    iterable: Iterable[Any], shape: Shape, dtype: Any = np.float64, *, urlpath: Path | None = None, **options: Any
) -> Array:
    """A new array of the items that an iterable gives, in C order; for the options see :func:`empty`.

    They are taken once, a row of chunks at a time, and no more of them than the array holds. It appears at its path when it is whole.

    >>> import b2nd
    >>> b2nd.fromiter((n * n for n in range(6)), (2, 3), "i4")[...]
    array([[ 0,  1,  4],
           [ 9, 16, 25]], dtype=int32)
    """
    of = np.dtype(dtype)
    items = iter(iterable.reshape(-1) if isinstance(iterable, np.ndarray) else iterable)

    def slabs(array: Array) -> Iterator[_Slab]:
        if not array.ndim:
            yield (), np.fromiter(items, of, 1).reshape(())
        elif array.size:
            for start in range(0, array.shape[0], array.chunks[0]):
                shape = (min(array.chunks[0], array.shape[0] - start), *array.shape[1:])
                yield (slice(start, start + shape[0]),), np.fromiter(items, of, math.prod(shape)).reshape(shape)

    return _filled(_shape(shape), of, urlpath, options, slabs)


def _of_size(shape: Shape | None, count: int) -> list[int]:
    """A shape for so many items."""
    found = [count] if shape is None else _shape(shape)
    if math.prod(found) != count:
        raise ValueError(f"{count} items do not fill the shape {tuple(found)}")
    return found


def _boxes(array: Array) -> Iterator[tuple[slice, ...]]:
    """The array in boxes of whole chunks."""
    plan = _indexing.plan(..., array.shape)
    return (where for _, where in _indexing.pieces(plan, _MOST // array.itemsize, array.chunks))


def _computed(
    shape: list[int], of: np.dtype[Any], urlpath: Path | None, options: dict[str, Any], items: Callable[[np.ndarray], np.ndarray]
) -> Array:
    """A new array whose items follow from their positions in C order."""

    def slabs(array: Array) -> Iterator[_Slab]:
        for where in _boxes(array):
            positions = np.zeros((), np.int64)
            for along, length in zip(where, array.shape, strict=True):
                positions = np.add.outer(positions * length, np.arange(along.start, along.stop))
            yield where, items(positions)

    return _filled(shape, of, urlpath, options, slabs)


def _filled(
    shape: list[int], of: np.dtype[Any], urlpath: Path | None, options: dict[str, Any], slabs: Callable[[Array], Iterable[_Slab]]
) -> Array:
    """A new array, which appears when all slabs are in it."""
    made = making(**options)
    array = _create(shape, of, urlpath, made, begun=True)
    try:
        for where, items in slabs(array):
            array[where] = items
        array._handle.commit()
    except BaseException:
        array.close()
        raise
    return Array._made(array._handle, made)
