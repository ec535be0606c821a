"""Where items are, items by their places, and parts reduced: against NumPy."""

import numpy as np
import pytest

import b2nd

SHAPES = [((), None), ((7,), (3,)), ((4, 6), (3, 4)), ((5, 4, 7), (2, 4, 3)), ((1, 9), (1, 2))]


def of(dtype, shape, seed):
    """Few values, so that many items are equal, and NaN where there is such."""
    rng = np.random.default_rng(seed)
    items = rng.integers(0, 4, shape).astype("M8[s]" if np.dtype(dtype).kind == "M" else dtype)
    items = np.array(items.astype(dtype))
    if items.dtype.kind in "fcM" and seed % 2:
        items[rng.random(shape) < 0.2] = "NaT" if items.dtype.kind == "M" else np.nan
    return items


def axes_of(a):
    return [None, *range(-a.ndim, a.ndim)]


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("dtype", ["?", "i1", ">i4", "u8", "f2", "<f4", ">f8", "c16", "M8[s]"])
@pytest.mark.parametrize(("shape", "chunks"), SHAPES, ids=str)
def test_places_of_the_least_and_greatest(name, dtype, shape, chunks):
    for seed in range(4):
        items = of(dtype, shape, seed)
        a = b2nd.array(items, chunks=chunks)
        for axis in axes_of(items):
            expected = getattr(items, name)(axis)
            found = getattr(a, name)(axis)
            assert type(found) is type(expected) and np.array_equal(found, expected), (seed, axis)
            kept = getattr(a, name)(axis, keepdims=True)
            np.testing.assert_array_equal(kept, getattr(np, name)(items, axis, keepdims=True))
            if items.ndim > 1:
                turned = getattr(a.T.expand_dims(1), name)(axis)
                np.testing.assert_array_equal(turned, getattr(np.expand_dims(items.T, 1), name)(axis))


def test_places_as_numpy_asks_for_them():
    items = np.random.default_rng(3).random((6, 8))
    a = b2nd.array(items, chunks=(4, 3))
    out = np.empty(8, np.intp)
    assert a.argmax(0, out=out) is out and (out == items.argmax(0)).all()
    assert np.argmin(a) == items.argmin() and (np.argmax(a, axis=-1, keepdims=True) == items.argmax(-1, keepdims=True)).all()
    with pytest.raises(np.exceptions.AxisError):
        a.argmin(2)
    with pytest.raises(TypeError):
        a.argmin((0, 1))
    with pytest.raises(TypeError):
        b2nd.zeros(3, "i4,i4").argmin()
    empty = b2nd.zeros((0, 3))
    assert empty.argmin(1).shape == np.zeros((0, 3)).argmin(1).shape == (0,)
    for axis in (None, 0):
        with pytest.raises(ValueError, match="empty"):
            empty.argmax(axis)


def test_take_is_numpys():
    items = np.arange(120).reshape(4, 5, 6)
    a = b2nd.array(items, chunks=(3, 2, 4))
    for axis in axes_of(items):
        for indices in (2, -1, [0, 3, 3, -2], [], np.array([[1, 0], [-1, 2]]), np.uint8(3), np.array(1), [True, False]):
            expected = np.take(items, indices, axis)
            found = a.take(indices, axis)
            assert type(found) is type(expected) and found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(np.take(a.T, indices, axis), np.take(items.T, indices, axis))
        for mode in ("wrap", "clip"):
            far = [-300, 7, 299]
            np.testing.assert_array_equal(a.take(far, axis, mode=mode), np.take(items, far, axis, mode=mode))
    out = np.empty((4, 2, 6))
    assert a.take([4, 1], 1, out=out) is out and (out == items[:, [4, 1]]).all()
    assert b2nd.array(5).take(0) == 5


def test_take_says_what_it_cannot_take():
    a = b2nd.zeros((3, 4))
    with pytest.raises(IndexError, match="bounds"):
        a.take([3], 0)
    with pytest.raises(IndexError, match="bounds"):
        a.take(-13)
    with pytest.raises(IndexError):
        b2nd.zeros((0, 2)).take([0])
    with pytest.raises(TypeError, match="integer"):
        a.take([1.5])
    with pytest.raises(ValueError, match="axis"):
        a.take([0], axis=2)
    with pytest.raises(ValueError, match="mode"):
        a.take([0], mode="other")


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "min", "max", "any", "all", "argmin", "argmax"])
def test_parts_are_reduced(name):
    items = np.random.default_rng(5).random((8, 12, 5))
    a = b2nd.array(items, chunks=(2, 5, 1))
    for key in (np.s_[1:2, 3:7], np.s_[::-2, ..., 2:], np.s_[0, 1:9:2], np.s_[[5, 1, 1]], np.s_[:, None, 4]):
        part = items[key]
        for axis in axes_of(part):
            np.testing.assert_allclose(getattr(a, name)(axis, item=key), getattr(part, name)(axis), rtol=1e-14)
    np.testing.assert_allclose(getattr(a.T, name)(1, item=np.s_[2:, 3]), getattr(items.T[2:, 3], name)(1), rtol=1e-14)
