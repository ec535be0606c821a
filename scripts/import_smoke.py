"""Says whether an installed wheel works, with nothing but its own requirements."""

import os
import sys
import tempfile

import numpy as np

import b2nd

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "smoke.b2nd")
    items = np.arange(1000, dtype="i4").reshape(10, 100)
    for codec in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        b2nd.array(items, urlpath=path, codec=codec, overwrite=True).close()
        with b2nd.open(path) as found:
            assert (found[3:5, ::7] == items[3:5, ::7]).all(), codec
print(f"b2nd {b2nd.__version__} imported from {os.path.dirname(b2nd.__file__)} by Python {sys.version.split()[0]}")
