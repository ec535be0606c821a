"""The options of functions, as the compiled half takes them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from . import _msgpack

#: A filter: its name, or its name and parameter.
Filter = str | tuple[str, int]

_nthreads: int | None = None


def set_nthreads(count: int | None) -> int | None:
    """On how many threads arrays that are opened or made from now on work (``None``: all processors); what it was.

    >>> import b2nd
    >>> before = b2nd.set_nthreads(1)
    >>> b2nd.zeros(3).nthreads
    1
    >>> b2nd.set_nthreads(before)
    1
    """
    global _nthreads
    before, _nthreads = _nthreads, count
    return before


def nthreads_of(count: int | None) -> int | None:
    """What is said of threads, or what is said for all."""
    return _nthreads if count is None else count


def said_of(count: int) -> int | None:
    """A count of threads that an array takes along to other processes; ``None`` where nobody has said one, so that they choose."""
    usual = _nthreads
    if usual is None:
        usual = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return None if count == usual else count


class Making(TypedDict, total=False):
    """How a new array is made."""

    chunks: list[int]
    blocks: list[int]
    codec: str
    codec_meta: int
    clevel: int
    filters: list[tuple[str, int]]
    splitmode: str
    use_dict: bool
    sparse: bool
    fill: str | bytes
    overwrite: bool
    durability: str
    checksums: bool
    owner_lock: bool
    block_cache: int
    nthreads: int
    meta: list[tuple[str, bytes]]
    vlmeta: list[tuple[str, bytes]]


class Opening(TypedDict, total=False):
    """How an array is opened."""

    write: bool
    offset: int
    frame: int
    mmap: bool
    durability: str
    checksums: bool
    checks: bool
    owner_lock: bool
    block_cache: int
    nthreads: int
    limits: list[tuple[str, int]]


class Repairing(TypedDict, total=False):
    """How a damaged file is repaired."""

    fill: str
    sparse: bool
    overwrite: bool
    renew_checksums: bool
    offset: int
    durability: str
    nthreads: int
    limits: list[tuple[str, int]]


class Saving(TypedDict, total=False):
    """How an array is saved."""

    sparse: bool
    overwrite: bool
    durability: str
    checksums: bool


def making(
    *,
    chunks: Sequence[int] | int | None = None,
    blocks: Sequence[int] | int | None = None,
    codec: str | None = None,
    codec_meta: int | None = None,
    clevel: int | None = None,
    filters: Sequence[Filter] | Filter | None = None,
    splitmode: Literal["always", "never", "auto", "forward_compat"] | None = None,
    use_dict: bool | None = None,
    sparse: bool = False,
    fill: str | bytes | None = None,
    overwrite: bool = False,
    durability: Literal["full", "ordered", "none"] | None = None,
    checksums: bool | None = None,
    owner_lock: bool | None = None,
    block_cache: int = 0,
    nthreads: int | None = None,
    meta: Mapping[str, Any] | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> Making:
    """The options of a new array; what is not said is left out."""
    made: Making = {"sparse": sparse, "overwrite": overwrite, "block_cache": block_cache}
    if chunks is not None:
        made["chunks"] = _lengths(chunks)
    if blocks is not None:
        made["blocks"] = _lengths(blocks)
    if filters is not None:
        made["filters"] = _filters(filters)
    said = {
        "codec": codec,
        "codec_meta": None if codec_meta is None else codec_meta & 0xFF,
        "clevel": clevel,
        "splitmode": splitmode,
        "use_dict": use_dict,
        "fill": fill,
        "durability": durability,
        "checksums": checksums,
        "owner_lock": owner_lock,
        "nthreads": nthreads_of(nthreads),
    }
    made.update((key, value) for key, value in said.items() if value is not None)  # type: ignore[typeddict-item]
    if meta:
        made["meta"] = [(name, _msgpack.pack(value)) for name, value in meta.items()]
    if attrs:
        made["vlmeta"] = [(name, _msgpack.pack(value)) for name, value in attrs.items()]
    return made


def _lengths(given: Sequence[int] | int) -> list[int]:
    return [given] if isinstance(given, int) else [int(length) for length in given]


def _filters(given: Sequence[Filter] | Filter) -> list[tuple[str, int]]:
    """Names and parameters, of which a negative one is stored as a byte."""
    if isinstance(given, str):
        return [(given, 0)]
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str) and isinstance(given[1], int):
        return [(given[0], given[1] & 0xFF)]
    every: Sequence[Any] = given
    return [(one, 0) if isinstance(one, str) else (str(one[0]), int(one[1]) & 0xFF) for one in every]


def opening(
    *,
    mode: Literal["r", "r+", "a"] = "r",
    offset: int = 0,
    frame: int | None = None,
    mmap: bool = False,
    durability: Literal["full", "ordered", "none"] | None = None,
    checksums: bool | None = None,
    checks: bool = True,
    owner_lock: bool = True,
    block_cache: int = 0,
    nthreads: int | None = None,
    limits: Mapping[str, int] | None = None,
) -> Opening:
    """The options of opening."""
    if mode not in ("r", "r+", "a"):
        raise ValueError(f"mode is 'r', 'r+' or 'a', not {mode!r}")
    made: Opening = {
        "write": mode != "r",
        "offset": offset,
        "mmap": mmap,
        "checks": checks,
        "owner_lock": owner_lock,
        "block_cache": block_cache,
    }
    said = {"frame": frame, "durability": durability, "checksums": checksums, "nthreads": nthreads_of(nthreads)}
    made.update((key, value) for key, value in said.items() if value is not None)  # type: ignore[typeddict-item]
    if limits:
        made["limits"] = limited(limits)
    return made


def limited(limits: Mapping[str, int] | None) -> list[tuple[str, int]]:
    """What a file may cost."""
    return [(name.removeprefix("max_"), value) for name, value in (limits or {}).items()]


def saving(
    *,
    sparse: bool = False,
    overwrite: bool = False,
    durability: Literal["full", "ordered", "none"] | None = None,
    checksums: bool | None = None,
) -> Saving:
    """The options of saving."""
    made: Saving = {"sparse": sparse, "overwrite": overwrite}
    if durability is not None:
        made["durability"] = durability
    if checksums is not None:
        made["checksums"] = checksums
    return made


def path_of(urlpath: str | os.PathLike[str] | None) -> str | None:
    """A path as text; ``None`` for memory."""
    return None if urlpath is None else os.fspath(urlpath)
