"""Attributes and metalayers of an array, as mappings."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from . import _msgpack
from ._b2nd import Handle
from ._dtypes import NAME_LAYER

#: What b2nd keeps for itself: checksums, and the name of a dtype.
_OWN = (NAME_LAYER, "b2nd.digests")

#: The most vlmetalayers that C-Blosc2 and python-blosc2 (4.14 and before) can handle.
_MOST_ELSEWHERE = 16


def _outside() -> int:
    """The ``stacklevel`` of the first frame outside this package, for a warning of the function that calls this one."""
    package, level, frame = __name__.rpartition(".")[0], 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level


def _decoded(content: bytes) -> Any:
    try:
        return _msgpack.unpack(content)
    except (ValueError, OverflowError):
        # Of another program: as it is.
        return content


class Attributes(MutableMapping[str, Any]):
    """The attributes of an array (its vlmetalayers): changed at any time, each change a commit of its own unless a transaction is open.

    Values are what msgpack can hold: ``None``, truth values, numbers, texts, bytes, lists, dictionaries, sets and NumPy arrays.
    What another program has stored otherwise comes as bytes.

    >>> import b2nd
    >>> a = b2nd.zeros(3)
    >>> a.attrs["units"] = "K"
    >>> a.attrs["origin"] = {"lat": 52.1, "lon": 5.2}
    >>> dict(a.attrs)
    {'units': 'K', 'origin': {'lat': 52.1, 'lon': 5.2}}
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def __getitem__(self, name: str) -> Any:
        # All at once, as python-blosc2 has it.
        if isinstance(name, slice):
            return dict(self)
        content = self._handle.vlmetalayer(name)
        if content is None:
            raise KeyError(name)
        return _decoded(content)

    def __setitem__(self, name: str, value: Any) -> None:
        _check(name)
        is_new = name not in self
        self._handle.set_vlmetalayer(name, _msgpack.pack(value))
        if is_new:
            self._warn_if_crowded()

    def _warn_if_crowded(self) -> None:
        """Warns the caller of the package when there are as many attributes as other programs can handle."""
        layers = len(self._handle.vlmetalayer_names())
        if layers >= _MOST_ELSEWHERE - 1 and self._handle.info()["checksums"]:
            layers += 1
        if layers >= _MOST_ELSEWHERE:
            text = (
                f"the array has {layers} attributes, with the layers that b2nd keeps: C-Blosc2 and python-blosc2 (4.14 and before) cannot add another, "
                f"or change those of an array with more than {_MOST_ELSEWHERE}; put several values into one attribute"
            )
            warnings.warn(text, UserWarning, stacklevel=_outside())

    def __delitem__(self, name: str) -> None:
        _check(name)
        if not self._handle.remove_vlmetalayer(name):
            raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._handle.vlmetalayer_names() if name not in _OWN)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self._handle.vlmetalayer_names()

    def __repr__(self) -> str:
        return f"Attributes({dict(self)!r})"


def _check(name: str) -> None:
    if name in _OWN:
        raise KeyError(f"the attribute {name!r} is reserved for b2nd")


class Metalayers(Mapping[str, Any]):
    """The metalayers of an array: made with it, and of a fixed length. A new value has to have the same one, packed.

    >>> import b2nd
    >>> a = b2nd.zeros(3, meta={"version": 1})
    >>> a.meta["version"]
    1
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def __getitem__(self, name: str) -> Any:
        return _decoded(dict(self._handle.metalayers())[name])

    def __setitem__(self, name: str, value: Any) -> None:
        self._handle.set_metalayer(name, _msgpack.pack(value))

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, _ in self._handle.metalayers()])

    def __len__(self) -> int:
        return len(self._handle.metalayers())

    def __repr__(self) -> str:
        return f"Metalayers({dict(self)!r})"
