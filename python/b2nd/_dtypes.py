"""dtypes, to the text of the file and back.

NumPy's own are stored as NumPy writes them. Those of ``ml_dtypes`` (bfloat16 and friends) have no text that others would
know: the file says raw bytes of their size, and an attribute of its own (:data:`NAME_LAYER`) has the name.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

#: The vlmetalayer that has the name of a dtype which NumPy does not know.
NAME_LAYER = "b2nd.dtype"


def is_foreign(dtype: np.dtype) -> bool:
    """Whether a dtype is of another package, such as ``ml_dtypes``."""
    return dtype.fields is None and (dtype.isbuiltin == 2 or (dtype.kind == "V" and dtype.type is not np.void))


def to_text(dtype: np.dtype) -> str:
    """The text that files hold."""
    if dtype.hasobject:
        raise TypeError(f"items of {dtype} are Python objects: an array of bytes cannot hold them")
    if is_foreign(dtype):
        return f"|V{dtype.itemsize}"
    if dtype.kind == "T":
        raise TypeError("items of StringDType are not in the array itself: convert it to a str dtype of a fixed length")
    return str(dtype) if dtype.fields is not None else dtype.str


def from_text(text: str) -> np.dtype:
    """The dtype of a file's text."""
    if text[:1] in "[{(":
        return np.dtype(ast.literal_eval(text))
    return np.dtype(text)


def named(name: str, itemsize: int) -> np.dtype | None:
    """The dtype of ``ml_dtypes`` that has this name; ``None`` where the package is not installed, or has no such."""
    try:
        import ml_dtypes
    except ImportError:
        return None
    kind = getattr(ml_dtypes, name, None)
    if not isinstance(kind, type) or not issubclass(kind, np.generic):
        return None
    dtype = np.dtype(kind)
    return dtype if dtype.itemsize == itemsize else None


def as_bytes(array: np.ndarray) -> np.ndarray:
    """The bytes of a contiguous array, without a copy, whatever its dtype."""
    return array.reshape(-1).view(np.uint8) if array.dtype.itemsize else np.empty(0, np.uint8)


def items_of(value: Any, dtype: np.dtype[Any], ndim: int | None = None) -> np.ndarray:
    """What is given, as items of a dtype: converted as NumPy converts what is assigned.

    ``ndim`` is the number of axes that a basic index takes. NumPy is stricter there than with lists and masks: a sequence may have
    no more axes, and a scalar has to be in the dtype's range (300 is not in that of ``u1``, NaN in that of no integer).
    """
    if isinstance(value, np.ndarray):
        return value.astype(dtype, copy=False)
    scalar = isinstance(value, (np.generic, int, float, complex, str, bytes))
    if scalar and (ndim is not None or dtype.fields is not None):
        item = np.empty((), dtype)
        item[()] = value
        return item
    if isinstance(value, (list, tuple, range)):
        items = np.array(value, dtype)
        if ndim is not None and items.ndim > ndim:
            raise ValueError(f"setting an array element with a sequence: the value has {items.ndim} axes, and the place {ndim}")
        return items
    if dtype.fields is None and not hasattr(value, "__array__"):
        return np.array(value, dtype)
    return np.asarray(value).astype(dtype, copy=False)
