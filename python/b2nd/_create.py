"""Arrays opened and made."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from . import _b2nd, _dtypes, _msgpack
from ._array import Array
from ._errors import UsageError
from ._options import Filter, Making, making, opening

Path = str | os.PathLike[str]
Shape = Sequence[int] | int


def open(
    urlpath: Path | bytes | bytearray | memoryview,
    mode: Literal["r", "r+", "a"] = "r",
    *,
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
) -> Array:
    """Opens the array at a path, or in the bytes of a frame.

    ``mode`` is ``"r"`` for reading, or ``"r+"`` (``"a"`` is the same) for writing too: one writer at a time has a file. ``offset``
    or ``frame`` pick one of several frames in a file. ``block_cache`` bytes keep decoded blocks for many small reads near each other.
    ``limits`` says what a file that nobody vouches for may cost: ``chunk_bytes``, ``index_bytes``, ``meta_bytes``, ``read_bytes``.
    ``mmap`` maps the file into memory: nobody may cut it off meanwhile. ``checks=False`` reads past what its checksums refuse.

    >>> import b2nd, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.b2nd")
    >>> b2nd.arange(6, shape=(2, 3), urlpath=path).close()
    >>> with b2nd.open(path) as a:
    ...     a[1]
    array([3, 4, 5])
    >>> with b2nd.open(path, mode="r+") as a:
    ...     a[1] = 0
    """
    options = opening(
        mode=mode,
        offset=offset,
        frame=frame,
        mmap=mmap,
        durability=durability,
        checksums=checksums,
        checks=checks,
        owner_lock=owner_lock,
        block_cache=block_cache,
        nthreads=nthreads,
        limits=limits,
    )
    if isinstance(urlpath, (str, os.PathLike)):
        return Array._of(_b2nd.open(os.fspath(urlpath), options))
    return Array._of(_b2nd.from_frame(urlpath, options))


def from_cframe(cframe: Any, *, copy: bool = False, **options: Any) -> Array:
    """Opens the array in the bytes of a frame, as :meth:`Array.to_cframe` makes them.

    Bytes that nobody can change are read where they are; others, and those of an array that is to be changed (``mode="r+"``), are
    copied.

    >>> import b2nd
    >>> frame = b2nd.arange(5).to_cframe()
    >>> b2nd.from_cframe(frame)[-1]
    np.int64(4)
    """
    return Array._of(_b2nd.from_frame(bytes(cframe) if copy else cframe, opening(**options)))


def empty(
    shape: Shape,
    dtype: Any = np.float64,
    *,
    urlpath: Path | None = None,
    chunks: Shape | None = None,
    blocks: Shape | None = None,
    codec: str | None = None,
    clevel: int | None = None,
    filters: Sequence[Filter] | Filter | None = None,
    sparse: bool = False,
    overwrite: bool = False,
    attrs: Mapping[str, Any] | None = None,
    meta: Mapping[str, Any] | None = None,
    splitmode: Literal["always", "never", "auto", "forward_compat"] | None = None,
    codec_meta: int | None = None,
    use_dict: bool | None = None,
    checksums: bool | None = None,
    durability: Literal["full", "ordered", "none"] | None = None,
    owner_lock: bool | None = None,
    block_cache: int = 0,
    nthreads: int | None = None,
) -> Array:
    """A new array with nothing written yet: it reads as zeros, and the file says that they are no data.

    ``urlpath=None`` is memory. Without ``chunks`` and ``blocks`` they are chosen so that a slice along any axis reads about the same share.
    ``codec`` is ``"zstd"`` by default, with ``clevel=5`` and ``filters="shuffle"``; see :func:`b2nd.codecs` and :func:`b2nd.filters`.
    ``sparse=True`` makes a directory with a file for each chunk. What is at the path stays, unless ``overwrite=True``.

    >>> import b2nd
    >>> a = b2nd.empty((100, 200), "f4", chunks=(50, 50), blocks=(10, 10), codec="lz4", attrs={"units": "m/s"})
    >>> a.shape, a.chunks, a.codec, a.attrs["units"]
    ((100, 200), (50, 50), 'lz4', 'm/s')
    """
    options = making(**_given(locals(), ("shape", "dtype", "urlpath")), fill="uninit")
    return _create(shape, dtype, urlpath, options)


def zeros(shape: Shape, dtype: Any = np.float64, *, urlpath: Path | None = None, **options: Any) -> Array:
    """A new array of zeros, which take no room; for the options see :func:`empty`.

    >>> import b2nd
    >>> b2nd.zeros(2, "i2")[...]
    array([0, 0], dtype=int16)
    """
    return _create(shape, dtype, urlpath, making(**options))


def ones(shape: Shape, dtype: Any = np.float64, *, urlpath: Path | None = None, **options: Any) -> Array:
    """A new array of ones; for the options see :func:`empty`.

    >>> import b2nd
    >>> b2nd.ones(2, "i2")[...]
    array([1, 1], dtype=int16)
    """
    return full(shape, 1, dtype, urlpath=urlpath, **options)


def nans(shape: Shape, dtype: Any = np.float64, *, urlpath: Path | None = None, **options: Any) -> Array:
    """A new array of NaN; for the options see :func:`empty`.

    >>> import b2nd
    >>> b2nd.nans(2, "f4")[...]
    array([nan, nan], dtype=float32)
    """
    if _dtypes.is_foreign(np.dtype(dtype)):
        return full(shape, np.nan, dtype, urlpath=urlpath, **options)
    return _create(shape, dtype, urlpath, making(**options, fill="nan"))


def full(shape: Shape, fill_value: Any, dtype: Any = None, *, urlpath: Path | None = None, **options: Any) -> Array:
    """A new array of one value; for the options see :func:`empty`.

    >>> import b2nd
    >>> b2nd.full((2, 2), 7.5)[1]
    array([7.5, 7.5])
    """
    item = np.asarray(fill_value)
    if dtype is not None:
        item = np.array(fill_value, np.dtype(dtype))
    if item.ndim:
        raise ValueError("the fill value is one item")
    return _create(shape, item.dtype, urlpath, making(**options, fill=item.tobytes()))


def array(x: Any, dtype: Any = None, *, copy: bool | None = True, urlpath: Path | None = None, **options: Any) -> Array:
    """A new array with the items of anything that NumPy takes for an array; for the options see :func:`empty`.

    It appears at its path when it is whole. ``copy=None`` or ``copy=False`` are as in :func:`asarray`.

    >>> import b2nd, numpy as np
    >>> a = b2nd.array(np.arange(6).reshape(2, 3), codec="lz4", clevel=1)
    >>> a[:, 1]
    array([1, 4])
    >>> b2nd.array([1, 2, 3], "f4").dtype
    dtype('float32')
    """
    if not copy:
        return asarray(x, dtype, copy=copy, urlpath=urlpath, **options)
    if isinstance(x, Array) and (dtype is None or np.dtype(dtype) == x.dtype):
        return x.copy(urlpath, **options)
    items = np.asarray(x) if dtype is None else np.asarray(x, dtype)
    items = np.ascontiguousarray(items).reshape(items.shape)
    return _create(items.shape, items.dtype, urlpath, making(**options), items)


def asarray(x: Any, dtype: Any = None, *, copy: bool | None = None, urlpath: Path | None = None, **options: Any) -> Array:
    """As :func:`array`; an :class:`Array` that is what is asked for already is given back, unless ``copy=True``.

    With ``copy=False`` anything else is a ``ValueError``.

    >>> import b2nd
    >>> a = b2nd.asarray([1, 2])
    >>> b2nd.asarray(a) is a
    True
    """
    there = isinstance(x, Array) and urlpath is None and not options and (dtype is None or np.dtype(dtype) == x.dtype)
    if there and not copy:
        return x
    if copy is False:
        raise ValueError("copy=False, but this needs a copy")
    return array(x, dtype, urlpath=urlpath, **options)


def empty_like(x: Any, dtype: Any = None, **options: Any) -> Array:
    """As :func:`empty`, with the shape and dtype of another array.

    >>> import b2nd
    >>> a = b2nd.arange(6, shape=(2, 3))
    >>> b2nd.empty_like(a, dtype="f4").shape
    (2, 3)
    """
    return empty(x.shape, x.dtype if dtype is None else dtype, **options)


def zeros_like(x: Any, dtype: Any = None, **options: Any) -> Array:
    """As :func:`zeros`, with the shape and dtype of another array.

    >>> import b2nd
    >>> a = b2nd.arange(6, shape=(2, 3))
    >>> b2nd.zeros_like(a, dtype="f4").shape
    (2, 3)
    """
    return zeros(x.shape, x.dtype if dtype is None else dtype, **options)


def ones_like(x: Any, dtype: Any = None, **options: Any) -> Array:
    """As :func:`ones`, with the shape and dtype of another array.

    >>> import b2nd
    >>> a = b2nd.arange(6, shape=(2, 3))
    >>> b2nd.ones_like(a, dtype="f4").shape
    (2, 3)
    """
    return ones(x.shape, x.dtype if dtype is None else dtype, **options)


def full_like(x: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Array:
    """As :func:`full`, with the shape and dtype of another array.

    >>> import b2nd
    >>> a = b2nd.arange(6, shape=(2, 3))
    >>> b2nd.full_like(a, 5, dtype="f4").shape
    (2, 3)
    """
    return full(x.shape, fill_value, x.dtype if dtype is None else dtype, **options)


def save(x: Any, urlpath: Path, **options: Any) -> None:
    """Saves an array at a path: an :class:`Array` without recompression, anything else as :func:`array` makes it.

    >>> import b2nd, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.b2nd")
    >>> b2nd.save([1, 2, 3], path)
    >>> b2nd.open(path)[...]
    array([1, 2, 3])
    """
    if isinstance(x, Array):
        x.save(urlpath, **options)
    else:
        array(x, urlpath=urlpath, **options).close()


def concat(arrays: Sequence[Any], /, axis: int = 0, *, urlpath: Path | None = None, **options: Any) -> Array:
    """Arrays one behind the other along an axis: chunks come along compressed where they fit.

    >>> import b2nd
    >>> b2nd.concat([b2nd.zeros((1, 2)), b2nd.ones((2, 2))], axis=0)[...]
    array([[0., 0.],
           [1., 1.],
           [1., 1.]])
    """
    given = [asarray(one) for one in arrays]
    if not given:
        raise ValueError("need at least one array to concatenate")
    return _join(_b2nd.concatenate, given, given[0].ndim, axis, urlpath, options)


def stack(arrays: Sequence[Any], axis: int = 0, *, urlpath: Path | None = None, **options: Any) -> Array:
    """Arrays one behind the other along a new axis.

    >>> import b2nd
    >>> b2nd.stack([b2nd.zeros(2), b2nd.ones(2)], axis=1)[...]
    array([[0., 1.],
           [0., 1.]])
    """
    given = [asarray(one) for one in arrays]
    if not given:
        raise ValueError("need at least one array to stack")
    return _join(_b2nd.stack, given, given[0].ndim + 1, axis, urlpath, options)


def _join(join: Any, arrays: list[Array], ndim: int, axis: int, urlpath: Path | None, options: dict[str, Any]) -> Array:
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    handles = [(one if one._axes is None else one.copy())._handle for one in arrays]
    made = making(**options)
    handle = join(_path(urlpath), handles, axis % ndim, made)
    return _named(Array._made(handle, made), arrays[0].dtype)


def partition(
    shape: Shape, dtype: Any = np.float64, chunks: Shape | None = None, blocks: Shape | None = None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shapes of chunks and blocks that an array gets where they are not said, or where one of them is.

    >>> import b2nd
    >>> b2nd.partition((4000, 4000), "f8")
    ((1000, 1000), (125, 125))
    """
    said = [None if given is None else _shape(given) for given in (chunks, blocks)]
    for lengths in said:
        if any(length < 1 <= of for length, of in zip(lengths or (), _shape(shape))):
            raise UsageError(f"chunks or blocks of {tuple(lengths or ())} hold no items")
    of_chunks, of_blocks = _b2nd.partition(_shape(shape), np.dtype(dtype).itemsize, *said)
    return tuple(of_chunks), tuple(of_blocks)


