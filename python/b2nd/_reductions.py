"""Reductions: of an array by the crate, of a view in the array that it is of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _dtypes

if TYPE_CHECKING:
    from ._array import Array


def reduce(
    array: Array, name: str, axis: Any, keepdims: bool, ddof: float = 0.0, dtype: Any = None, out: Any = None, item: Any = None
) -> Any:
    """What NumPy's function of that name gives, of the array or of the part that an index takes."""
    if item is not None:
        with part(array, item) as taken:
            return reduce(taken, name, axis, keepdims, ddof, dtype, out)
    axes = None
    if axis is not None:
        axes = [array._axis(at) for at in ([axis] if isinstance(axis, int) else axis)]
        if len(set(axes)) != len(axes):
            raise ValueError("duplicate value in 'axis'")
    if dtype is not None and np.dtype(dtype) != array.dtype:
        # As NumPy: the items are converted, and then reduced.
        converted = array._of(array._of(array._handle).astype(dtype)._handle, array._axes)
        result = np.asarray(reduce(converted, name, axis, keepdims, ddof)).astype(dtype, copy=False)[()]
    elif array._axes is not None:
        result = _of_view(array, name, axes, keepdims, ddof)
    else:
        text, shape, frame = array._handle.reduce(name, axes, keepdims, ddof)
        result = np.frombuffer(memoryview(frame), _dtypes.from_text(text)).reshape(shape).copy()[()]
    return given(result, out)


def part(array: Array, item: Any) -> Array:
    """What an index takes, in memory, fast."""
    return array.slice(item, codec="lz4", clevel=1)


def given(result: Any, out: Any) -> Any:
    """A result, or what it was to be put into."""
    if out is None:
        return result
    out[...] = result
    return out


def _of_view(view: Array, name: str, axes: list[int] | None, keepdims: bool, ddof: float) -> Any:
    """Reduced in the array, the axes that stay brought into the order of the view."""
    own = view._axes or ()
    parent = view._of(view._handle)
    over = range(len(own)) if axes is None else axes
    gone = [at for at in range(parent.ndim) if at not in own]
    reduced = [own[at] for at in over if own[at] is not None]
    result = np.asarray(reduce(parent, name, tuple(reduced + gone), True, ddof))
    kept = [at for at in own if at is not None]
    result = result.transpose(kept + gone).reshape([result.shape[at] for at in kept])
    result = np.expand_dims(result, tuple(at for at, axis in enumerate(own) if axis is None))
    return result[()] if keepdims else result.squeeze(tuple(over))[()]
