"""The codec ``blosc2`` of numcodecs, and of Zarr's format 2."""

from __future__ import annotations

from typing import Any

import numcodecs.abc
import numcodecs.compat
import numpy as np

from . import _create
from ._codec import NAME, encoded, options_of, pairs


class Blosc2(numcodecs.abc.Codec):
    """Arrays of ours, each in the bytes of its frame; other buffers as the arrays that NumPy takes them for.

    >>> import numcodecs, numpy as np
    >>> codec = numcodecs.get_codec({"id": "blosc2", "codec": "zstd", "clevel": 3})
    >>> codec.decode(codec.encode(np.arange(4)))
    array([0, 1, 2, 3])
    """

    codec_id = NAME

    def __init__(self, codec: str = "zstd", clevel: int = 5, filters: Any = (("shuffle", 0),)) -> None:
        self.codec, self.clevel = codec, clevel
        self.filters = [list(one) for one in pairs(filters)]

    def encode(self, buf: Any) -> bytes:
        items = numcodecs.compat.ensure_contiguous_ndarray_like(buf) if not isinstance(buf, np.ndarray) else buf
        items = np.ascontiguousarray(items)
        return encoded(items, options_of(self.codec, self.clevel, pairs(self.filters), None))

    def decode(self, buf: Any, out: Any = None) -> Any:
        with _create.from_cframe(bytes(numcodecs.compat.ensure_bytes(buf)), nthreads=1) as array:
            if out is None:
                return array[...]
            target = numcodecs.compat.ensure_contiguous_ndarray_like(out).reshape(-1).view(np.uint8)
            items = array[...]
            target[:] = items.reshape(-1).view(np.uint8)
            return out

    def get_config(self) -> dict[str, Any]:
        return {"id": NAME, "codec": self.codec, "clevel": self.clevel, "filters": self.filters}
