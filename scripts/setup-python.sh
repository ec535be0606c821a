#!/bin/sh
# Makes .venv at the root of the workspace with the published blosc2 package, for the interoperability tests and benches.
# Does nothing when it is there already.
set -eu
cd "$(dirname "$0")/.."
wanted='import blosc2, numpy, sys; v = tuple(int(n) for n in blosc2.__version__.split(".")[:3]); sys.exit(v < (4, 14, 1))'
if [ -x .venv/bin/python ] && .venv/bin/python -c "$wanted" 2>/dev/null; then
    exit 0
fi
python3 -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check 'blosc2>=4.14.1' 'numpy>=2'
.venv/bin/python -c "$wanted"
