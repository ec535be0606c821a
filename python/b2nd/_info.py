"""What is told of arrays, chunks, files and repairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ._array import Array


@dataclasses.dataclass(frozen=True)
class CParams(Mapping[str, Any]):
    """How an array is compressed: by its names ``b2nd.array`` takes them, so ``b2nd.array(x, **a.cparams)`` does the same.

    >>> import b2nd
    >>> b2nd.zeros(10, codec="lz4", clevel=1).cparams.codec
    'lz4'
    """

    #: The name of the codec.
    codec: str
    #: Its parameter.
    codec_meta: int
    #: The level of compression, 0 to 9.
    clevel: int
    #: The names of the filters, with their parameters, in the order in which they are applied.
    filters: list[tuple[str, int]]
    #: When bytes of items are compressed in streams of their own.
    splitmode: str
    #: Whether a dictionary is made for each chunk.
    use_dict: bool

    def __getitem__(self, name: str) -> Any:
        if name not in self.__dataclass_fields__:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dataclass_fields__)

    def __len__(self) -> int:
        return len(self.__dataclass_fields__)


class Chunk(NamedTuple):
    """A chunk, as :meth:`Array.iterchunks` gives it.

    >>> import b2nd
    >>> a = b2nd.arange(6, chunks=4)
    >>> for chunk in a.iterchunks():
    ...     print(chunk.position, chunk.slices, chunk.read())
    (0,) (slice(0, 4, None),) [0 1 2 3]
    (1,) (slice(4, 6, None),) [4 5]
    """

    #: The array.
    array: Array
    #: Which chunk it is, along each axis.
    position: tuple[int, ...]
    #: Which items it has: ``array[chunk.slices]`` are they.
    slices: tuple[slice, ...]

    def read(self) -> np.ndarray:
        """Its items."""
        return np.asarray(self.array[self.slices])


class ChunkInfo(NamedTuple):
    """What is known of a chunk without decompressing it, as :meth:`Array.iterchunks_info` gives it.

    >>> import b2nd
    >>> [info.special for info in b2nd.zeros(6, chunks=4).iterchunks_info()]
    ['zeros', 'zeros']
    """

    #: Its number, in C order.
    nchunk: int
    #: Which chunk it is, along each axis.
    coords: tuple[int, ...]
    #: Its bytes, uncompressed.
    nbytes: int
    #: Its bytes, compressed; 0 for a chunk that the index alone tells of.
    cbytes: int
    #: How many times smaller it is than its items; infinite where it takes no bytes.
    cratio: float
    #: The bytes of a block, uncompressed; ``None`` where they differ, or there are none.
    blocksize: int | None
    #: What all items are, where they are the same and the file says so: ``"zeros"``, ``"nan"``, ``"uninit"`` or ``"value"``.
    special: str | None


class Info(dict[str, Any]):
    """All that is told of an array, a line each.

    >>> import b2nd
    >>> b2nd.zeros((2, 3)).info["shape"]
    (2, 3)
    """

    def __repr__(self) -> str:
        width = max(map(len, self))
        return "\n".join(f"{key:{width}} : {value}" for key, value in self.items())


class Space(NamedTuple):
    """What :meth:`Array.space` tells.

    >>> import b2nd
    >>> b2nd.arange(1000).space().dead
    0
    """

    #: The bytes of its files.
    stored: int
    #: Those that nothing refers to.
    dead: int


class Verified(NamedTuple):
    """What :meth:`Array.verify` finds.

    >>> import b2nd
    >>> found = b2nd.arange(1000).verify()
    >>> found.is_sound, found.damage
    (True, [])
    """

    #: Whether nothing is damaged.
    is_sound: bool
    #: Stored chunks that match their checksums.
    matching: int
    #: Stored chunks that no checksum tells anything about.
    unchecked: int
    #: Chunks that another program has changed since their checksums were made, or damaged.
    stale: list[int]
    #: What is damaged, the first 10,000 places: ``chunk``, ``block``, the ``count`` of chunks or blocks that follow one another, the
    #: region ``start`` to ``stop``, and the ``error``.
    damage: list[dict[str, Any]]

    def __bool__(self) -> bool:
        return self.is_sound


class Repaired(NamedTuple):
    """What :func:`b2nd.repair` found, restored and lost; as text, a list for people.

    >>> import b2nd
    >>> frame = bytes(b2nd.arange(1000).to_cframe())
    >>> _, report = b2nd.repair_cframe(frame)
    >>> report.is_whole, report.was_sound, report.lost
    (True, True, [])
    """

    #: Whether nothing is lost and nothing was guessed: the result is what was written.
    is_whole: bool
    #: Whether nothing was wrong.
    was_sound: bool
    #: The chunks of the result.
    chunks: int
    #: What is lost, the first 10,000 places: ``chunk``, ``block`` (``None``: all of it), the ``count`` of chunks or blocks that
    #: follow one another, the region ``start`` to ``stop``, and the ``error``.
    lost: list[dict[str, Any]]
    #: Metalayers that are lost: of which part, and the name.
    lost_metalayers: list[tuple[str, str]]
    #: What was put right: which part, and from what.
    restored: list[tuple[str, str]]
    #: What could not be known for sure: which part, and what was taken for it.
    guesses: list[tuple[str, str]]
    #: Chunks that another program has changed since their checksums were made, or damaged: kept as they are.
    stale: list[int]
    #: Chunks that match their checksums.
    matching: int
    #: What lay about and is not part of the result.
    left_out: list[str]
    #: Where the damaged file is now, when it was repaired in its place.
    original: str | None
    #: All of it, for people.
    text: str

    def __bool__(self) -> bool:
        return self.is_whole

    def __str__(self) -> str:
        return self.text
