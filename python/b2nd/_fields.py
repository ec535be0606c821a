"""The fields of a structured dtype."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from . import _dtypes, _indexing
from ._operators import Refused

if TYPE_CHECKING:
    from ._array import Array

#: The bytes of items that are read, changed and written at once.
_MOST = 64 << 20


class Field(Refused):
    """A field of the items of an array: read and written like an array of its own dtype.

    Reading copies its own bytes only. Writing reads the items, changes them and writes them back, in one commit: another thread must
    not write to the same items meanwhile.

    >>> import b2nd
    >>> a = b2nd.zeros(3, [("id", "i4"), ("speed", "f4")])
    >>> a.fields["speed"][1:] = 2.5
    >>> a["speed"][...]
    array([0. , 2.5, 2.5], dtype=float32)
    """

    __slots__ = ("_array", "_inner", "_name", "dtype")

    def __init__(self, array: Array, name: str) -> None:
        self._array, self._name = array, name
        dtype: np.dtype[Any] = array.dtype[name]
        inner = dtype.subdtype
        #: The dtype of the field.
        self.dtype: np.dtype[Any] = dtype if inner is None else inner[0]
        self._inner: tuple[int, ...] = () if inner is None else inner[1]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array, and that of the field's own sub-array."""
        return self._array.shape + self._inner

    @property
    def ndim(self) -> int:
        """The number of axes, those of the sub-array too."""
        return len(self.shape)

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, key: Any) -> Any:
        split = self._split(key)
        if split is None:
            return self[...][key]
        plan, inner = _indexing.plan(split[0], self._array.shape), split[1]
        raw = np.empty(plan.raw + self._inner, self.dtype)
        if raw.size:
            self._array._handle.read_field_into(self._name, plan.selection, _dtypes.as_bytes(raw), self._array._axes)
        if plan.order is not None:
            raw = raw.transpose((*plan.order, *range(len(plan.raw), raw.ndim)))
        result = raw.reshape(plan.shape + self._inner)
        result = result[(*[slice(None)] * len(plan.shape), *inner, ...)]
        return result if result.ndim or _has_ellipsis(key) else result[()]

    def __setitem__(self, key: Any, value: Any) -> None:
        split = self._split(key)
        if split is None:
            every = self[...]
            every[key] = value
            value, split = every, (..., ())
        array, plan = self._array, _indexing.plan(split[0], self._array.shape)
        inner = np.broadcast_to(0, self._inner)[split[1]].shape
        items = _dtypes.items_of(value, self.dtype, len(plan.shape + inner) if plan.basic else None)
        whole = _indexing.broadcast(items, plan.shape + inner)
        data = plan.unshaped(whole, inner)
        pieces = list(_indexing.pieces(plan, _MOST // array.dtype.itemsize, array.chunks))
        alone = len(pieces) == 1 or array._handle.is_changing
        with contextlib.nullcontext() if alone else array.transaction():
            for piece, where in pieces:
                changed = np.asarray(array._read(piece))
                changed[self._name][(*[slice(None)] * len(piece.raw), *split[1])] = data[where]
                array._write(piece, changed)

    def _split(self, key: Any) -> tuple[Any, tuple[Any, ...]] | None:
        """What of an index goes by axes of the array, and what by those of the sub-array; ``None`` where lists go by both."""
        given = key if isinstance(key, tuple) else (key,)
        dots = next((n for n, entry in enumerate(given) if entry is Ellipsis), len(given))
        taken = [_axes_of(entry) for entry in given]
        behind = any(entry is None or _is_list(entry) for entry in given[dots + 1 :])
        if sum(taken[dots:]) == 0 and not behind and sum(taken) <= self._array.ndim:
            return key, ()
        if sum(taken) > self.ndim:
            raise IndexError(f"too many indices: the field has {self.ndim} axes, and {sum(taken)} were indexed")
        if any(_is_list(entry) for entry in given):
            return None
        whole = [slice(None)] * (self.ndim - sum(taken))
        entries = [*given[:dots], *whole, *given[dots + 1 :]]
        ends = [n for n, entry in enumerate(entries, 1) if entry is not None]
        end = ends[self._array.ndim - 1] if self._array.ndim else 0
        return tuple(entries[:end]), tuple(entries[end:])

    def __iter__(self) -> Iterator[Any]:
        return iter(self[...])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("the items are compressed: an array of them is always a copy")
        items = self[...]
        return items if dtype is None else items.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"<b2nd.Field {self._name!r} shape={self.shape} dtype={self.dtype}>"


class Fields(Mapping[str, Field]):
    """The fields of an array, by their names.

    >>> import b2nd
    >>> a = b2nd.zeros(3, [("id", "i4"), ("speed", "f4")])
    >>> list(a.fields)
    ['id', 'speed']
    >>> a.fields["speed"].shape
    (3,)
    """

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, name: str) -> Field:
        if name not in (self._array.dtype.names or ()):
            raise KeyError(name)
        return Field(self._array, name)

    def __setitem__(self, name: str, value: Any) -> NoReturn:
        raise TypeError(f'fields are not replaced: assign through the field view, e.g. array.fields["{name}"][:] = values')

    def __iter__(self) -> Iterator[str]:
        return iter(self._array.dtype.names or ())

    def __len__(self) -> int:
        return len(self._array.dtype.names or ())

    def __repr__(self) -> str:
        return f"Fields({dict(self)!r})"


def _has_ellipsis(key: Any) -> bool:
    return any(entry is Ellipsis for entry in (key if isinstance(key, tuple) else (key,)))


def _is_list(entry: Any) -> bool:
    return not (entry is None or entry is Ellipsis or isinstance(entry, slice) or _indexing._is_index(entry))


def _axes_of(entry: Any) -> int:
    """How many axes a part of an index takes."""
    if _is_list(entry):
        array = np.asarray(entry)
        return array.ndim if array.dtype == np.bool_ else 1
    return 0 if entry is None or entry is Ellipsis else 1
