"""Arrays whose items are computed, or come from an iterator."""

import os

import numpy as np
import pytest

import b2nd
from b2nd import _ranges


@pytest.fixture(params=[1, 100, 1 << 26])
def most(request, monkeypatch):
    """The bytes that are made at once: from a chunk to everything."""
    monkeypatch.setattr(_ranges, "_MOST", request.param)


def same(a, expected):
    assert isinstance(a, b2nd.Array) and a.dtype == expected.dtype
    np.testing.assert_array_equal(a[...], expected)
    assert np.asarray(a).tobytes() == expected.tobytes()


@pytest.mark.usefixtures("most")
@pytest.mark.parametrize(
    "given",
    [(7,), (0,), (3, 20), (20, 3), (20, 3, -4), (0, 1, 0.1), (0.5, 9), (5, 5), (2, 10, -1), (0, -3, -1), (3, 30, 3), (-8, 8, 1)],
    ids=str,
)
def test_arange_is_numpys(given):
    same(b2nd.arange(*given, chunks=4), np.arange(*given))
    for dtype in ("i2", ">i8", "f4", "c8"):
        same(b2nd.arange(*given, dtype=dtype), np.arange(*given, dtype=dtype))


@pytest.mark.usefixtures("most")
def test_ranges_have_shapes():
    same(b2nd.arange(60, shape=(3, 4, 5), chunks=(2, 3, 4)), np.arange(60).reshape(3, 4, 5))
    same(b2nd.arange(1, None, None), np.arange(1))
    same(b2nd.linspace(-1, 7, shape=(10, 10), chunks=(3, 4)), np.linspace(-1, 7, 100).reshape(10, 10))
    same(b2nd.arange(1, shape=()), np.array(0))
    for make in (lambda: b2nd.arange(10, shape=(3, 3)), lambda: b2nd.linspace(0, 1, 10, shape=20), lambda: b2nd.linspace(0, 1)):
        with pytest.raises(ValueError):
            make()
    with pytest.raises(TypeError, match="numbers"):
        b2nd.arange(3, dtype="U2")


@pytest.mark.usefixtures("most")
@pytest.mark.parametrize("num", [0, 1, 2, 50, 333])
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("ends", [(0, 1), (2.5, -7), (3, 3), (0, 1j), (-10, 10)], ids=str)
def test_linspace_is_numpys(ends, num, endpoint):
    same(b2nd.linspace(*ends, num, endpoint, chunks=7), np.linspace(*ends, num, endpoint))
    dtypes = ("c8",) if isinstance(ends[1], complex) else ("f4", ">f8", "i4", "c16")
    for dtype in dtypes:
        same(b2nd.linspace(*ends, num, endpoint, dtype), np.linspace(*ends, num, endpoint, dtype=dtype))


@pytest.mark.usefixtures("most")
@pytest.mark.parametrize("k", [-30, -3, 0, 2, 11, 40])
@pytest.mark.parametrize("shape", [(9, None), (9, 20), (20, 9), (0, 3)])
def test_eye_is_numpys(shape, k):
    for dtype in (float, "i2", "U1"):
        same(b2nd.eye(*shape, k, dtype, chunks=(4, 5)), np.eye(*shape, k, dtype))


class Counted:
    """An iterator that knows how often it was asked."""

    def __init__(self, items):
        self.items, self.count = iter(items), 0

    def __iter__(self):
        return self

    def __next__(self):
        item = next(self.items)
        self.count += 1
        return item


def test_items_of_an_iterator_are_taken_once(path):
    counted = Counted(range(1000))
    a = b2nd.fromiter(counted, (3, 4, 5), "i2", chunks=(2, 2, 3), urlpath=path)
    assert counted.count == 60
    same(a, np.arange(60, dtype="i2").reshape(3, 4, 5))
    a.close()
    same(b2nd.open(path), np.arange(60, dtype="i2").reshape(3, 4, 5))
    same(b2nd.fromiter(counted, (0, 7)), np.zeros((0, 7)))
    assert counted.count == 60
    same(b2nd.fromiter(counted, ()), np.array(60.0))
    records = [(n, n / 2) for n in range(6)]
    same(b2nd.fromiter(records, (3, 2), "i4,f4", chunks=(1, 2)), np.array(records, "i4,f4").reshape(3, 2))
    same(b2nd.fromiter(np.arange(6).reshape(2, 3), (3, 2), "i8"), np.arange(6).reshape(3, 2))


def test_what_is_not_whole_is_not_there(path):
    def failing():
        yield from range(15)
        raise ZeroDivisionError

    for items, error in ((range(19), ValueError), (failing(), ZeroDivisionError)):
        with pytest.raises(error):
            b2nd.fromiter(items, (5, 4), urlpath=path, chunks=(2, 2))
        assert os.listdir(os.path.dirname(path)) == []
    b2nd.arange(5, urlpath=path).close()
    with pytest.raises(b2nd.ExistsError):
        b2nd.arange(6, urlpath=path)
    with b2nd.arange(6, urlpath=path, overwrite=True) as a:
        assert a[-1] == 5


def test_texts_without_a_length_have_one_character():
    for kind in (np.str_, np.bytes_):
        same(b2nd.zeros(3, kind), np.zeros(3, kind))
        same(b2nd.ones((2, 2), kind), np.ones((2, 2), kind))
    same(b2nd.full(3, "abcd", np.str_), np.array(["abcd"] * 3))  # NumPy cuts it off


def test_what_is_there_is_not_copied():
    a = b2nd.arange(5)
    assert b2nd.array(a, copy=None) is a and b2nd.array(a, copy=False) is a and b2nd.asarray(a, copy=False) is a
    assert b2nd.array(a) is not a and b2nd.asarray(a, copy=True) is not a
    for make in (b2nd.array, b2nd.asarray):
        for given, options in ((a, {"dtype": "f4"}), (a, {"chunks": 2}), ([1, 2], {})):
            with pytest.raises(ValueError, match="copy=False"):
                make(given, copy=False, **options)


def test_how_an_array_is_compressed_makes_another_so():
    given = {"codec": "lz4", "clevel": 3, "filters": [("bitshuffle", 0), ("delta", 0)], "splitmode": "never", "use_dict": False}
    a = b2nd.zeros(10, **given)
    assert {name: a.cparams[name] for name in given} == given and a.cparams.codec == "lz4" and len(a.cparams) == 6
    assert b2nd.array(np.arange(5), **a.cparams).cparams == a.cparams
    with pytest.raises(KeyError):
        a.cparams["no"]
    with pytest.raises(AttributeError):
        a.cparams.codec = "zstd"
