"""N-dimensional arrays, compressed in chunks and blocks, in the Blosc2 formats.

>>> import b2nd, numpy as np
>>> a = b2nd.array(np.arange(24.0).reshape(2, 3, 4), codec="zstd", clevel=5)
>>> a[1, ::2, -1]
array([15., 23.])
>>> a.mean(axis=(0, 2))
array([ 7.5, 11.5, 15.5])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._array import Array, Indexer
from ._b2nd import VERSION as __version__
from ._create import (
    array,
    asarray,
    codecs,
    concat,
    empty,
    empty_like,
    filters,
    from_cframe,
    full,
    full_like,
    nans,
    ones,
    ones_like,
    open,
    partition,
    save,
    stack,
    zeros,
    zeros_like,
)
from ._errors import (
    BoundsError,
    ChangedError,
    DtypeError,
    Error,
    ExistsError,
    FormatError,
    IoError,
    LimitError,
    LockedError,
    MissingError,
    NotFoundError,
    OutOfMemoryError,
    ReadOnlyError,
    UnsupportedError,
    UsageError,
)
from ._fields import Field, Fields
from ._fill import FillJob
from ._meta import Attributes, Metalayers
from ._options import set_nthreads
from ._progress import progress
from ._ranges import arange, eye, fromiter, linspace
from ._repair import repair, repair_cframe
from ._info import Chunk, ChunkInfo, CParams, Info, Repaired, Space, Verified

if TYPE_CHECKING:
    from .dask import from_dask, to_dask
    from .xarray import from_dataset, to_dataset

__all__ = [
    "Array",
    "Attributes",
    "BoundsError",
    "CParams",
    "ChangedError",
    "Chunk",
    "ChunkInfo",
    "DtypeError",
    "Error",
    "ExistsError",
    "Field",
    "Fields",
    "FillJob",
    "FormatError",
    "Indexer",
    "Info",
    "IoError",
    "LimitError",
    "LockedError",
    "Metalayers",
    "MissingError",
    "NotFoundError",
    "OutOfMemoryError",
    "ReadOnlyError",
    "Repaired",
    "Space",
    "UnsupportedError",
    "UsageError",
    "Verified",
    "__version__",
    "arange",
    "array",
    "asarray",
    "codecs",
    "concat",
    "empty",
    "empty_like",
    "eye",
    "filters",
    "from_cframe",
    "from_dask",
    "from_dataset",
    "fromiter",
    "full",
    "full_like",
    "linspace",
    "nans",
    "ones",
    "ones_like",
    "open",
    "partition",
    "progress",
    "repair",
    "repair_cframe",
    "save",
    "set_nthreads",
    "stack",
    "to_dask",
    "to_dataset",
    "zeros",
    "zeros_like",
]

#: What needs another package is looked for when it is asked for.
_ELSEWHERE = {"to_dask": "dask", "from_dask": "dask", "to_dataset": "xarray", "from_dataset": "xarray"}


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        from importlib import import_module

        return getattr(import_module(f".{_ELSEWHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
