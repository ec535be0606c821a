"""xarray: arrays and folders of arrays as datasets.

``xr.open_dataset("wind.b2nd", engine="b2nd")`` opens an array as a dataset of one variable; a folder of arrays is a dataset with a
variable for each. Names of dimensions, coordinates, attributes and the CF conventions (``scale_factor``, ``_FillValue``, units of time)
are attributes of the arrays; nothing is read before it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from . import _create
from ._array import Array

#: The attribute that has the names of the dimensions, as in Zarr.
DIMENSIONS = "_ARRAY_DIMENSIONS"
#: The attribute of an array that has the name of its variable.
NAME = "_VARIABLE_NAME"
#: The attribute of an array in a folder that holds the attributes of the dataset.
DATASET = "_DATASET_ATTRIBUTES"
_SUFFIX = ".b2nd"
#: The array of a folder that holds nothing but what the dataset says of itself.
_SELF = ".dataset" + _SUFFIX


class _Lazy(BackendArray):
    """An array that xarray asks for parts of."""

    def __init__(self, array: Array) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> np.ndarray:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._take)

    def _take(self, key: tuple[Any, ...]) -> np.ndarray:
        return np.asarray(self.array.oindex[key])


class B2ndBackend(BackendEntrypoint):
    """The engine ``b2nd``.

    >>> import b2nd, os, tempfile, xarray as xr
    >>> folder = os.path.join(tempfile.mkdtemp(), "weather")
    >>> b2nd.from_dataset(xr.Dataset({"wind": ("x", [1.0, 2.0])}), folder)
    >>> with xr.open_dataset(folder, engine="b2nd") as found:
    ...     found.wind.values
    array([1., 2.])
    """

    description = "Open arrays and folders of arrays in the Blosc2 formats (.b2nd)"
    url = "https://docs.rs/b2nd"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "nthreads", "block_cache")

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: bool = True,
        decode_times: Any = True,
        concat_characters: bool = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: Any = None,
        nthreads: int | None = None,
        block_cache: int = 0,
    ) -> xr.Dataset:
        path = os.path.abspath(os.fspath(filename_or_obj))
        options = {"nthreads": nthreads, "block_cache": block_cache}
        arrays, attributes = _arrays(path, options)
        variables = {name: _variable(array) for name, array in arrays.items()}
        store = _Store(variables, attributes, list(arrays.values()))
        coders: dict[str, Any] = {} if use_cftime is None else {"use_cftime": use_cftime}
        decoded, said, coordinates = xr.conventions.decode_cf_variables(
            store.variables,
            store.attributes,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            decode_timedelta=decode_timedelta,
            **coders,
        )
        dataset = xr.Dataset(dict(decoded), attrs=dict(said))
        dataset = dataset.set_coords([name for name in coordinates if name in dataset.variables])
        dataset.set_close(store.close)
        dataset.encoding["source"] = path
        return dataset

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        path = os.fspath(filename_or_obj)
        return path.endswith(_SUFFIX) or os.path.isfile(os.path.join(path, _SELF))


class _Store:
    def __init__(self, variables: dict[str, xr.Variable], attributes: dict[str, Any], arrays: list[Array]) -> None:
        self.variables, self.attributes, self.arrays = variables, attributes, arrays

    def close(self) -> None:
        for array in self.arrays:
            array.close()


def _arrays(path: str, options: dict[str, Any]) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays at a path by the names of their variables, and the attributes of the dataset."""
    if not os.path.isdir(path) or os.path.exists(os.path.join(path, "chunks.b2frame")):
        array = _create.open(path, **options)
        name = array.attrs.get(NAME) or os.path.basename(path).removesuffix(_SUFFIX)
        return {name: array}, array.attrs.get(DATASET, {})
    arrays, attributes = {}, {}
    for entry in sorted(os.listdir(path)):
        if not entry.endswith(_SUFFIX):
            continue
        array = _create.open(os.path.join(path, entry), **options)
        if entry == _SELF:
            attributes = array.attrs.get(DATASET, {})
            array.close()
        else:
            arrays[array.attrs.get(NAME) or entry.removesuffix(_SUFFIX)] = array
    return arrays, attributes


