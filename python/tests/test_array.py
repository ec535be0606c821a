"""Arrays are made, read, changed and closed."""

import copy
import os
import pickle
import warnings

import numpy as np
import pytest

import b2nd

DTYPES = [
    "?", "i1", "u1", "<i2", ">i2", "<u4", ">i8", "<f2", "<f4", ">f8", "<c8", ">c16", "S5", "<U3", ">U2", "V7",
    "<M8[ns]", ">M8[D]", "<m8[10us]", [("a", "<i4"), ("b", ">f8", (2,)), ("c", [("x", "S2"), ("y", "?")])],
    {"names": ["p", "q"], "formats": ["<i2", "<f4"], "offsets": [1, 5], "itemsize": 12},
]  # fmt: skip


def of(dtype, shape, seed=0):
    """Items with bytes of all kinds, but for what a dtype cannot hold."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "U":
        return rng.choice(np.array(["", "é", "ab", "日本"]), shape).astype(dtype)
    if dtype.kind == "?" or dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.fields:
        items = np.zeros(shape, dtype)
        for name in dtype.names:
            items[name] = of(dtype[name].base, items[name].shape, seed + 1)
        return items
    return np.frombuffer(rng.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_comes_back(dtype, path):
    items = of(dtype, (5, 6))
    with b2nd.array(items, urlpath=path, chunks=(3, 4), blocks=(2, 2)) as a:
        assert a.dtype == items.dtype
    with b2nd.open(path) as a:
        assert a.dtype == items.dtype
        assert a[...].tobytes() == items.tobytes()
        part = a[::-2, [4, 0]]
        if items.dtype.fields:  # NumPy leaves the gaps between fields as they are
            assert all(part[name].tobytes() == items[::-2, [4, 0]][name].tobytes() for name in items.dtype.names)
        else:
            assert part.tobytes() == items[::-2, [4, 0]].tobytes()
        part = a[3]
        assert part.dtype == items.dtype and part.shape == (6,)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4"])
def test_dtypes_of_ml_dtypes_are_kept_by_name(name, path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    items = np.arange(-6, 6).astype(getattr(ml_dtypes, name)).reshape(3, 4)
    a = b2nd.array(items, urlpath=path)
    a.close()
    a = b2nd.open(path)
    assert a.dtype == items.dtype and list(a.attrs) == []
    np.testing.assert_array_equal(a[...], items)
    np.testing.assert_array_equal(a.astype("f4")[...], items.astype("f4"))
    assert b2nd.full(3, 2, getattr(ml_dtypes, name))[1] == 2
    np.testing.assert_array_equal(b2nd.concat([a, a])[...], np.concatenate([items, items]))
    np.testing.assert_array_equal(b2nd.zeros(4, "f8").astype(items.dtype)[...], np.zeros(4, items.dtype))
    job = b2nd.FillJob.begin(path + "2", (2,), items.dtype)
    assert job.finish(job.write(slice(None), 1)).dtype == items.dtype


def test_objects_are_refused():
    with pytest.raises(TypeError):
        b2nd.array(np.array([object()]))
    with pytest.raises(TypeError):
        b2nd.zeros(3, object)


def test_what_is_made_holds_what_was_asked_for(path):
    assert b2nd.empty((2, 3), "i4")[...].tolist() == [[0] * 3] * 2
    assert b2nd.zeros(4)[...].tolist() == [0.0] * 4
    assert np.isnan(b2nd.nans((2, 2), "f4")[...]).all()
    assert b2nd.full((3,), 7)[...].tolist() == [7] * 3
    assert b2nd.full(2, "ab", "S4")[1] == b"ab"
    assert b2nd.ones((2,), "u1").dtype == np.uint8
    assert b2nd.full_like(b2nd.zeros((3, 2), "i2"), 5)[2, 1] == 5
    assert b2nd.zeros((), "f8")[()] == 0.0 and b2nd.zeros((), "f8").shape == ()
    a = b2nd.array(range(5), "i8", urlpath=path, codec="lz4", clevel=9, filters=["bitshuffle"], chunks=3, blocks=2)
    assert (a.codec, a.clevel, a.filters, a.chunks, a.blocks) == ("lz4", 9, [("bitshuffle", 0)], (3,), (2,))
    assert (a.shape, a.ndim, a.size, a.nbytes, a.urlpath, a.nchunks) == ((5,), 1, 5, 40, path, 2)
    assert a.cratio == a.nbytes / a.cbytes and len(a) == 5
    assert b2nd.array(np.ones((3, 3)), filters=[("trunc_prec", 10), "shuffle"]).filters == [("trunc_prec", 10), ("shuffle", 0)]
    with pytest.raises(b2nd.UsageError):
        b2nd.zeros(3, codec="nothing")
    with pytest.raises(TypeError):
        b2nd.zeros(3, colour="red")
    assert {"zstd", "lz4", "blosclz"} <= set(b2nd.codecs()) and "shuffle" in b2nd.filters()


@pytest.mark.parametrize(
    ("dtype", "lossy"),
    [("<i4", ("trunc_prec", 3)), ("<f8", ("int_trunc", 3)), (">f8", ("ndmean", 4)), ("<c8", ("trunc_prec", 10))],
)
def test_lossy_filters_are_refused_for_other_dtypes(path, dtype, lossy):
    items = np.arange(16, dtype=dtype)
    with pytest.raises(b2nd.UsageError, match=f"{lossy[0]}.*dtype {dtype}"):
        b2nd.array(items, urlpath=path, filters=[lossy, "shuffle"])
    floats = b2nd.array(np.arange(16, dtype="<f4"), filters=[("trunc_prec", 10), "shuffle"])
    with pytest.raises(b2nd.UsageError, match="dtype <i4"):
        floats.astype("<i4", filters=[("trunc_prec", 10)])
    assert floats.astype("<i4", clevel=9).filters == [("shuffle", 0)]


def test_asarray_copies_only_what_has_to_be(path):
    a = b2nd.zeros(3, "i4")
    assert b2nd.asarray(a) is a and b2nd.asarray(a, "i4") is a
    assert b2nd.asarray(a, "i8").dtype == np.int64
    copied = b2nd.asarray(a, urlpath=path)
    assert copied.urlpath == path
    fortran = np.asfortranarray(np.arange(12).reshape(3, 4))
    np.testing.assert_array_equal(b2nd.asarray(fortran)[...], fortran)


def test_a_file_is_not_replaced_unasked(path):
    b2nd.zeros(3, urlpath=path).close()
    with pytest.raises(FileExistsError) as raised:
        b2nd.ones(3, urlpath=path)
    assert isinstance(raised.value, b2nd.UsageError)
    with b2nd.ones(3, urlpath=path, overwrite=True) as a:
        assert a[0] == 1


def test_errors_are_a_tree_and_pythons_own_too(path, tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        b2nd.open(path)
    assert isinstance(raised.value, b2nd.NotFoundError) and raised.value.path == path and raised.value.errno == 2
    (tmp_path / "array.b2nd").write_bytes(b"no array" * 100)
    with pytest.raises(b2nd.FormatError) as raised:
        b2nd.open(path)
    assert isinstance(raised.value, ValueError) and raised.value.part and raised.value.path == path
    b2nd.array(np.arange(10000.0), urlpath=path, overwrite=True).close()
    with pytest.raises(b2nd.LimitError) as raised:
        b2nd.open(path, limits={"max_chunk_bytes": 100})[...]
    assert raised.value.allowed == 100
    with pytest.raises(b2nd.UsageError):
        b2nd.open(path, limits={"colour": 1})
    with pytest.raises(b2nd.UsageError):
        b2nd.open(path)[0] = 1
    with b2nd.open(path, "r+"), pytest.raises(b2nd.LockedError) as raised:
        b2nd.open(path, "r+")
    assert str(os.getpid()) in raised.value.holder and isinstance(raised.value, OSError)
    data = bytearray((tmp_path / "array.b2nd").read_bytes())
    data[len(data) // 2] ^= 0x40
    damaged = tmp_path / "damaged.b2nd"
    damaged.write_bytes(data)
    a = b2nd.open(damaged)
    found = a.verify()
    assert not found and found.damage[0]["chunk"] == 0 and isinstance(found.damage[0]["error"], b2nd.FormatError)
    with pytest.raises(b2nd.FormatError) as raised:
        a[...]
    assert raised.value.chunk == 0
    for kind in (b2nd.IoError, b2nd.FormatError, b2nd.UnsupportedError, b2nd.LockedError, b2nd.ChangedError, b2nd.UsageError, b2nd.LimitError, b2nd.OutOfMemoryError):
        assert issubclass(kind, b2nd.Error)
        assert type(pickle.loads(pickle.dumps(kind("text")))) is kind


def test_shapes_change_in_place(path):
    items = np.arange(24, dtype="i4").reshape(4, 6)
    a = b2nd.array(items, urlpath=path, chunks=(2, 4), blocks=(1, 2))
    a.resize((5, 6))
    items = np.vstack([items, np.zeros((1, 6), "i4")])
    np.testing.assert_array_equal(a[...], items)
    assert a.append([[1] * 6, [2] * 6]) == 42
    items = np.vstack([items, [[1] * 6, [2] * 6]])
    a.append(b2nd.full((7, 2), 9, "i4"), axis=1)
    items = np.hstack([items, np.full((7, 2), 9)])
    a.append(a, axis=-1)
    items = np.hstack([items, items])
    a.insert(-1, np.arange(16), axis=0)
    items = np.insert(items, -1, np.arange(16), axis=0)
    a.delete(slice(None, None, 3), axis=1)
    items = np.delete(items, slice(None, None, 3), axis=1)
    a.delete([0, -1])
    items = np.delete(items, [0, -1], 0)
    a.delete(np.arange(len(items)) == 2)
    items = np.delete(items, 2, 0)
    np.testing.assert_array_equal(a[...], items)
    a.resize((len(items), items.shape[1] + 2), starts=(0, 1), fill=-3)
    np.testing.assert_array_equal(a[...], np.insert(items, [1, 1], -3, axis=1))
    a.close()
    with b2nd.open(path) as again:
        assert again.shape == (len(items), items.shape[1] + 2) and again.verify()
    with pytest.raises(ValueError):
        b2nd.zeros((2, 2)).append(np.zeros((2, 3)))
    with pytest.raises(np.exceptions.AxisError):
        b2nd.zeros((2, 2)).append(np.zeros((2, 2)), axis=2)
    with pytest.raises(IndexError):
        b2nd.zeros((2, 2)).insert(3, np.zeros(2))
    with pytest.raises(b2nd.UsageError):
        b2nd.zeros((2, 2)).T.resize((3, 3))


def test_arrays_are_made_of_arrays(path):
    items = np.arange(60, dtype=">i4").reshape(3, 4, 5)
    a = b2nd.array(items, chunks=(2, 2, 2), blocks=(1, 2, 2), codec="lz4", attrs={"unit": "K"})
    copied = a.copy(path, chunks=(3, 4, 5))
    assert (copied.chunks, copied.codec, copied.attrs["unit"], copied.dtype) == ((3, 4, 5), "lz4", "K", items.dtype)
    np.testing.assert_array_equal(a.T.copy()[...], items.T)
    np.testing.assert_array_equal(a.slice(np.s_[1:, ::2, -1])[...], items[1:, ::2, -1])
    np.testing.assert_array_equal(a.slice(np.s_[[0, 2], None])[...], items[[0, 2], None])
    np.testing.assert_array_equal(a.astype("f8")[...], items.astype("f8"))
    np.testing.assert_array_equal(a.T.astype("u1")[...], items.T.astype("u1"))
    np.testing.assert_array_equal(a.reshape(5, -1)[...], items.reshape(5, -1))
    np.testing.assert_array_equal(a.T.reshape((12, 5))[...], items.T.reshape(12, 5))
    np.testing.assert_array_equal(b2nd.concat([a, a.T.copy().T, items], axis=-1)[...], np.concatenate([items] * 3, -1))
    np.testing.assert_array_equal(b2nd.stack([a, a], axis=1)[...], np.stack([items, items], 1))
    with pytest.raises(TypeError):
        a.astype("i2", casting="safe")
    with pytest.raises(np.exceptions.AxisError):
        b2nd.stack([a], axis=5)
    a.save(path + "-saved", sparse=True)
    assert os.path.isdir(path + "-saved") and b2nd.open(path + "-saved").info["sparse"]
    b2nd.save(items, path + "-np")
    np.testing.assert_array_equal(b2nd.open(path + "-np")[...], items)


@pytest.mark.parametrize("dtype", ["i2", "u8", "f4", ">f8", "c8", "?"])
def test_reductions_are_numpys(dtype):
    items = np.random.default_rng(1).integers(0, 9, (4, 5, 6)).astype(dtype)
    a = b2nd.array(items, chunks=(2, 3, 4), blocks=(1, 2, 2))
    for name in ("sum", "prod", "mean", "var", "std", "min", "max", "any", "all"):
        if dtype == "c8" and name in ("min", "max"):
            continue
        for axis in (None, 0, -1, (0, 2), ()):
            for keepdims in (False, True):
                ours, theirs = getattr(a, name)(axis, keepdims=keepdims), getattr(items, name)(axis, keepdims=keepdims)
                assert np.shape(ours) == np.shape(theirs) and type(ours) is type(theirs), (name, axis)
                np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    np.testing.assert_allclose(a.var(1, ddof=1), items.var(1, ddof=1), rtol=1e-5)
    assert b2nd.array([1.0, np.nan]).count_nan() == 1
    if dtype != "c8":
        out = np.zeros((4, 6))
        assert a.sum(1, dtype="f8", out=out) is out and a.T.sum(1, dtype="f8").dtype == np.float64
        np.testing.assert_allclose(out, items.sum(1, dtype="f8"))
        np.testing.assert_allclose(np.mean(a, axis=(0, 1)), np.mean(items, axis=(0, 1)), rtol=1e-5)
    with pytest.raises(ValueError):
        a.sum((0, 0))


def test_fields_are_read_alone():
    items = of([("id", "<u2"), ("pos", "<f4", (3,)), ("in", [("x", "i1")])], (4, 5))
    a = b2nd.array(items, chunks=(2, 2), blocks=(1, 2))
    assert list(a.fields) == ["id", "pos", "in"]
    assert a.fields["pos"].shape == (4, 5, 3) and a["id"].dtype == np.uint16
    for name in a.fields:
        for key in (..., 1, (slice(None), [3, 0]), (0, 0), (slice(None, None, -2), None, 4), ([0, 1], slice(2), None)):
            np.testing.assert_array_equal(a[name][key], items[key][name])
        np.testing.assert_array_equal(a.T[name][1:], items.T[1:][name])
        np.testing.assert_array_equal(np.asarray(a[name]), items[name])
    np.testing.assert_array_equal(a[["id", "in"]], items[["id", "in"]])
    a[0, 0] = (7, [1, 2, 3], (4,))
    assert a[0, 0]["id"] == 7 and a["in"][0, 0]["x"] == 4
    with pytest.raises(ValueError, match="no field of name nothing"):
        a["nothing"]


def test_attributes_are_what_python_blosc2_has(path):
    values = {
        "none": None, "true": True, "int": -70000, "big": 2**63, "float": 1.5, "text": "µ", "bytes": b"\0\1", "list": [1, [2, "x"]],
        "map": {"a": {"b": 1}}, "complex": 1 - 2j, "set": {1, 2}, "long": "x" * 70000, "many": list(range(70000)), "small": -33,
    }  # fmt: skip
    a = b2nd.zeros(3, urlpath=path, attrs={"first": [1.5]}, meta={"fixed": [1, 2]})
    for name, value in values.items():
        a.attrs[name] = value
    a.attrs["array"] = np.arange(6, dtype=">i2").reshape(2, 3)
    assert dict(a.meta)["fixed"] == [1, 2]
    a.meta["fixed"] = [3, 4]
    with pytest.raises(b2nd.UsageError):
        a.meta["fixed"] = [3, 4, 5]
    del a.attrs["first"]
    with pytest.raises(KeyError):
        del a.attrs["first"]
    with pytest.raises(TypeError):
        a.attrs["object"] = object()
    with pytest.raises(KeyError):
        a.attrs["b2nd.digests"] = 1
    a.close()
    a = b2nd.open(path)
    assert {name: a.vlmeta[name] for name in values} == values and a.meta["fixed"] == [3, 4]
    np.testing.assert_array_equal(a.attrs["array"], np.arange(6).reshape(2, 3))
    assert "first" not in a.attrs and set(a.attrs) == {*values, "array"} and len(a.attrs) == len(values) + 1
    blosc2 = pytest.importorskip("blosc2")
    theirs = blosc2.open(path)
    assert {name: theirs.vlmeta[name] for name in values} == values
    np.testing.assert_array_equal(theirs.vlmeta["array"], np.arange(6).reshape(2, 3))
    other = blosc2.zeros((3,), urlpath=path + "2")
    for name, value in values.items():
        other.vlmeta[name] = value
    assert {name: b2nd.open(path + "2").attrs[name] for name in values} == values


def test_files_go_both_ways(path):
    blosc2 = pytest.importorskip("blosc2")
    items = np.random.default_rng(0).normal(size=(30, 40, 5)).astype("f4")
    b2nd.array(items, urlpath=path, chunks=(10, 30, 5), blocks=(5, 10, 5)).close()
    np.testing.assert_array_equal(blosc2.open(path)[3:9, ::2], items[3:9, ::2])
    theirs = blosc2.asarray(items, chunks=(8, 8, 5))
    np.testing.assert_array_equal(b2nd.from_cframe(theirs.to_cframe())[:, 7], items[:, 7])
    np.testing.assert_array_equal(blosc2.ndarray_from_cframe(bytes(b2nd.asarray(items).to_cframe()))[...], items)


def test_transactions_are_whole_or_nothing(path):
    a = b2nd.zeros((3, 4), "i4", urlpath=path, chunks=(1, 4))
    with a.transaction() as same:
        assert same is a
        a[0] = 1
        a.append([[5, 6, 7, 8]])
        a.attrs["done"] = True
        a.T[1] = 2
        seen = b2nd.open(path)
        assert seen.shape == (3, 4) and seen.sum() == 0 and a.shape == (4, 4) and a[0, 0] == 1
        with pytest.raises(b2nd.UsageError):
            a.refresh()
        with pytest.raises(b2nd.UsageError), a.transaction():
            pass
        with pytest.raises(b2nd.UsageError):
            pickle.dumps(a)
    assert seen.refresh() and seen[0].tolist() == [1, 2, 1, 1] and seen.attrs["done"] is True
    assert not seen.refresh()
    with pytest.raises(ZeroDivisionError), a.transaction():
        a[...] = 9
        a.resize((1, 1))
        del a.attrs["done"]
        1 / 0  # noqa: B018
    assert a.shape == (4, 4) and a[0].tolist() == [1, 2, 1, 1] and a.attrs["done"] is True
    with a.transaction():
        a.close()
    with pytest.raises(ValueError):
        a[0]


def test_dead_bytes_are_given_back(path):
    a = b2nd.array(np.random.default_rng(0).normal(size=10_000), urlpath=path, chunks=1000)
    a[...] = np.random.default_rng(1).normal(size=10_000)
    before = a.space()
    assert before.stored == os.path.getsize(path) and before.dead > 0
    with pytest.raises(b2nd.UsageError), a.transaction():
        a.compact()
    a.compact()
    assert a.space() == (os.path.getsize(path), 0) and before.stored > os.path.getsize(path)
    np.testing.assert_array_equal(b2nd.open(path)[...], np.random.default_rng(1).normal(size=10_000))
    with pytest.raises(b2nd.UsageError):
        b2nd.open(path).compact()


def test_closed_is_closed(path):
    a = b2nd.zeros(3, urlpath=path)
    view = a.T
    a.close()
    a.close()
    assert a.closed and repr(a) == "<b2nd.Array, closed>" and "closed" in a._repr_html_()
    for use in (lambda: a.shape, lambda: a[0], lambda: view[0], lambda: a.attrs["x"], lambda: a.refresh(), lambda: a.resize(4)):
        with pytest.raises(ValueError):
            use()
    b2nd.open(path, "r+").close()


def test_chunks_are_walked():
    items = np.arange(35).reshape(5, 7)
    a = b2nd.array(items, chunks=(2, 3), blocks=(1, 2))
    seen = np.full_like(items, -1)
    for chunk in a.iterchunks():
        seen[chunk.slices] = chunk.read()
    np.testing.assert_array_equal(seen, items)
    infos = list(a.iterchunks_info())
    assert [info.coords for info in infos] == [(i, j) for i in range(3) for j in range(3)]
    assert all(info.cbytes == len(a.get_chunk(n)) for n, info in enumerate(infos))
    assert next(b2nd.zeros((4, 4)).iterchunks_info()).special == "zeros"
    assert [row.tolist() for row in a] == items.tolist()
    assert list(b2nd.zeros((2, 0)).iterchunks()) == []


def test_what_numpy_asks_for():
    items = np.arange(6, dtype="f4").reshape(2, 3)
    a = b2nd.array(items)
    np.testing.assert_array_equal(np.asarray(a), items)
    assert np.asarray(a, "i8").dtype == np.int64 and np.array(a, copy=True).shape == (2, 3)
    with pytest.raises(ValueError):
        np.asarray(a, copy=False)
    np.testing.assert_array_equal(np.from_dlpack(a), items)
    assert a.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        a.__dlpack__(copy=False)
    np.testing.assert_array_equal(np.add(a, 1), items + 1)
    assert np.sum(a) == 15 and float(a[1, 2]) == 5.0 and a.item(0, 1) == 1.0
    assert b2nd.full((), 3).item() == 3 and int(b2nd.full((), 3)) == 3 and range(5)[b2nd.full((), 3)] == 3
    with pytest.raises(TypeError):
        len(b2nd.zeros(()))
    assert a.tobytes() == items.tobytes()


def test_frames_are_lent_without_a_copy():
    a = b2nd.array(np.random.default_rng(0).normal(size=100_000))
    frame = a.to_cframe()
    assert isinstance(frame, memoryview) and frame.readonly and frame.nbytes == len(frame)
    for given in (frame, bytes(frame), bytearray(frame), np.frombuffer(frame, "u1")):
        again = b2nd.from_cframe(given)
        np.testing.assert_array_equal(again[10:20], a[10:20])
        np.testing.assert_array_equal(b2nd.open(given)[-1], a[-1])
    mutable = bytearray(frame)
    again = b2nd.from_cframe(mutable)
    mutable[:] = b"\0" * len(mutable)  # a copy was taken
    np.testing.assert_array_equal(again[...], a[...])
    below = np.frombuffer(bytearray(frame), "u1")
    view = below.view()
    view.flags.writeable = False  # read-only, over bytes that are not
    for given in (view, memoryview(below).toreadonly()):
        again = b2nd.from_cframe(given)
        below[:] ^= 255
        np.testing.assert_array_equal(again[...], a[...])
        below[:] ^= 255
    with b2nd.from_cframe(frame, mode="r+") as changed:
        changed[0] = 7.0
        assert changed[0] == 7.0
    assert a[0] != 7.0
    with pytest.raises(b2nd.FormatError):
        b2nd.from_cframe(b"nothing")
    with pytest.raises(ValueError):
        b2nd.from_cframe(np.zeros((4, 4), "u1")[:, ::2])


def test_pickles_take_the_number_of_threads_along_where_it_was_said(path):
    items = np.arange(1000)
    b2nd.array(items, urlpath=path).close()
    usual = b2nd.open(path).nthreads
    for array in [b2nd.open(path, nthreads=usual + 3), b2nd.array(items, nthreads=usual + 3)]:
        assert pickle.loads(pickle.dumps(array)).nthreads == usual + 3
        assert copy.deepcopy(array).nthreads == usual + 3
    data = pickle.dumps(b2nd.open(path))
    before = b2nd.set_nthreads(usual + 1)
    try:
        assert pickle.loads(data).nthreads == usual + 1, "nobody said one: who opens it does"
        assert pickle.loads(pickle.dumps(b2nd.open(path))).nthreads == usual + 1
    finally:
        b2nd.set_nthreads(before)


def test_pickles_by_path_and_by_bytes(path):
    items = np.arange(12).reshape(3, 4)
    memory = b2nd.array(items)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(memory, protocol))[...], items)
    outside = []
    data = pickle.dumps(memory, 5, buffer_callback=outside.append)
    assert len(outside) == 1 and len(data) < 500
    again = pickle.loads(data, buffers=outside)
    again[0] = 9
    assert memory[0, 0] == 0 and again[0, 0] == 9
    stored = b2nd.array(items, urlpath=path)
    view = pickle.loads(pickle.dumps(stored.T))
    np.testing.assert_array_equal(view[...], items.T)
    assert view.urlpath == path
    data = pickle.dumps(stored)
    with pytest.raises(b2nd.UsageError):
        pickle.loads(data)[0] = 1
    stored[1] = 5
    with pytest.raises(b2nd.ChangedError):
        pickle.loads(data)
    deep = copy.deepcopy(stored.T)
    deep[0] = 100
    assert stored[0, 0] == 0 and deep.shape == (4, 3) and deep.urlpath is None


def test_the_last_words(path):
    a = b2nd.array(np.zeros((30, 40)), urlpath=path, chunks=(10, 20), blocks=(5, 5))
    assert "shape=(30, 40)" in repr(a) and path in repr(a)
    page = a._repr_html_()
    assert "<svg" in page and "(10, 20) (6)" in page and path in page
    assert "<svg" in b2nd.zeros(10)._repr_html_() and "<svg" not in b2nd.zeros(())._repr_html_()
    assert "codec" in repr(a.info) and a.info["nchunks"] == 6
    a.nthreads = 3
    assert a.nthreads == 3
    before = b2nd.set_nthreads(2)
    try:
        assert b2nd.open(path).nthreads == 2
    finally:
        b2nd.set_nthreads(before)
    a[...] = np.random.default_rng(0).normal(size=a.shape)
    cached = b2nd.open(path, block_cache=1 << 20)
    assert cached[0, 0] != cached[0, 1] and cached.info["cache_hits"] == 1


def test_a_warning_comes_with_as_many_attributes_as_other_programs_can_handle(tmp_path):
    for checksums, most in ((True, 15), (False, 16)):
        a = b2nd.zeros(10, urlpath=tmp_path / f"{most}.b2nd", checksums=checksums)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for n in range(most - 1):
                a.attrs[f"name{n}"] = n
        with pytest.warns(UserWarning, match="python-blosc2"):
            a.attrs["last"] = 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            a.attrs["last"] = 2


def test_the_warning_comes_where_attributes_are_given_to_what_is_made(tmp_path):
    for checksums, most in ((True, 15), (False, 16)):
        attrs = {f"name{n}": n for n in range(most)}
        few = dict(list(attrs.items())[1:])
        source = b2nd.zeros(10)
        made = {
            "empty": lambda path, attrs: b2nd.empty(10, urlpath=path, checksums=checksums, attrs=attrs),
            "full": lambda path, attrs: b2nd.full(10, 7, urlpath=path, checksums=checksums, attrs=attrs),
            "asarray": lambda path, attrs: b2nd.asarray([1, 2], urlpath=path, checksums=checksums, attrs=attrs),
            "arange": lambda path, attrs: b2nd.arange(10, urlpath=path, checksums=checksums, attrs=attrs),
            "copy": lambda path, attrs: source.copy(path, checksums=checksums, attrs=attrs),
            "slice": lambda path, attrs: source.slice(slice(3), path, checksums=checksums, attrs=attrs),
            "astype": lambda path, attrs: source.astype("f4", path, checksums=checksums, attrs=attrs),
            "reshape": lambda path, attrs: source.reshape(2, 5, urlpath=path, checksums=checksums, attrs=attrs),
            "stack": lambda path, attrs: b2nd.stack([source, source], urlpath=path, checksums=checksums, attrs=attrs),
            "fill": lambda path, attrs: b2nd.FillJob.begin(path, 10, checksums=checksums, attrs=attrs),
        }
        for name, make in made.items():
            with pytest.warns(UserWarning, match="python-blosc2") as warned:
                make(tmp_path / f"{name}-{most}.b2nd", attrs)
            assert [warning.filename for warning in warned] == [__file__], name
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                make(tmp_path / f"{name}-{most}-few.b2nd", few)
