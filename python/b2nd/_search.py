"""Where the least and the greatest items are: a chunk at a time."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from ._array import Array

Name = Literal["argmin", "argmax"]


def find(array: Array, name: Name, axis: int | None, keepdims: bool) -> Any:
    """What NumPy's function of that name gives: of equal items the first, and the first NaN where there is one."""
    if array.dtype.fields is not None:
        raise TypeError(f"items of {array.dtype} have no order")
    length = array.size if axis is None else array.shape[array._axis(operator.index(axis))]
    if length == 0:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    with np.errstate(invalid="ignore"):
        if axis is None:
            position = np.intp(_anywhere(array, name))
            return np.full((1,) * array.ndim, position) if keepdims else position
        axis = array._axis(operator.index(axis))
        result = _along(array, name, axis)
    return np.expand_dims(result, axis) if keepdims else result[()]


def _anywhere(array: Array, name: Name) -> int:
    """The position in C order, over all axes."""
    best: tuple[Any, int] | None = None
    for chunk in array.iterchunks():
        items = chunk.read()
        own = int(getattr(items, name)())
        value = items.reshape(-1)[own]
        inside = np.unravel_index(own, items.shape) if items.ndim else ()
        position = 0
        for length, at, along in zip(array.shape, inside, chunk.slices, strict=True):
            position = position * length + along.start + int(at)
        # Chunks do not come in the order of positions.
        if best is None or _precedes(name, value, best[0]) or position < best[1] and not _precedes(name, best[0], value):
            best = (value, position)
    assert best is not None
    return best[1]


def _along(array: Array, name: Name, axis: int) -> np.ndarray:
    """The indices along one axis, for all others."""
    result = np.empty([length for at, length in enumerate(array.shape) if at != axis], np.intp)
    best: Any = None
    # Chunks that lie behind each other along the axis come one after the other.
    for chunk in array._chunks_along(axis):
        items, start = chunk.read(), chunk.slices[axis].start
        own = getattr(items, name)(axis)
        values = np.take_along_axis(items, np.expand_dims(own, axis), axis).squeeze(axis)
        where = tuple(along for at, along in enumerate(chunk.slices) if at != axis)
        if start == 0:
            best, result[where] = values, own
        else:
            better = _precedes(name, values, best)
            best = np.where(better, values, best)
            result[where] = np.where(better, own + start, result[where])
    return result


def _precedes(name: Name, these: Any, those: Any) -> Any:
    """Whether these are to be taken, and not those that were found before. NaN is unequal to itself."""
    order = np.less if name == "argmin" else np.greater
    return (order(these, those) | (these != these)) & (those == those)
