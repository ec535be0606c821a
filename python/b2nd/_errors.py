"""The exceptions of the package: one tree, which mirrors the error of the Rust crate.

Each is also one of Python's own where there is one that says the same, so that ``except OSError`` works too.
"""

from __future__ import annotations

import errno as _errno
import os
from typing import Any


class Error(Exception):
    """What all exceptions of b2nd are."""

    #: The file that it is about, where that is known.
    path: str | None = None


class IoError(Error, OSError):
    """The operating system refused or failed."""


class NotFoundError(IoError, FileNotFoundError):
    """There is no such file or directory."""


class FormatError(Error, ValueError):
    """The file breaks its format: it is damaged, cut off, or not such a file.

    ``part`` names the part of the file, ``offset`` is where in that part; ``chunk`` and ``block`` say which, where they are known.
    """

    part: str | None = None
    offset: int | None = None
    chunk: int | None = None
    block: int | None = None


class UnsupportedError(Error, NotImplementedError):
    """The file is sound but uses something that this build cannot read."""


class LockedError(Error, BlockingIOError):
    """Somebody else has the file for itself: nothing was done, and it may work later. ``holder`` says who."""

    holder: str | None = None


class ChangedError(Error):
    """Another writer has committed since this array was opened: ``refresh`` it, then repeat what was not written."""


class UsageError(Error, ValueError):
    """Something was asked for that cannot be done."""


class ExistsError(UsageError, FileExistsError):
    """Something is at the path already, and may not be replaced."""


class MissingError(UsageError, LookupError):
    """A field, a metalayer or a frame of this name is not there."""


class ReadOnlyError(UsageError):
    """A change of what was opened for reading."""


class BoundsError(UsageError, IndexError):
    """An index, or the number of an axis or chunk, lies outside what there is. ``axis`` is ``None`` where it is not of an axis."""

    axis: int | None = None
    index: int = 0
    length: int = 0


class DtypeError(UsageError, TypeError):
    """Items of one dtype are taken for another, or cannot become it."""


class LimitError(MemoryError, Error):
    """A file asks for more than ``limits`` allow."""

    found: int = 0
    allowed: int = 0


class OutOfMemoryError(MemoryError, Error):
    """Memory could not be reserved."""


_TREE = {
    kind.__name__: kind
    for kind in (
        Error,
        IoError,
        FormatError,
        UnsupportedError,
        LockedError,
        ChangedError,
        UsageError,
        ExistsError,
        MissingError,
        ReadOnlyError,
        BoundsError,
        DtypeError,
        LimitError,
        OutOfMemoryError,
    )
}


def make(name: str, message: str, known: dict[str, Any]) -> Error:
    """The exception for an error of the crate; the compiled half calls this."""
    kind = _TREE[name]
    if known.get("errno") == _errno.ENOENT:
        kind = NotFoundError
    elif kind is IoError and known.get("errno") == _errno.EEXIST:
        kind = ExistsError
    error = kind(message)
    if "filename" in known:
        known["path"] = known.pop("filename")
    for key, value in known.items():
        if key == "path" and value is not None:
            value = os.fsdecode(value)
        setattr(error, key, value)
    return error
