#!/bin/sh
# Builds the book into book/html: the pages by mdbook, the reference of the Python package by pdoc.
# Installs mdbook from crates.io where this version is not there (three minutes of processor time), without its web server.
set -eu
cd "$(dirname "$0")/.."
version=0.5.4
if ! mdbook --version 2>/dev/null | grep -q "v$version\$"; then
    cargo install --quiet --locked --no-default-features --features search --version "$version" mdbook
fi
[ -x .venv-package/bin/pdoc ] || scripts/setup-python-package.sh
mdbook build book
# From elsewhere, so that the installed package is what is described.
root=$PWD
cd /
"$root/.venv-package/bin/pdoc" --docformat restructuredtext --output-directory "$root/book/html/python" \
    b2nd b2nd.dask b2nd.xarray b2nd.zarr b2nd.numcodecs
