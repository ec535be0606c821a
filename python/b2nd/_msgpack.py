"""msgpack, as attributes are stored: what python-blosc2 writes and reads, without a dependency.

Numbers, texts, bytes, lists and maps are the format's own. Complex numbers, sets and NumPy arrays travel as the extension types
that python-blosc2 uses for them (44, 45 and 46); other extensions come back as :class:`Ext`, and are written back as they were.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

_COMPLEX, _SET, _NDARRAY = 44, 45, 46
_MAX_DEPTH = 100


class Ext(NamedTuple):
    """A value of an extension type that has no meaning here."""

    code: int
    data: bytes


def pack(value: Any) -> bytes:
    """The bytes of a value."""
    out = bytearray()
    _pack(value, out, 0)
    return bytes(out)


def _pack(value: Any, out: bytearray, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise ValueError("the value is nested too deeply")
    if value is None:
        out.append(0xC0)
    elif value is True or value is False or isinstance(value, np.bool_):
        out.append(0xC3 if value else 0xC2)
    elif isinstance(value, (int, np.integer)):
        _pack_int(int(value), out)
    elif isinstance(value, (float, np.floating)):
        out += b"\xcb" + struct.pack(">d", value)
    elif isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        _head(len(data), out, (0xA0, 32), 0xD9, 0xDA, 0xDB)
        out += data
    elif isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        _head(len(data), out, None, 0xC4, 0xC5, 0xC6)
        out += data
    elif isinstance(value, Ext):
        _pack_ext(value.code, value.data, out)
    elif isinstance(value, (list, tuple)):
        _head(len(value), out, (0x90, 16), None, 0xDC, 0xDD)
        for item in value:
            _pack(item, out, depth + 1)
    elif isinstance(value, dict):
        _head(len(value), out, (0x80, 16), None, 0xDE, 0xDF)
        for key, item in value.items():
            _pack(key, out, depth + 1)
            _pack(item, out, depth + 1)
    elif isinstance(value, (complex, np.complexfloating)):
        _pack_ext(_COMPLEX, struct.pack(">dd", float(value.real), float(value.imag)), out)
    elif isinstance(value, (set, frozenset)):
        _pack_ext(_SET, pack(list(value)), out)
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        dtype = {"descr": value.dtype.descr} if value.dtype.fields else {"str": value.dtype.str}
        parts = {"dtype": dtype, "shape": list(value.shape), "data": value.tobytes()}
        _pack_ext(_NDARRAY, pack(parts), out)
    elif isinstance(value, np.generic):
        _pack(value.item(), out, depth)
    else:
        raise TypeError(f"an attribute cannot be a {type(value).__name__}")


def _pack_int(value: int, out: bytearray) -> None:
    if 0 <= value < 128:
        out.append(value)
    elif -32 <= value < 0:
        out.append(value & 0xFF)
    else:
        kinds = ((0xCC, ">B"), (0xCD, ">H"), (0xCE, ">I"), (0xCF, ">Q")) if value > 0 else ((0xD0, ">b"), (0xD1, ">h"), (0xD2, ">i"), (0xD3, ">q"))
        for code, form in kinds:
            try:
                data = struct.pack(form, value)
            except struct.error:
                continue
            out.append(code)
            out += data
            return
        raise OverflowError(f"{value} has more than 64 bits")


def _head(count: int, out: bytearray, fix: tuple[int, int] | None, one: int | None, two: int, four: int) -> None:
    if fix and count < fix[1]:
        out.append(fix[0] | count)
    elif one is not None and count < 1 << 8:
        out += struct.pack(">BB", one, count)
    elif count < 1 << 16:
        out += struct.pack(">BH", two, count)
    else:
        out += struct.pack(">BI", four, count)


def _pack_ext(code: int, data: bytes, out: bytearray) -> None:
    fixed = {1: 0xD4, 2: 0xD5, 4: 0xD6, 8: 0xD7, 16: 0xD8}.get(len(data))
    if fixed is not None:
        out.append(fixed)
    else:
        _head(len(data), out, None, 0xC7, 0xC8, 0xC9)
    out += struct.pack(">b", code) + data


def unpack(data: bytes) -> Any:
    """The value of all of the bytes; ``ValueError`` where they are not one."""
    reader = _Reader(bytes(data))
    value = reader.value(0)
    if reader.at != len(reader.data):
        raise ValueError("bytes are left behind the value")
    return value


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            raise ValueError("the value is cut off")
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def value(self, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise ValueError("the value is nested too deeply")
        code = self.number(">B")
        if code < 0x80:
            return code
        if code < 0x90:
            return self.map(code & 15, depth)
        if code < 0xA0:
            return self.list(code & 15, depth)
        if code < 0xC0:
            return self.text(code & 31)
        if code >= 0xE0:
            return code - 256
        if code in _PLAIN:
            return _PLAIN[code]
        if code in _NUMBERS:
            return self.number(_NUMBERS[code])
        if code in _COUNTED:
            kind, form = _COUNTED[code]
            count = self.number(form)
            if kind == "bytes":
                return self.take(count)
            if kind == "text":
                return self.text(count)
            if kind == "ext":
                return self.ext(count, depth)
            return self.list(count, depth) if kind == "list" else self.map(count, depth)
        if 0xD4 <= code <= 0xD8:
            return self.ext(1 << (code - 0xD4), depth)
        raise ValueError(f"there is no value that starts with byte {code:#x}")

    def text(self, count: int) -> str:
        return self.take(count).decode("utf-8", "surrogatepass")

    def list(self, count: int, depth: int) -> list[Any]:
        if count > len(self.data):
            raise ValueError("the value is cut off")
        return [self.value(depth + 1) for _ in range(count)]

    def map(self, count: int, depth: int) -> dict[Any, Any]:
        found = {}
        if 2 * count > len(self.data):
            raise ValueError("the value is cut off")
        for _ in range(count):
            key = self.value(depth + 1)
            if isinstance(key, (list, dict)):
                raise ValueError("a key is a list or a map")
            found[key] = self.value(depth + 1)
        return found

    def ext(self, count: int, depth: int) -> Any:
        code = self.number(">b")
        data = self.take(count)
        inner = _Reader(data)
        if code == _COMPLEX and count == 16:
            return complex(*struct.unpack(">dd", data))
        if code == _SET:
            items = inner.value(depth + 1)
            if isinstance(items, list) and not any(isinstance(item, (list, dict, set)) for item in items):
                return set(items)
        if code == _NDARRAY:
            array = _ndarray(inner.value(depth + 1))
            if array is not None:
                return array
        return Ext(code, data)


def _ndarray(parts: Any) -> np.ndarray | None:
    """The array of an extension; ``None`` where it is none that can be had without running what it says."""
    if not isinstance(parts, dict) or not isinstance(parts.get("data"), bytes):
        return None
    try:
        dtype = parts["dtype"]
        made = np.dtype(dtype["str"]) if "str" in dtype else np.dtype([_field(field) for field in dtype["descr"]])
        return None if made.hasobject else np.frombuffer(parts["data"], made).reshape(parts["shape"])
    except (TypeError, ValueError, KeyError, AttributeError):
        return None


def _field(field: list[Any]) -> tuple[Any, ...]:
    """A field of ``dtype.descr`` whose tuples came back as lists."""
    name, spec, *shape = field
    if isinstance(spec, list):
        spec = [_field(inner) for inner in spec]
    return (tuple(name) if isinstance(name, list) else name, spec, *map(tuple, shape))


_PLAIN = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
    0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
_COUNTED = {
    0xC4: ("bytes", ">B"), 0xC5: ("bytes", ">H"), 0xC6: ("bytes", ">I"),
    0xC7: ("ext", ">B"), 0xC8: ("ext", ">H"), 0xC9: ("ext", ">I"),
    0xD9: ("text", ">B"), 0xDA: ("text", ">H"), 0xDB: ("text", ">I"),
    0xDC: ("list", ">H"), 0xDD: ("list", ">I"), 0xDE: ("map", ">H"), 0xDF: ("map", ">I"),
}  # fmt: skip
