"""Damaged files made whole again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

from . import _b2nd
from ._options import Repairing, limited, nthreads_of
from ._info import Repaired

_Fill = Literal["zeros", "nan", "uninit"]
_Durability = Literal["full", "ordered", "none"]


def repair(
    urlpath: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    fill: _Fill | None = None,
    sparse: bool | None = None,
    overwrite: bool = False,
    renew_checksums: bool = False,
    offset: int = 0,
    durability: _Durability | None = None,
    nthreads: int | None = None,
    limits: Mapping[str, int] | None = None,
) -> Repaired:
    """Saves what can be read of a damaged file as a new one, at ``out``, and says what is lost.

    Without ``out`` the new file takes the place of the damaged one, which keeps all its bytes beside it: the report's ``original`` says
    where. Where nothing is wrong nothing is done then. Chunks come along compressed, and their checksums, where there are any, find and
    prove them. ``fill`` is what lost items become: by default NaN, or zeros where they cannot be. ``sparse`` changes the layout.
    ``renew_checksums`` takes what is there for right from now on. ``offset`` is where the frame starts in its file.

    >>> import b2nd, numpy as np, os, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path, out = os.path.join(folder.name, "torn.b2nd"), os.path.join(folder.name, "whole.b2nd")
    >>> b2nd.array(np.arange(1000), urlpath=path, chunks=100).close()
    >>> os.truncate(path, os.path.getsize(path) * 3 // 4)
    >>> report = b2nd.repair(path, out, fill="zeros")
    >>> report.is_whole, len(report.lost) > 0
    (False, True)
    >>> with b2nd.open(out) as a:
    ...     bool((a[:100] == np.arange(100)).all())
    True
    """
    options = _repairing(fill, sparse, renew_checksums, offset, durability, nthreads, limits)
    options["overwrite"] = overwrite
    return Repaired(**_b2nd.repair(os.fspath(urlpath), None if out is None else os.fspath(out), options))


def repair_cframe(
    cframe: Any,
    *,
    fill: _Fill | None = None,
    renew_checksums: bool = False,
    offset: int = 0,
    nthreads: int | None = None,
    limits: Mapping[str, int] | None = None,
) -> tuple[memoryview, Repaired]:
    """As :func:`repair`, of the bytes of a frame: those of the new one, which :func:`b2nd.from_cframe` opens, and what was found.

    >>> import b2nd
    >>> frame = bytes(b2nd.arange(1000, chunks=100).to_cframe())
    >>> repaired, report = b2nd.repair_cframe(frame[: len(frame) // 2], fill="zeros")
    >>> report.is_whole, b2nd.from_cframe(repaired).shape
    (False, (1000,))
    """
    options = _repairing(fill, None, renew_checksums, offset, None, nthreads, limits)
    frame, found = _b2nd.repair_frame(cframe, options)
    return memoryview(frame), Repaired(**found)


def _repairing(
    fill: _Fill | None,
    sparse: bool | None,
    renew_checksums: bool,
    offset: int,
    durability: _Durability | None,
    nthreads: int | None,
    limits: Mapping[str, int] | None,
) -> Repairing:
    made: Repairing = {"renew_checksums": renew_checksums, "offset": offset, "limits": limited(limits), "overwrite": False}
    said = {"fill": fill, "sparse": sparse, "durability": durability, "nthreads": nthreads_of(nthreads)}
    made.update((key, value) for key, value in said.items() if value is not None)  # type: ignore[typeddict-item]
    return made
