"""Attributes as msgpack: the same bytes that python-blosc2 writes and reads.

The package ``msgpack`` packs and unpacks them; it is imported when the first attribute is read or written. This module adds complex
numbers, sets and NumPy arrays, as the extension types that python-blosc2 uses for them (44, 45 and 46). Other extensions are read
as ``msgpack.ExtType``, times as ``msgpack.Timestamp``, and both are written back unchanged.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from types import ModuleType

_COMPLEX, _SET, _NDARRAY = 44, 45, 46


def _package() -> ModuleType:
    try:
        import msgpack
    except ImportError:
        raise ImportError("attributes and metalayers are msgpack: install the package msgpack") from None
    return msgpack


def pack(value: Any) -> bytes:
    """The bytes of a value."""
    return _package().packb(value, default=_packable, unicode_errors="surrogatepass")


def _packable(value: Any) -> Any:
    """A value that msgpack does not know, as one that it knows."""
    ext = _package().ExtType
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        return float(value) if isinstance(value, np.floating) else value.item()
    if isinstance(value, (complex, np.complexfloating)):
        return ext(_COMPLEX, struct.pack(">dd", float(value.real), float(value.imag)))
    if isinstance(value, (set, frozenset)):
        return ext(_SET, pack(list(value)))
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        dtype = {"descr": value.dtype.descr} if value.dtype.fields else {"str": value.dtype.str}
        return ext(_NDARRAY, pack({"dtype": dtype, "shape": list(value.shape), "data": value.tobytes()}))
    if isinstance(value, np.generic) and not isinstance(value.item(), np.generic):
        return value.item()
    raise TypeError(f"an attribute cannot be a {type(value).__name__}")


def unpack(data: bytes) -> Any:
    """The value of all of the bytes; ``ValueError`` where they are not one."""
    try:
        return _package().unpackb(data, ext_hook=_extension, strict_map_key=False, unicode_errors="surrogatepass")
    except (TypeError, RecursionError) as error:
        # A list as a key of a map; extensions nested in each other.
        raise ValueError(f"not msgpack: {error}") from None


def _extension(code: int, data: bytes) -> Any:
    known = _known(code, data)
    return _package().ExtType(code, data) if known is None else known


def _known(code: int, data: bytes) -> Any:
    """The value of an extension; ``None`` where its code is not known here, or its data are not what the code says."""
    try:
        if code == _COMPLEX:
            return complex(*struct.unpack(">dd", data))
        if code == _SET:
            items = unpack(data)
            return set(items) if isinstance(items, list) else None
        return _ndarray(unpack(data)) if code == _NDARRAY else None
    except (ValueError, TypeError, struct.error):
        return None


def _ndarray(parts: Any) -> np.ndarray | None:
    """The array of an extension; ``None`` where it is none that can be had without running what it says."""
    if not isinstance(parts, dict) or not isinstance(parts.get("data"), bytes):
        return None
    try:
        dtype = parts["dtype"]
        made = np.dtype(dtype["str"]) if "str" in dtype else np.dtype([_field(field) for field in dtype["descr"]])
        return None if made.hasobject else np.frombuffer(parts["data"], made).reshape(parts["shape"])
    except (TypeError, ValueError, KeyError, AttributeError, SyntaxError, OverflowError):
        # NumPy parses the text of a dtype by Python's own rules.
        return None


def _field(field: list[Any]) -> tuple[Any, ...]:
    """A field of ``dtype.descr`` whose tuples came back as lists."""
    name, spec, *shape = field
    if isinstance(spec, list):
        spec = [_field(inner) for inner in spec]
    return (tuple(name) if isinstance(name, list) else name, spec, *map(tuple, shape))