def codecs() -> list[str]:
    """The names of the codecs that are built in.

    >>> import b2nd
    >>> "zstd" in b2nd.codecs()
    True
    """
    return _b2nd.codec_names()


def filters() -> list[str]:
    """The names of the filters that are built in.

    >>> import b2nd
    >>> "bitshuffle" in b2nd.filters()
    True
    """
    return _b2nd.filter_names()


def _given(known: dict[str, Any], without: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in known.items() if name not in without}


def _create(
    shape: Shape, dtype: Any, urlpath: Path | None, options: Making, items: np.ndarray | None = None, *, begun: bool = False
) -> Array:
    """A new array; with ``begun`` it appears at its first commit."""
    of = np.dtype(dtype)
    if of.kind in "SU" and not of.itemsize:
        # As NumPy: texts of one character.
        of = np.dtype((of.type, 1))
    if of.subdtype is not None:
        of, inner = of.subdtype
        shape = (*_shape(shape), *inner)
    if not of.itemsize:
        raise UsageError(f"items of {of} have no bytes")
    text = _dtypes.to_text(of)
    if _dtypes.is_foreign(of):
        options["vlmeta"] = [*options.get("vlmeta", []), (_dtypes.NAME_LAYER, _msgpack.pack(of.name))]
    data = None if items is None else _dtypes.as_bytes(items)
    handle = _b2nd.create(_path(urlpath), text, _shape(shape), options, data, begun)
    # Checksums come with the first commit.
    return Array._of(handle) if begun else Array._made(handle, options)


def _path(urlpath: Path | None) -> str | None:
    return None if urlpath is None else os.fspath(urlpath)


def _named(made: Array, dtype: np.dtype[Any]) -> Array:
    if _dtypes.is_foreign(dtype) and made.dtype != dtype:
        made._handle.set_vlmetalayer(_dtypes.NAME_LAYER, _msgpack.pack(dtype.name))
        made._dtype = dtype
    return made


def _shape(shape: Shape) -> list[int]:
    given = [shape] if isinstance(shape, (int, np.integer)) else list(shape)
    return [int(length) for length in given]
