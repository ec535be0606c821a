"""Whatever NumPy's indexing allows gives what NumPy gives, in reading and in writing."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import b2nd


@st.composite
def arrays(draw, min_side=0):
    """An array of NumPy and the same compressed, in small chunks and blocks."""
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=min_side, max_side=7))
    chunks = tuple(draw(st.integers(1, max(n, 1))) for n in shape)
    blocks = tuple(draw(st.integers(1, c)) for c in chunks)
    items = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    return items, b2nd.array(items, chunks=chunks, blocks=blocks)


@st.composite
def one_entry(draw, length):
    """An entry of an index for an axis."""
    kind = draw(st.sampled_from(["int", "slice", "list", "array", "mask", "matrix", "column"]))
    inside = st.integers(-length, length - 1)
    if kind == "slice" or not length:
        return draw(st.slices(length))
    if kind == "int":
        return draw(st.one_of(inside, inside.map(np.int64), inside.map(lambda n: np.array(n, np.int16))))
    if kind == "list":
        return draw(st.lists(inside, max_size=4))
    if kind == "array":
        return np.array(draw(st.lists(inside, min_size=2, max_size=2)), draw(st.sampled_from(["i1", "i8", ">i4"])))
    if kind == "matrix":
        return np.array(draw(st.lists(inside, min_size=6, max_size=6))).reshape(3, 2)
    if kind == "column":
        return np.array(draw(st.lists(inside, min_size=3, max_size=3))).reshape(3, 1)
    return np.array(draw(st.lists(st.booleans(), min_size=length, max_size=length)))


@st.composite
def indices(draw, shape):
    """An index for an array of this shape, or what is none."""
    if shape and draw(st.integers(0, 9)) == 0:
        axes = draw(st.integers(1, len(shape)))
        mask = draw(hnp.arrays(np.bool_, shape[:axes]))
        return (mask, *[draw(one_entry(n)) for n in shape[axes:]]) if draw(st.booleans()) else mask
    entries = [draw(one_entry(n)) for n in shape[: draw(st.integers(0, len(shape)))]]
    for extra in draw(st.lists(st.sampled_from(["new", "dots", "true", "false"]), max_size=2)):
        at = draw(st.integers(0, len(entries)))
        entries.insert(at, {"new": None, "dots": ..., "true": True, "false": np.False_}[extra])
    if len(entries) == 1 and draw(st.booleans()):
        return entries[0]
    return tuple(entries)


def outcome(function):
    """What comes out: the result, or that it is no index."""
    try:
        return function()
    except (IndexError, ValueError, TypeError, OverflowError) as error:
        return type(error)


def same(ours, theirs):
    if isinstance(theirs, type):
        assert ours is theirs or (isinstance(ours, type) and issubclass(ours, (IndexError, ValueError, TypeError)))
        return
    assert not isinstance(ours, type), ours
    assert type(ours) is type(theirs)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    np.testing.assert_array_equal(ours, theirs)


@given(st.data())
def test_reading_is_as_in_numpy(data):
    items, a = data.draw(arrays())
    key = data.draw(indices(items.shape))
    same(outcome(lambda: a[key]), outcome(lambda: items[key]))


@given(st.data())
def test_basic_indices_of_hypothesis_too(data):
    items, a = data.draw(arrays(min_side=1))
    key = data.draw(hnp.basic_indices(items.shape, allow_newaxis=True, allow_ellipsis=True))
    same(a[key], items[key])


@given(st.data())
def test_writing_is_as_in_numpy(data):
    items, a = data.draw(arrays())
    items = items.copy()
    key = data.draw(indices(items.shape))
    taken = outcome(lambda: items[key])
    if isinstance(taken, type):
        with pytest.raises((IndexError, ValueError)):
            a[key] = 1
        return
    value = -1
    if data.draw(st.booleans()):
        shape = data.draw(hnp.broadcastable_shapes(np.shape(taken), min_side=0, max_dims=np.ndim(taken), max_side=7))
        value = -np.arange(1, 1 + int(np.prod(shape)), dtype=data.draw(st.sampled_from(["i4", "f8", "i8"]))).reshape(shape)

    def write(to):
        to[key] = value

    ours, theirs = outcome(lambda: write(a)), outcome(lambda: write(items))
    if isinstance(theirs, type):
        assert isinstance(ours, type)
    else:
        assert ours is None
        np.testing.assert_array_equal(a[...], items)


@given(st.data())
def test_views_read_and_write_as_numpy_does(data):
    items, a = data.draw(arrays(min_side=1))
    items = items.copy()
    view, ours = items, a
    for step in data.draw(st.lists(st.sampled_from(["transpose", "squeeze", "expand", "permute"]), max_size=3)):
        if step == "transpose":
            view, ours = view.T, ours.T
        elif step == "squeeze":
            view, ours = view.squeeze(), ours.squeeze()
        elif step == "expand" and view.ndim < 6:
            at = data.draw(st.integers(-view.ndim - 1, view.ndim))
            view, ours = np.expand_dims(view, at), ours.expand_dims(at)
        elif step == "permute":
            order = data.draw(st.permutations(range(view.ndim)))
            view, ours = view.transpose(order), ours.transpose(order)
    assert ours.shape == view.shape
    key = data.draw(indices(view.shape))
    taken = outcome(lambda: view[key])
    same(outcome(lambda: ours[key]), taken)
    axis = data.draw(st.none() | st.integers(0, view.ndim - 1)) if view.ndim else None
    keepdims = data.draw(st.booleans())
    same(ours.sum(axis=axis, keepdims=keepdims), view.sum(axis=axis, keepdims=keepdims, dtype=np.int64))
    if not isinstance(taken, type):
        value = -np.arange(1, 1 + np.size(taken), dtype="i4").reshape(np.shape(taken))
        view[key] = value
        ours[key] = value
        np.testing.assert_array_equal(a[...], items)


@given(st.data())
def test_oindex_is_every_combination(data):
    items, a = data.draw(arrays(min_side=1))
    lists, key = [], []
    for n in items.shape:
        entry = data.draw(st.one_of(st.lists(st.integers(-n, n - 1), max_size=5), st.slices(n), hnp.arrays(np.bool_, n)))
        lists.append(np.arange(n)[entry] if not isinstance(entry, list) else np.arange(n)[np.array(entry, int)])
        key.append(entry)
    due = items[np.ix_(*lists)] if lists else items
    np.testing.assert_array_equal(a.oindex[tuple(key)], due)
    value = -1 - np.arange(due.size, dtype="i4").reshape(due.shape)
    a.oindex[tuple(key)] = value
    changed = items.copy()
    if lists:
        changed[np.ix_(*lists)] = value
    else:
        changed[...] = value
    np.testing.assert_array_equal(a[...], changed)


@given(st.data())
def test_vindex_is_single_items(data):
    items, a = data.draw(arrays(min_side=1))
    if not items.ndim:
        return
    count = data.draw(st.integers(0, 6))
    key = tuple(np.array(data.draw(st.lists(st.integers(-n, n - 1), min_size=count, max_size=count)), int) for n in items.shape)
    np.testing.assert_array_equal(a.vindex[key], items[key])
    mask = data.draw(hnp.arrays(np.bool_, items.shape))
    np.testing.assert_array_equal(a.vindex[mask], items[mask])


def test_vindex_takes_a_truth_value_of_an_array_without_axes():
    items = np.array(7)
    a = b2nd.array(items)
    for mask in (True, False, np.True_, np.array(False)):
        np.testing.assert_array_equal(a.vindex[mask], items[mask], strict=True)
    a.vindex[True] = 8
    assert a[()] == 8
    with pytest.raises(IndexError):
        b2nd.zeros(3).vindex[True]


@given(st.data())
def test_into_an_array_that_is_there(data):
    items, a = data.draw(arrays())
    key = data.draw(indices(items.shape))
    taken = outcome(lambda: items[key])
    if isinstance(taken, type):
        return
    for dtype, order in (("i4", "C"), ("f8", "F"), (">i2", "C")):
        out = np.zeros(np.shape(taken), dtype, order)
        assert a.get(key, out=out) is out
        np.testing.assert_array_equal(out, taken)
    with pytest.raises(ValueError):
        a.get(key, out=np.zeros((*np.shape(taken), 3), "i4"))


@pytest.mark.parametrize("key", [7, -8, (0, 5), (0, 0, 0), [0, 7], ([0, 1], [0, 1, 2]), "x", 1.5, (..., ...), np.ones(3, bool), [1.5], np.ones((7, 4), bool)])
def test_what_is_no_index_is_an_error(key):
    items = np.zeros((7, 5))
    a = b2nd.array(items)
    with pytest.raises((IndexError, KeyError)):
        a[key]
    with pytest.raises((IndexError, KeyError, ValueError)):
        a[key] = 0


def test_indices_that_are_compressed_themselves():
    items = np.arange(60).reshape(6, 10)
    a = b2nd.array(items, chunks=(4, 3))
    for index in (np.array([5, 0, -2]), np.array(3), items[:, 0] % 20 == 0, items % 7 == 1):
        np.testing.assert_array_equal(a[b2nd.array(index)], items[index])
    a[b2nd.array(items % 7 == 1)] = -1
    np.testing.assert_array_equal(a[...], np.where(items % 7 == 1, -1, items))


def test_masks_of_no_length_take_nothing():
    items = np.zeros((6, 5, 4))
    a = b2nd.array(items)
    for mask in (np.zeros(0, bool), np.zeros((6, 0), bool), np.zeros((6, 0, 4), bool)):
        assert a[mask].shape == items[mask].shape


def test_a_list_for_each_axis():
    items = np.arange(60).reshape(6, 10)
    a = b2nd.array(items, chunks=(4, 3))
    for rows, columns in (([3, 1, 3], [2, 5]), ([0], [9, 9]), (np.array([1, 2]), [0])):
        np.testing.assert_array_equal(a.oindex[[rows, columns]], items[np.ix_(rows, columns)])
    np.testing.assert_array_equal(a.oindex[[1, 2]], items[[1, 2]])


REFUSED = [
    300, -1, 2**70, float("nan"), np.float64("nan"), np.float32("inf"), np.int64(300), 1j, np.complex64(1j), "x", None, np.datetime64("2020-01-01"),
    [300], [float("nan")], (300,), [[1]], [np.float64("nan")],
]  # fmt: skip


@pytest.mark.parametrize("value", REFUSED, ids=repr)
@pytest.mark.parametrize("key", [0, np.s_[0, ...], np.s_[:], np.s_[...], np.s_[1:2], [0, 2]], ids=str)
@pytest.mark.parametrize("dtype", ["u1", "i4", ">i2", "f4", [("x", "u1"), ("y", "i4")]], ids=str)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast", "ignore:Casting complex values")
def test_what_numpy_refuses_to_assign_is_refused(dtype, key, value):
    items = np.zeros(3, dtype)
    a = b2nd.array(items)
    view = a.T

    def write(to):
        to[key] = value

    due = outcome(lambda: write(items))
    for ours in (a, view):
        if isinstance(due, type):
            with pytest.raises((ValueError, TypeError, OverflowError)):
                write(ours)
        else:
            write(ours)
        assert a[...].tobytes() == items.tobytes()
