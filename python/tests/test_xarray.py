"""Datasets, by xarray's own backend interface."""

import numpy as np
import pytest

import b2nd

xr = pytest.importorskip("xarray")


def dataset():
    rng = np.random.default_rng(0)
    time = np.array("2024-01-01", "M8[ns]") + np.arange(6) * np.timedelta64(6, "h")
    wind = rng.normal(size=(6, 5, 8)).round(2)
    wind[2, 3] = np.nan
    return xr.Dataset(
        {
            "wind": (("time", "lat", "lon"), wind, {"units": "m/s", "levels": [1, 2]}),
            "count": (("time",), np.arange(6, dtype="i2")),
            "name": ((), np.array("ERA")),
        },
        {"time": time, "lat": np.linspace(-90, 90, 5), "lon": np.arange(8.0), "land": (("lat", "lon"), rng.random((5, 8)) < 0.3)},
        {"title": "a test", "version": 3},
    )


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "weather")


def test_a_dataset_comes_back(folder):
    ds = dataset()
    packed = {"wind": {"scale_factor": 0.01, "dtype": "i2", "_FillValue": -32768, "chunks": (2, 5, 8), "codec": "lz4"}}
    b2nd.from_dataset(ds, folder, encoding=packed)
    with b2nd.to_dataset(folder) as found:
        xr.testing.assert_allclose(found, ds, atol=1e-9)
        assert found.attrs == ds.attrs and found.wind.attrs == ds.wind.attrs
        assert set(found.coords) == set(ds.coords) and found.time.dtype == ds.time.dtype
        assert found.wind.encoding["chunks"] == (2, 5, 8) and found.wind.encoding["scale_factor"] == 0.01
    stored = b2nd.open(f"{folder}/wind.b2nd")
    assert stored.dtype == np.int16 and stored.codec == "lz4" and stored.attrs["_ARRAY_DIMENSIONS"] == ["time", "lat", "lon"]
    with pytest.raises(FileExistsError):
        b2nd.from_dataset(ds, folder)
    b2nd.from_dataset(ds, folder, overwrite=True)
    with xr.open_dataset(folder, engine="b2nd", drop_variables=["name"]) as found:
        xr.testing.assert_allclose(found, ds.drop_vars("name"))


def test_nothing_is_read_before_it_is_asked_for(folder, monkeypatch):
    b2nd.from_dataset(dataset(), folder, chunks=None)
    read = []
    take = b2nd.xarray._Lazy._take
    monkeypatch.setattr(b2nd.xarray._Lazy, "_take", lambda self, key: read.append((self.shape, key)) or take(self, key))
    with xr.open_dataset(folder, engine="b2nd") as found:
        read.clear()
        part = found.wind.isel(time=[4, 1], lon=slice(None, None, -2))[:, 2]
        assert not read
        np.testing.assert_array_equal(part.values, dataset().wind.values[[4, 1], 2][:, ::-2])
        assert [shape for shape, _ in read] == [(6, 5, 8)]
        near = found.sel(lat=40, lon=[3, 6], method="nearest").wind.mean().item()
        assert near == pytest.approx(dataset().sel(lat=40, lon=[3, 6], method="nearest").wind.mean().item())
        points = found.wind.isel(time=xr.DataArray([0, 5], dims="p"), lat=xr.DataArray([1, 1], dims="p"))
        np.testing.assert_array_equal(points.values, dataset().wind.values[[0, 5], [1, 1]])


def test_one_array_is_a_dataset(path):
    b2nd.array(np.arange(6).reshape(2, 3), urlpath=path).close()
    with xr.open_dataset(path) as found:  # the engine is guessed
        assert found["array"].dims == ("dim_0", "dim_1") and found["array"].sum() == 15


def test_dask_and_many_files(tmp_path):
    pytest.importorskip("dask")
    ds = dataset()
    for part in range(3):
        chunked = ds.isel(time=slice(2 * part, 2 * part + 2)).chunk({"lat": 2})
        b2nd.from_dataset(chunked, tmp_path / f"part{part}")
    parts = [str(tmp_path / f"part{part}") for part in range(3)]
    with xr.open_mfdataset(parts, engine="b2nd", combine="by_coords", data_vars="minimal", coords="minimal", compat="override") as found:
        xr.testing.assert_allclose(found[["wind", "count"]].compute(), ds[["wind", "count"]])
    with xr.open_dataset(parts[0], engine="b2nd", chunks={}) as found:
        assert found.wind.chunks is not None
        assert found.wind.mean().compute().item() == pytest.approx(ds.wind[:2].mean().item())
