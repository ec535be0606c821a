"""A chunk of another store as an array of ours: what the codecs of Zarr and numcodecs share."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _create

NAME = "blosc2"


def options_of(codec: str, clevel: int, filters: tuple[tuple[str, int], ...], blocks: tuple[int, ...] | None) -> dict[str, Any]:
    """How a chunk is compressed."""
    options: dict[str, Any] = {"codec": codec, "clevel": clevel, "filters": list(filters), "nthreads": 1, "checksums": False}
    if blocks is not None:
        options["blocks"] = blocks
    return options


def pairs(given: Any) -> tuple[tuple[str, int], ...]:
    """Filters by name and parameter."""
    return tuple((one, 0) if isinstance(one, str) else (one[0], int(one[1])) for one in given)


def encoded(items: np.ndarray, options: dict[str, Any]) -> bytes:
    """The frame of an array of one chunk."""
    blocks = options.get("blocks")
    if blocks is not None:
        options = {**options, "blocks": [max(min(b, n), 1) for b, n in zip(blocks, items.shape, strict=True)]}
    # One chunk, whatever its size: it is Zarr that cuts.
    with _create.array(items, chunks=[max(n, 1) for n in items.shape], **options) as array:
        return bytes(array.to_cframe())
