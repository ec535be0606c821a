"""Attributes are the msgpack that python-blosc2 writes, byte by byte, and what is not msgpack comes as bytes."""

import subprocess
import sys

import msgpack
import numpy as np
import pytest

import b2nd
from b2nd import _msgpack

KNOWN = [
    (None, "c0"), (True, "c3"), (np.False_, "c2"), (127, "7f"), (128, "cc80"), (-33, "d0df"), (np.uint64(2**64 - 1), "cf" + "ff" * 8),
    (np.float32(1.5), "cb3ff8000000000000"), ("\ud800", "a3eda080"), ("x" * 32, "d920" + "78" * 32), (memoryview(b"ab"), "c4026162"),
    ((1, [2]), "92019102"), ({"a": 1, 2: b""}, "82a1610102c400"), (1j, "d82c" + "00" * 8 + "3ff0000000000000"), ({7}, "d52d9107"),
    (np.array([1], "<i2"), "c7212e83a5647479706581a3737472a33c6932a573686170659101a464617461c4020100"),
    (msgpack.ExtType(7, b"abc"), "c70307616263"), (msgpack.Timestamp(1, 0), "d6ff00000001"), (np.longdouble(1.5), "cb3ff8000000000000"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "data"), KNOWN, ids=lambda part: part if isinstance(part, str) else repr(part))
def test_the_bytes_are_known(value, data):
    assert _msgpack.pack(value).hex() == data
    found = _msgpack.unpack(bytes.fromhex(data))
    due = {tuple: list, memoryview: bytes}.get(type(value), lambda same: same)(value)
    if isinstance(due, np.ndarray):
        assert found.dtype == due.dtype and found.tolist() == due.tolist()
    else:
        assert found == due
    assert _msgpack.pack(found).hex() == data


@pytest.mark.parametrize(
    "data", ["", "c1", "c0c0", "91", "ddffffffff", "8190c0", "a2ffff", "d4a000", "91" * 5000 + "c0"], ids=lambda data: data[:16]
)
def test_what_is_not_msgpack_comes_as_bytes(data):
    a = b2nd.zeros(3)
    a._handle.set_vlmetalayer("x", bytes.fromhex(data))
    assert a.attrs["x"] == bytes.fromhex(data)


@pytest.mark.parametrize("data", ["d52d9190", "c7032e91a161", "d52cc0c0", "c7202e83a5647479706581a3737472a22c2ca573686170659101a464617461c4020100"])
def test_an_extension_that_is_not_what_its_code_says_stays_one(data):
    found = _msgpack.unpack(bytes.fromhex(data))
    assert isinstance(found, msgpack.ExtType) and _msgpack.pack(found).hex() == data


def test_values_that_attributes_cannot_be():
    a = b2nd.zeros(3)
    deep = []
    for _ in range(2000):
        deep = [deep]
    for value in (object(), np.array([None]), np.datetime64("2020-01-01"), 2**64, deep):
        with pytest.raises((TypeError, OverflowError, ValueError)):
            a.attrs["x"] = value
    assert list(a.attrs) == []


def test_arrays_do_not_need_the_package(path):
    b2nd.zeros(3, urlpath=path, attrs={"unit": "K"})
    program = f"""
import sys
sys.modules["msgpack"] = None
import b2nd
a = b2nd.open({path!r})
assert a[0] == 0 and list(a.attrs) == ["unit"]
try:
    a.attrs["unit"]
except ImportError as error:
    assert "install" in str(error)
else:
    raise SystemExit("no error")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
