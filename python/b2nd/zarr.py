"""The codec ``blosc2``, for Zarr (formats 2 and 3) and numcodecs: a chunk of a Zarr array is an array of ours.

Its blocks are of N dimensions, so that a part of a chunk is decoded by itself.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numcodecs.abc
import numcodecs.compat
from zarr.abc.codec import ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin
from zarr.core.common import parse_named_configuration

from . import _create
from ._array import Array

NAME = "blosc2"


def _options(codec: str, clevel: int, filters: tuple[tuple[str, int], ...], blocks: tuple[int, ...] | None) -> dict[str, Any]:
    options: dict[str, Any] = {"codec": codec, "clevel": clevel, "filters": list(filters), "nthreads": 1, "checksums": False}
    if blocks is not None:
        options["blocks"] = blocks
    return options


def _filters(given: Any) -> tuple[tuple[str, int], ...]:
    return tuple((one, 0) if isinstance(one, str) else (one[0], int(one[1])) for one in given)


def _encoded(items: np.ndarray, options: dict[str, Any]) -> bytes:
    blocks = options.get("blocks")
    if blocks is not None:
        options = {**options, "blocks": [max(min(b, n), 1) for b, n in zip(blocks, items.shape, strict=True)]}
    # One chunk, whatever its size: it is Zarr that cuts.
    with _create.array(items, chunks=[max(n, 1) for n in items.shape], **options) as array:
        return bytes(array.to_cframe())


@dataclasses.dataclass(frozen=True)
class Blosc2Codec(ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin):
    """The codec of Zarr's format 3: ``zarr.create_array(..., serializer=Blosc2Codec(), compressors=None)``."""

    is_fixed_size = False

    codec: str = "zstd"
    clevel: int = 5
    filters: tuple[tuple[str, int], ...] = (("shuffle", 0),)
    blocks: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "filters", _filters(self.filters))
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
        raise NotImplementedError("how small a chunk becomes is known when it is compressed")

    async def _encode_single(self, chunk_array: Any, chunk_spec: Any) -> Any:
        items = np.ascontiguousarray(chunk_array.as_numpy_array())
        return chunk_spec.prototype.buffer.from_bytes(
            _encoded(items, _options(self.codec, self.clevel, self.filters, self.blocks))
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


class NumcodecsBlosc2(numcodecs.abc.Codec):
    """The codec of numcodecs, and of Zarr's format 2."""

    codec_id = NAME

    def __init__(self, codec: str = "zstd", clevel: int = 5, filters: Any = (("shuffle", 0),)) -> None:
        self.codec, self.clevel = codec, clevel
        self.filters = [list(one) for one in _filters(filters)]

    def encode(self, buf: Any) -> bytes:
        items = numcodecs.compat.ensure_contiguous_ndarray_like(buf) if not isinstance(buf, np.ndarray) else buf
        items = np.ascontiguousarray(items)
        return _encoded(items, _options(self.codec, self.clevel, _filters(self.filters), None))

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
