#!/bin/sh
# Makes .venv-package at the root of the workspace: what builds the Python package, what it is tested with, and the package itself,
# as `pip install` would have it. (The system's own Python refuses installs, by PEP 668.)
set -eu
cd "$(dirname "$0")/.."
wanted='import maturin, msgpack, pytest, hypothesis, blosc2, lz4, zstandard, xxhash, dask.array, distributed, xarray, zarr, numcodecs, ml_dtypes, mypy, ipykernel, h5py, pdoc'
if ! { [ -x .venv-package/bin/python ] && .venv-package/bin/python -c "$wanted" 2>/dev/null; }; then
    python3 -m venv .venv-package
    .venv-package/bin/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.16,<2' 'numpy>=2' 'msgpack>=1.0.3' pytest hypothesis \
        'blosc2>=4.14.1' 'dask[array]' distributed xarray 'zarr>=3' 'numcodecs>=0.16' ml_dtypes mypy ipykernel \
        lz4 zstandard xxhash h5py 'pdoc>=16,<17'
fi
# The wheel that users get, with the versions of Cargo.lock.
rm -rf target/wheels
.venv-package/bin/maturin build --release --locked --quiet --manifest-path python/Cargo.toml --out target/wheels
.venv-package/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-index --force-reinstall target/wheels/b2nd-*.whl
