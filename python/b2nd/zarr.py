"""The codec ``blosc2`` of Zarr's format 3: a chunk of a Zarr array is an array of ours.

Its blocks are of N dimensions, so that a part of a chunk is decoded by itself. That of format 2 is :mod:`b2nd.numcodecs`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from zarr.abc.codec import ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin
from zarr.core.common import parse_named_configuration

from . import _create
from ._array import Array
from ._codec import NAME, encoded, options_of, pairs


@dataclasses.dataclass(frozen=True)
class Blosc2Codec(ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin):
    """The codec of Zarr's format 3: ``zarr.create_array(..., serializer=Blosc2Codec(), compressors=None)``.

    >>> import zarr
    >>> codec = Blosc2Codec(codec="lz4", blocks=(10, 10))
    >>> z = zarr.create_array({}, shape=(50, 50), chunks=(50, 50), dtype="f4", serializer=codec, compressors=None)
    >>> z[...] = 1
    >>> float(z[3:5, 40:].sum())
    20.0
    """

    is_fixed_size = False

    codec: str = "zstd"
    clevel: int = 5
    filters: tuple[tuple[str, int], ...] = (("shuffle", 0),)
    blocks: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "filters", pairs(self.filters))
        if self.blocks is not None:
            object.__setattr__(self, "blocks", tuple(int(n) for n in self.blocks))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Blosc2Codec:
        _, configuration = parse_named_configuration(data, NAME, require_configuration=False)
        options: Any = configuration or {}
        return cls(**options)

    def to_dict(self) -> dict[str, Any]:
        configuration: dict[str, Any] = {"codec": self.codec, "clevel": self.clevel, "filters": [list(one) for one in self.filters]}
        if self.blocks is not None:
            configuration["blocks"] = list(self.blocks)
        return {"name": NAME, "configuration": configuration}

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        raise NotImplementedError("the size of a chunk is known only after its compression")

    async def _encode_single(self, chunk_array: Any, chunk_spec: Any) -> Any:
        items = np.ascontiguousarray(chunk_array.as_numpy_array())
        return chunk_spec.prototype.buffer.from_bytes(
            encoded(items, options_of(self.codec, self.clevel, self.filters, self.blocks))
        )

    async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        with _opened(chunk_bytes) as array:
            items = np.asarray(array[...]).reshape(chunk_spec.shape)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(_as(items, chunk_spec))

    async def _decode_partial_single(self, byte_getter: Any, selection: Any, chunk_spec: Any) -> Any:
        chunk_bytes = await byte_getter.get(prototype=chunk_spec.prototype)
        if chunk_bytes is None:
            return None
        with _opened(chunk_bytes) as array:
            items = np.asarray(array[selection])
        return chunk_spec.prototype.nd_buffer.from_numpy_array(_as(items, chunk_spec))


def _opened(chunk_bytes: Any) -> Array:
    return _create.from_cframe(chunk_bytes.as_numpy_array().tobytes(), nthreads=1)


def _as(items: np.ndarray, chunk_spec: Any) -> np.ndarray:
    dtype = chunk_spec.dtype
    native = dtype.to_native_dtype() if hasattr(dtype, "to_native_dtype") else np.dtype(dtype)
    if items.dtype.newbyteorder("=") == native.newbyteorder("="):
        return items.astype(native, copy=False)
    # Zarr has names for some dtypes that ours are the bytes of.
    return items.view(native)
