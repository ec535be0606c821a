"""Fields are written alone: what NumPy would write, and nothing else."""

import itertools

import numpy as np
import pytest

import b2nd
from b2nd import _fields, _indexing

DTYPE = np.dtype([("id", "<u2"), ("pos", ">f4", (3,)), ("in", [("x", "S2"), ("y", "?")])])

KEYS = [
    np.s_[...], np.s_[2], np.s_[-1, 3], np.s_[1:4, ::-2], np.s_[:, None, 4:1:-1], [3, 0], np.s_[[3, 0], 1:], np.s_[:, [4, 4, 1]],
    np.s_[[0, 1, 3], [4, 4, 2]], np.s_[[[0], [2]], [1, 3]], np.s_[2:2], np.s_[0, ...],
]  # fmt: skip


def items(shape):
    made = np.zeros(shape, DTYPE)
    made["id"] = np.arange(made.size).reshape(shape)
    made["pos"] = np.random.default_rng(0).random((*shape, 3))
    made["in"]["x"], made["in"]["y"] = b"ab", True
    return made


def same(a, expected):
    assert a[...].tobytes() == expected.tobytes()


@pytest.mark.parametrize("most", [1, 7, 1 << 20])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_what_numpy_would_write(key, most, monkeypatch):
    monkeypatch.setattr(_fields, "_MOST", most * DTYPE.itemsize)
    expected = items((5, 6))
    a = b2nd.array(expected, chunks=(2, 4))
    count = expected[key].shape
    for name, value in [
        ("id", np.arange(np.prod(count), dtype="i8").reshape(count) + 500), ("id", 7), ("pos", [1, 2, 3]),
        ("pos", np.random.default_rng(1).random((*count, 3))), ("in", (b"z", False)), ("id", np.arange(1) if count else 1),
    ]:  # fmt: skip
        a.fields[name][key] = value
        expected[name][key] = value
        same(a, expected)
    turned = a.T.expand_dims(0)
    turned.fields["id"][0, 1] = expected["id"].T[None][0, 1] = 9
    turned["pos"][...] = expected["pos"].transpose(1, 0, 2)[None][...] = 0.5
    same(a, expected)


@pytest.mark.parametrize(
    "key",
    [
        np.s_[..., 0], np.s_[0, ..., 0], np.s_[:, 1, 2], np.s_[1:3, None, ::-1, ::2], np.s_[..., None, 1], np.s_[2, 3, 1], np.s_[4, ..., None, 5, 2],
        np.s_[[0, 3], ..., 1], np.s_[[0, 3], [1, 1], [2, 0]], np.s_[..., [2, 0]], np.s_[np.arange(30).reshape(5, 6) % 4 == 1], np.s_[:, None],
    ],
    ids=str,
)  # fmt: skip
def test_axes_of_a_sub_array_are_indexed_too(key):
    expected = items((5, 6))
    a = b2nd.array(expected, chunks=(2, 4))
    found = a.fields["pos"][key]
    assert found.shape == expected["pos"][key].shape
    np.testing.assert_array_equal(found, expected["pos"][key])
    for value in (7, np.random.default_rng(2).random(found.shape)):
        a.fields["pos"][key] = value
        expected["pos"][key] = value
        same(a, expected)
    with pytest.raises(IndexError):
        a.fields["pos"][0, 0, 0, 0]
    with pytest.raises(IndexError):
        a.fields["pos"][..., 3]


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3)], ids=str)
@pytest.mark.parametrize("name", ["id", "pos", "in"])
@pytest.mark.parametrize(
    "key",
    [
        (), np.s_[...], 0, np.s_[0, ...], np.s_[..., 0], np.s_[0, 0], np.s_[0, 0, ...], np.s_[0, 0, 0], np.s_[0, 0, 0, ...], None, True, False,
        np.s_[[0], ..., None], np.s_[[0, 0], None, [0, 0]], np.s_[[0], ..., None, [0]], np.s_[None, [0], ..., True], np.s_[0, ..., None],
    ],
    ids=str,
)  # fmt: skip
def test_a_field_gives_the_type_and_shape_that_numpy_gives(shape, name, key):
    expected = items(shape)
    field = b2nd.array(expected).fields[name]
    try:
        due = expected[name][key]
    except IndexError:
        with pytest.raises(IndexError):
            field[key]
        return
    found = field[key]
    assert type(found) is type(due) and found.shape == due.shape and found.dtype == due.dtype
    np.testing.assert_array_equal(found, due)
    whole = np.asarray(field)
    assert whole.shape == expected[name].shape
    np.testing.assert_array_equal(whole, expected[name])