def _variable(array: Array) -> xr.Variable:
    attributes = {name: value for name, value in array.attrs.items() if name not in (DIMENSIONS, NAME, DATASET)}
    names = array.attrs.get(DIMENSIONS)
    if not isinstance(names, list) or len(names) != array.ndim:
        names = [f"dim_{axis}" for axis in range(array.ndim)]
    encoding = {"preferred_chunks": dict(zip(names, array.chunks, strict=True)), "chunks": array.chunks, "blocks": array.blocks}
    return xr.Variable(names, indexing.LazilyIndexedArray(_Lazy(array)), attributes, encoding)


def to_dataset(urlpath: str | os.PathLike[str], **options: Any) -> xr.Dataset:
    """The dataset of an array, or of a folder of arrays; the options are those of ``xr.open_dataset``.

    >>> import b2nd, os, tempfile, xarray as xr
    >>> folder = os.path.join(tempfile.mkdtemp(), "weather")
    >>> b2nd.from_dataset(xr.Dataset({"wind": ("x", [1.0, 2.0])}), folder)
    >>> with b2nd.to_dataset(folder) as found:
    ...     list(found)
    ['wind']
    """
    return xr.open_dataset(os.fspath(urlpath), engine="b2nd", **options)


def from_dataset(
    dataset: xr.Dataset,
    urlpath: str | os.PathLike[str],
    *,
    encoding: Mapping[Any, Mapping[str, Any]] | None = None,
    overwrite: bool = False,
    **options: Any,
) -> None:
    """Writes a dataset as a folder with an array for each variable and coordinate, by the CF conventions.

    ``encoding`` says for single variables what ``options`` (those of :func:`b2nd.empty`) say for all, and what xarray encodes:
    ``scale_factor``, ``_FillValue``, ``dtype``, units of time. Variables of Dask are written chunk by chunk, by its scheduler.

    >>> import b2nd, os, tempfile, xarray as xr
    >>> folder = os.path.join(tempfile.mkdtemp(), "weather")
    >>> b2nd.from_dataset(xr.Dataset({"wind": ("x", [1.0, 2.0])}), folder)
    >>> sorted(os.listdir(folder))
    ['.dataset.b2nd', 'wind.b2nd']
    """
    path = os.fspath(urlpath)
    own = {name: dict((encoding or {}).get(name, {})) for name in dataset.variables}
    dataset = dataset.copy()
    for name, said in own.items():
        theirs = {key: said.pop(key) for key in list(said) if key in _CF}
        dataset[name].encoding = {key: value for key, value in dataset[name].encoding.items() if key in _CF} | theirs
    # Which coordinates belong to which variable goes into their attributes, and what belongs to none into the dataset's.
    plain, attributes = xr.conventions.encode_dataset_coordinates(dataset)
    variables = {name: xr.conventions.encode_cf_variable(variable, name=name) for name, variable in plain.items()}
    os.makedirs(path, exist_ok=True)
    marker = _create.zeros((), "u1", urlpath=os.path.join(path, _SELF), overwrite=overwrite, attrs={DATASET: _plain(attributes)})
    marker.close()
    for name, variable in variables.items():
        attrs = {DIMENSIONS: [str(dim) for dim in variable.dims], NAME: str(name)} | _plain(variable.attrs)
        said = {**options, **own[name], "attrs": attrs, "overwrite": overwrite}
        _store(variable, os.path.join(path, _file_name(str(name))), said)


#: What xarray's own encoding of a variable may say.
_CF = {"scale_factor", "add_offset", "_FillValue", "missing_value", "dtype", "units", "calendar", "coordinates", "grid_mapping"}


def _store(variable: xr.Variable, path: str, options: dict[str, Any]) -> None:
    data = variable.data
    if hasattr(data, "dask"):
        from .dask import from_dask

        from_dask(data, path, **options).close()
        return
    items = np.asarray(variable.values)
    if items.dtype == object:
        items = items.astype(str)
    _create.array(items, urlpath=path, **options).close()


def _plain(attributes: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): value.item() if isinstance(value, np.generic) else value for name, value in attributes.items()}


def _file_name(name: str) -> str:
    """A name that is one file of the folder, whatever the variable is called."""
    safe = "".join(c if c.isalnum() or c in "-_." else f"%{ord(c):02x}" for c in name)
    return (f"%{safe}" if safe.startswith(".") else safe) + _SUFFIX
