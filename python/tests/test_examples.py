"""Each public name of the package has an example in its docstring; the doctests run them."""

import importlib
import inspect

import pytest

import b2nd

#: Modules that belong to other packages, with their public names.
OTHERS = {"dask": ["to_dask", "from_dask"], "xarray": ["B2ndBackend"], "zarr": ["Blosc2Codec"], "numcodecs": ["Blosc2"]}


def documented():
    for name in b2nd.__all__:
        if name != "__version__":
            yield name, getattr(b2nd, name)
    for module, names in OTHERS.items():
        for name in names:
            yield f"{module}.{name}", getattr(importlib.import_module(f"b2nd.{module}"), name)
    for name, method in vars(b2nd.Array).items():
        if inspect.isfunction(method) and not name.startswith("_"):
            yield f"Array.{name}", method


@pytest.mark.parametrize(("name", "item"), list(documented()))
def test_a_public_name_has_an_example(name, item):
    assert ">>> " in (inspect.getdoc(item) or ""), f"{name} has no example"
