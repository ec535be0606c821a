#!/bin/sh
# Makes .venv at the root of the workspace with the published packages blosc2 and numcodecs, for the interoperability tests and benches.
# Does nothing when it is there already.
set -eu
cd "$(dirname "$0")/.."
wanted='import blosc2, numcodecs, numpy, sys; v = tuple(int(n) for n in blosc2.__version__.split(".")[:3]); sys.exit(v < (4, 14, 1))'
if [ -x .venv/bin/python ] && .venv/bin/python -c "$wanted" 2>/dev/null; then
    exit 0
fi
python3 -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check 'blosc2>=4.14.1' 'numcodecs>=0.16' 'numpy>=2'
.venv/bin/python -c "$wanted"