def test_names_that_are_no_field_raise_what_numpy_raises():
    for shape in ((), (3,)):
        expected = items(shape)
        a, plain = b2nd.array(expected), b2nd.zeros(shape)
        for one, other in ((a, expected), (plain, np.zeros(shape))):
            for key in ("no", ["id", "no"], ["id", 0]):
                with pytest.raises(Exception) as due:
                    other[key]
                with pytest.raises(due.type):
                    one[key]
            with pytest.raises((ValueError, IndexError)):
                one["no"] = 0
        np.testing.assert_array_equal(a[["id", "in"]], expected[["id", "in"]])
        assert type(a[["id", "in"]]) is np.ndarray


def test_a_field_of_another_array_and_by_name(path):
    expected = items((30, 6))
    a = b2nd.array(expected, urlpath=path, chunks=(7, 4))
    b = b2nd.array(expected[::-1])
    a.fields["id"][...] = b.fields["id"]
    a["pos"] = b2nd.full((30, 6, 3), 4)
    expected["id"], expected["pos"] = expected["id"][::-1].copy(), 4
    same(a, expected)
    a.close()
    same(b2nd.open(path), expected)


def test_a_write_in_pieces_is_one_commit(path, monkeypatch):
    a = b2nd.array(items((30, 6)), urlpath=path, chunks=(7, 4))
    reader = b2nd.open(path)
    monkeypatch.setattr(_fields, "_MOST", 1)
    writes = []
    real = b2nd.Array._write

    def write(self, plan, value):
        writes.append(plan.raw)
        assert not reader.refresh()
        real(self, plan, value)

    monkeypatch.setattr(b2nd.Array, "_write", write)
    a.fields["id"][...] = 3
    assert len(writes) == 10 and reader.refresh() and (reader["id"][...] == 3).all()
    with pytest.raises(ZeroDivisionError), a.transaction():
        a.fields["id"][...] = 4
        1 / 0  # noqa: B018
    assert (a["id"][...] == 3).all()


def test_what_is_no_write_of_a_field():
    a = b2nd.array(items((4, 3)))
    with pytest.raises(TypeError, match="field view"):
        a.fields["id"] = 0
    with pytest.raises(KeyError):
        a.fields["no"]
    with pytest.raises(KeyError):
        b2nd.zeros(3).fields["no"]
    with pytest.raises(ValueError, match="broadcast"):
        a.fields["id"][1:] = np.arange(5)
    with pytest.raises(IndexError):
        a.fields["id"][9] = 0
    assert list(a.fields) == ["id", "pos", "in"] and len(a.fields) == 3 and len(a.fields["pos"]) == 4
    assert a.fields["pos"].ndim == 3 and [row.tolist() for row in a.fields["id"]] == a["id"][...].tolist()
    same(a, items((4, 3)))


def indices(plan, shape):
    """The indices that each axis of a selection takes."""
    return [np.arange(n)[slice(*part)] if isinstance(part, tuple) else part for part, n in zip(plan.selection, shape, strict=True)]


@pytest.mark.parametrize("most", [1, 5, 100, 10**6])
def test_pieces_cover_an_index_once_and_keep_chunks_whole(most):
    rng = np.random.default_rng(most)

    def part(n):
        if n and rng.random() < 0.2:
            return rng.integers(0, n, 4)
        ends = [None if rng.random() < 0.3 else int(rng.integers(-n - 1, n + 2)) for _ in range(2)]
        return slice(*ends, int(rng.choice([1, 1, 1, 2, -1, -3])))

    for _ in range(300):
        shape = tuple(int(n) for n in rng.integers(0, 20, rng.integers(0, 4)))
        chunks = tuple(int(rng.integers(1, n + 3)) for n in shape)
        plan = _indexing.orthogonal(tuple(part(n) for n in shape), shape)
        whole = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        found, touched = np.full(plan.raw, -1), []
        for piece, where in _indexing.pieces(plan, most, chunks):
            own = indices(piece, shape)
            assert 0 not in piece.raw and piece.shape == found[where].shape
            found[where] = whole[np.ix_(*own)]
            touched.append(set(itertools.product(*(np.unique(along // c) for along, c in zip(own, chunks, strict=True)))))
        np.testing.assert_array_equal(found, whole[np.ix_(*indices(plan, shape))])
        if all(isinstance(one, tuple) and one[2] == 1 for one in plan.selection):
            assert sum(map(len, touched)) == len(set().union(*touched))
