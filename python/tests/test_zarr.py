"""The codec `blosc2` in Zarr and numcodecs."""

import json

import numpy as np
import pytest

import b2nd

zarr = pytest.importorskip("zarr")
numcodecs = pytest.importorskip("numcodecs")


def serializer(**options):
    from b2nd.zarr import Blosc2Codec

    return Blosc2Codec(**options)


@pytest.mark.parametrize("dtype", ["i4", "f4", ">f8", "u1", "c8", "?"])
def test_format_3(tmp_path, dtype):
    items = np.random.default_rng(0).integers(0, 100, (20, 30)).astype(dtype)
    store = tmp_path / "a.zarr"
    made = zarr.create_array(
        store, shape=items.shape, dtype=items.dtype, chunks=(8, 16), serializer=serializer(codec="lz4", blocks=(4, 4)), compressors=None, filters=None
    )
    made[...] = items
    made[3:5, ::2] = items[3:5, ::2]
    found = zarr.open_array(store, mode="r")
    np.testing.assert_array_equal(found[...], items)
    np.testing.assert_array_equal(found[3:9, -7:-1], items[3:9, -7:-1])
    np.testing.assert_array_equal(found.oindex[[1, 9], [0, 20]], items[np.ix_([1, 9], [0, 20])])
    np.testing.assert_array_equal(found.vindex[[1, 9], [0, 20]], items[[1, 9], [0, 20]])
    codec = json.loads((store / "zarr.json").read_text())["codecs"][0]
    assert codec["name"] == "blosc2" and codec["configuration"]["codec"] == "lz4"
    chunk = b2nd.open(store / "c" / "0" / "1")
    assert chunk.shape == (8, 16) and chunk.blocks == (4, 4) and chunk.codec == "lz4"


def test_a_part_is_decoded_by_itself(tmp_path, monkeypatch):
    items = np.arange(64 * 64, dtype="f4").reshape(64, 64)
    store = tmp_path / "a.zarr"
    made = zarr.create_array(store, shape=items.shape, dtype="f4", chunks=(64, 64), serializer=serializer(), compressors=None)
    made[...] = items
    keys = []
    monkeypatch.setattr(b2nd.Array, "__getitem__", spied(keys, b2nd.Array.__getitem__))
    np.testing.assert_array_equal(zarr.open_array(store)[3:5, 10:12], items[3:5, 10:12])
    assert keys == [(slice(3, 5, 1), slice(10, 12, 1))]


def spied(keys, get):
    def spy(self, key):
        keys.append(key)
        return get(self, key)

    return spy


@pytest.mark.parametrize("zarr_format", [2])
def test_format_2_and_numcodecs(tmp_path, zarr_format):
    from b2nd.numcodecs import Blosc2

    codec = numcodecs.get_codec({"id": "blosc2", "codec": "zstd", "clevel": 3})
    assert isinstance(codec, Blosc2) and codec.get_config()["clevel"] == 3
    items = np.arange(600, dtype="i4").reshape(20, 30)
    np.testing.assert_array_equal(codec.decode(codec.encode(items)), items)
    out = np.empty_like(items)
    codec.decode(codec.encode(items), out)
    np.testing.assert_array_equal(out, items)
    assert codec.decode(codec.encode(b"bytes")).tobytes() == b"bytes"
    made = zarr.create_array(tmp_path / "a.zarr", shape=(20, 30), dtype="i4", chunks=(8, 16), compressors=codec, zarr_format=zarr_format)
    made[...] = items
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a.zarr")[2:9], items[2:9])
