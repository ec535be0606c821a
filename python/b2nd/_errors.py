"""The exceptions of the package: one tree, which mirrors the error of the Rust crate.

Each is also one of Python's own where there is one that says the same, so that ``except OSError`` works too.
"""

from __future__ import annotations

import errno as _errno
import os
from typing import Any


class Error(Exception):
    """What all exceptions of b2nd are.

    >>> import b2nd
    >>> try:
    ...     b2nd.open("/no/such/file.b2nd")
    ... except b2nd.Error as error:
    ...     print(type(error).__name__, isinstance(error, OSError))
    NotFoundError True
    """

    #: The file that it is about, where that is known.
    path: str | None = None


class IoError(Error, OSError):
    """The operating system refused or failed.

    >>> import b2nd
    >>> try:
    ...     b2nd.open("/no/such/file.b2nd")
    ... except b2nd.IoError as error:
    ...     print(error.path)
    /no/such/file.b2nd
    """


class NotFoundError(IoError, FileNotFoundError):
    """There is no such file or directory.

    >>> import b2nd
    >>> try:
    ...     b2nd.open("/no/such/file.b2nd")
    ... except b2nd.NotFoundError as error:
    ...     print(type(error).__name__)
    NotFoundError
    """


class FormatError(Error, ValueError):
    """The file breaks its format: it is damaged, cut off, or not such a file.

    ``part`` names the part of the file, ``offset`` is where in that part; ``chunk`` and ``block`` say which, where they are known.

    >>> import b2nd
    >>> frame = bytes(b2nd.arange(1000).to_cframe())
    >>> try:
    ...     b2nd.from_cframe(frame[:100])
    ... except b2nd.FormatError as error:
    ...     print(isinstance(error, ValueError))
    True
    """

    part: str | None = None
    offset: int | None = None
    chunk: int | None = None
    block: int | None = None


class UnsupportedError(Error, NotImplementedError):
    """The file is sound but uses something that this build cannot read.

    >>> import b2nd
    >>> issubclass(b2nd.UnsupportedError, NotImplementedError)
    True
    """


class LockedError(Error, BlockingIOError):
    """Somebody else has the file for itself: nothing was done, and it may work later. ``holder`` says who.

    >>> import b2nd, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.b2nd")
    >>> writer = b2nd.zeros(3, urlpath=path)
    >>> try:
    ...     b2nd.open(path, mode="r+")
    ... except b2nd.LockedError as error:
    ...     print(error.holder is not None)
    True
    >>> writer.close()
    """

    holder: str | None = None


class ChangedError(Error):
    """Another writer has committed since this array was opened: ``refresh`` it, then repeat what was not written.

    >>> import b2nd, os, pickle, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.b2nd")
    >>> with b2nd.zeros(3, urlpath=path) as a:
    ...     pickled = pickle.dumps(a)
    ...     a[0] = 1
    >>> try:
    ...     pickle.loads(pickled)
    ... except b2nd.ChangedError:
    ...     print("the file has changed since")
    the file has changed since
    """


class UsageError(Error, ValueError):
    """Something was asked for that cannot be done.

    >>> import b2nd
    >>> try:
    ...     b2nd.zeros(3, chunks=0)
    ... except b2nd.UsageError as error:
    ...     print(type(error).__name__)
    UsageError
    """


class ExistsError(UsageError, FileExistsError):
    """Something is at the path already, and may not be replaced.

    >>> import b2nd, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.b2nd")
    >>> b2nd.zeros(3, urlpath=path).close()
    >>> try:
    ...     b2nd.zeros(3, urlpath=path)
    ... except FileExistsError as error:
    ...     print(type(error).__name__)
    ExistsError
    """


class MissingError(UsageError, LookupError):
    """A field, a metalayer or a frame of this name is not there.

    >>> import b2nd, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.b2nd")
    >>> b2nd.zeros(3, urlpath=path).close()
    >>> try:
    ...     b2nd.open(path, frame=5)
    ... except b2nd.MissingError as error:
    ...     print(type(error).__name__)
    MissingError
    """


class ReadOnlyError(UsageError):
    """A change of what was opened for reading.

    >>> import b2nd
    >>> a = b2nd.from_cframe(b2nd.zeros(3).to_cframe())
    >>> try:
    ...     a[0] = 1
    ... except b2nd.ReadOnlyError as error:
    ...     print(type(error).__name__)
    ReadOnlyError
    """


class BoundsError(UsageError, IndexError):
    """An index, or the number of an axis or chunk, lies outside what there is. ``axis`` is ``None`` where it is not of an axis.

    >>> import b2nd
    >>> try:
    ...     b2nd.zeros(3).get_chunk(5)
    ... except b2nd.BoundsError as error:
    ...     print(error.index, error.length)
    5 1
    """

    axis: int | None = None
    index: int = 0
    length: int = 0


class DtypeError(UsageError, TypeError):
    """Items of one dtype are taken for another, or cannot become it.

    >>> import b2nd
    >>> try:
    ...     b2nd.concat([b2nd.zeros(2, "f4"), b2nd.zeros(2, "i4")])
    ... except b2nd.DtypeError as error:
    ...     print(type(error).__name__)
    DtypeError
    """


class LimitError(MemoryError, Error):
    """A file asks for more than ``limits`` allow.

    >>> import b2nd
    >>> frame = b2nd.arange(1000).to_cframe()
    >>> try:
    ...     b2nd.from_cframe(frame, limits={"chunk_bytes": 10})[...]
    ... except b2nd.LimitError as error:
    ...     print(error.found, error.allowed)
    8000 10
    """

    found: int = 0
    allowed: int = 0


class OutOfMemoryError(MemoryError, Error):
    """Memory could not be reserved.

    >>> import b2nd
    >>> issubclass(b2nd.OutOfMemoryError, MemoryError)
    True
    """


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
