"""What an index means, as NumPy has it: turned into what the crate can take, and into how its result is brought into shape.

The crate takes, for each axis, an index, a range with a step or a list of indices (every combination of them), or flat positions
of single items. Everything that NumPy allows is one of the two, in another shape or order.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

#: For an axis: an index, ``(start, stop, step)``, or a list of indices.
Part = int | tuple[int | None, int | None, int] | np.ndarray


class Plan(NamedTuple):
    """How an index is read and written."""

    #: For the crate: parts for each axis, or flat positions.
    selection: list[Part] | np.ndarray
    #: The shape of what the crate gives.
    raw: tuple[int, ...]
    #: Its axes in the order of the result; ``None`` for as they are.
    order: tuple[int, ...] | None
    #: The shape of the result.
    shape: tuple[int, ...]
    #: Whether the result is an item, not an array.
    scalar: bool = False
    #: Whether it is a basic index: without lists and masks.
    basic: bool = False

    def shaped(self, raw: np.ndarray) -> np.ndarray:
        """What was read, as the result."""
        if self.order is not None:
            raw = raw.transpose(self.order)
        return raw.reshape(self.shape)

    def unshaped(self, value: np.ndarray, inner: tuple[int, ...] = ()) -> np.ndarray:
        """A value of the result's shape, as the crate takes it; ``inner`` axes of each item are behind."""
        if self.order is None:
            return value.reshape(self.raw + inner)
        back = (*np.argsort(self.order), *range(len(self.order), len(self.order) + len(inner)))
        return value.reshape((*(self.raw[axis] for axis in self.order), *inner)).transpose(back)


class _List(NamedTuple):
    """An array of indices in an index; along no axis where it stands for a single truth value."""

    indices: np.ndarray
    axis: int | None


def plan(key: Any, shape: tuple[int, ...]) -> Plan:
    """What ``array[key]`` means for an array of a shape."""
    entries, ellipsis = _entries(key, shape)
    if any(isinstance(entry, _List) for entry in entries):
        return _advanced(entries, shape)
    parts: list[Part] = []
    raw: list[int] = []
    result: list[int] = []
    for entry in entries:
        if entry is None:
            result.append(1)
        elif isinstance(entry, int):
            parts.append(entry)
        elif isinstance(entry, slice):
            part, count = _range(entry, shape[len(parts)])
            parts.append(part)
            raw.append(count)
            result.append(count)
    return Plan(parts, tuple(raw), None, tuple(result), not ellipsis and not result, True)


def take(indices: Any, axis: int | None, shape: tuple[int, ...], mode: str) -> Plan:
    """What ``np.take`` means for an array of a shape; without an axis, of its items in C order."""
    found = np.asarray(indices)
    if found.size == 0 and not isinstance(indices, np.ndarray):
        found = found.astype(np.int64)
    if not np.can_cast(found.dtype, np.int64, "same_kind"):
        raise TypeError(f"indices have to be integers, not {found.dtype}")
    length = math.prod(shape) if axis is None else shape[axis]
    if length == 0 and found.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    found = found.astype(np.int64)
    if mode == "wrap":
        found = found % max(length, 1)
    elif mode == "clip":
        found = found.clip(0, max(length - 1, 0))
    elif mode != "raise":
        raise ValueError(f"mode is 'raise', 'wrap' or 'clip', not {mode!r}")
    found = _bounded(found, length, axis or 0).reshape(found.shape)
    if axis is None:
        return Plan(found.reshape(-1), (found.size,), None, found.shape, found.ndim == 0)
    return plan((*[slice(None)] * axis, found), shape)


def orthogonal(key: Any, shape: tuple[int, ...]) -> Plan:
    """What ``array.oindex[key]`` means: every combination of a list, mask, range or index for each axis."""
    parts: list[Part] = []
    raw: list[int] = []
    for entry, length in zip(_for_each_axis(key, shape), shape, strict=True):
        axis = len(parts)
        if isinstance(entry, slice):
            part, count = _range(entry, length)
        elif _is_index(entry):
            parts.append(_index(entry, length, axis))
            continue
        else:
            part = _indices(entry, length, axis)
            count = len(part)
        parts.append(part)
        raw.append(count)
    return Plan(parts, tuple(raw), None, tuple(raw), not raw)


def pointwise(key: Any, shape: tuple[int, ...]) -> Plan:
    """What ``array.vindex[key]`` means: single items, by an index or a list of indices for each axis, or by a mask."""
    entries = key if isinstance(key, tuple) else (key,)
    arrays = [np.asarray(entry) for entry in entries]
    if len(arrays) == 1 and arrays[0].dtype == np.bool_:
        if arrays[0].shape != shape:
            raise IndexError(f"the mask has the shape {arrays[0].shape}, and the array {shape}")
        if not shape:
            return plan(bool(arrays[0]), shape)
        arrays = list(arrays[0].nonzero())
    if len(arrays) != len(shape):
        raise IndexError(f"vindex takes indices for each of the {len(shape)} axes, or a mask; got {len(arrays)}")
    if not all(np.issubdtype(array.dtype, np.integer) or array.size == 0 for array in arrays):
        raise IndexError("vindex takes integers, lists of integers, or a mask")
    return plan(tuple(arrays) if arrays else (), shape)


def _entries(key: Any, shape: tuple[int, ...]) -> tuple[list[Any], bool]:
    """The entries of an index, one for each axis and new axis: ints, slices, ``None`` and lists; and whether there is ``...``."""
    given = key if isinstance(key, tuple) else (key,)
    entries: list[Any] = []
    consumed, ellipsis = 0, None
    for entry in given:
        if entry is None:
            entries.append(None)
        elif entry is Ellipsis:
            if ellipsis is not None:
                raise IndexError("an index can only have a single ellipsis ('...')")
            ellipsis = len(entries)
            entries.append(Ellipsis)
        elif isinstance(entry, slice):
            entries.append(entry)
            consumed += 1
        elif _is_index(entry):
            entries.append(operator.index(entry))
            consumed += 1
        else:
            found = _lists(entry)
            entries.extend(found)
            consumed += sum(one.axis is not None for one in found)
    if consumed > len(shape):
        raise IndexError(f"too many indices: the array has {len(shape)} axes, and {consumed} were indexed")
    whole: list[Any] = [slice(None)] * (len(shape) - consumed)
    if ellipsis is None:
        entries += whole
    else:
        # It keeps lists on both sides of it apart, even where it stands for no axis.
        entries[ellipsis : ellipsis + 1] = whole or [Ellipsis]
    return _placed(entries, shape), ellipsis is not None


def _placed(entries: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """The entries with their axes, indices in their bounds."""
    axis = 0
    placed: list[Any] = []
    for entry in entries:
        if entry is None or entry is Ellipsis:
            placed.append(entry)
            continue
        if isinstance(entry, _List):
            if entry.axis is None:
                placed.append(entry)
                continue
            mask_length = entry.axis - 1
            # As in NumPy a mask of no length fits any axis: it takes nothing.
            if mask_length > 0 and mask_length != shape[axis]:
                raise IndexError(
                    f"boolean index did not match indexed array along axis {axis}: "
                    f"size of axis is {shape[axis]} but size of corresponding boolean axis is {mask_length}"
                )
            placed.append(_List(_bounded(entry.indices, shape[axis], axis), axis))
        elif isinstance(entry, slice):
            placed.append(entry)
        else:
            placed.append(_index(entry, shape[axis], axis))
        axis += 1
    return placed


def _lists(entry: Any) -> list[_List]:
    """A list, an array or a mask as lists of indices. In place of the axis: the length that a mask has along it and one more, 0 for
    what is no mask."""
    array = np.asarray(entry)
    if array.dtype == np.bool_:
        if array.ndim == 0:
            return [_List(np.zeros(int(array), np.int64), None)]
        return [_List(indices, length + 1) for indices, length in zip(array.nonzero(), array.shape, strict=True)]
    if array.size == 0 and not isinstance(entry, np.ndarray):
        array = array.astype(np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise IndexError("only integers, slices (`:`), ellipsis (`...`), None and integer or boolean arrays are valid indices")
    return [_List(array, 0)]


def _advanced(entries: list[Any], shape: tuple[int, ...]) -> Plan:
    """Indices with lists: these are broadcast together, and integers with them."""
    lists = [entry for entry in entries if isinstance(entry, _List)]
    try:
        points = np.broadcast_shapes(*(one.indices.shape for one in lists))
    except ValueError:
        shapes = " ".join(str(one.indices.shape) for one in lists)
        raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}") from None
    where = [n for n, entry in enumerate(entries) if isinstance(entry, (int, _List))]
    together = where[-1] - where[0] == len(where) - 1
    if len(lists) == 1 and lists[0].axis is not None:
        return _one_list(entries, lists[0], points, where[0] if together else 0, shape)
    return _positions(entries, points, where[0] if together else 0, shape)


def _one_list(entries: list[Any], one: _List, points: tuple[int, ...], at: int, shape: tuple[int, ...]) -> Plan:
    """A list along one axis, next to ranges and single indices; its axes come before entry ``at``."""
    parts: list[Part] = []
    raw: list[int] = []
    list_axis = 0
    others: list[int] = []
    result: list[int] = []
    before = 0
    for n, entry in enumerate(entries):
        if n == at:
            before, start = len(others), len(result)
        if entry is None:
            result.append(1)
        elif isinstance(entry, _List):
            parts.append(one.indices.reshape(-1))
            list_axis = len(raw)
            raw.append(one.indices.size)
        elif isinstance(entry, int):
            parts.append(entry)
        elif isinstance(entry, slice):
            part, count = _range(entry, shape[len(parts)])
            parts.append(part)
            others.append(len(raw))
            raw.append(count)
            result.append(count)
    order = (*others[:before], list_axis, *others[before:])
    final = (*result[:start], *points, *result[start:])
    return Plan(parts, tuple(raw), None if order == tuple(range(len(raw))) else order, final)


def _positions(entries: list[Any], points: tuple[int, ...], at: int, shape: tuple[int, ...]) -> Plan:
    """Several lists: the position of each item, in C order."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    lengths: list[int] = []
    offsets: list[tuple[int, np.ndarray]] = []
    single, axis, start = np.zeros(points, np.int64), 0, 0
    for n, entry in enumerate(entries):
        if n == at:
            start = len(lengths)
        if entry is None:
            lengths.append(1)
            continue
        if entry is Ellipsis or isinstance(entry, _List) and entry.axis is None:
            continue
        if isinstance(entry, slice):
            taken = np.arange(*entry.indices(shape[axis]), dtype=np.int64)
            offsets.append((len(lengths), taken * strides[axis]))
            lengths.append(len(taken))
        else:
            single = single + (entry.indices if isinstance(entry, _List) else entry) * strides[axis]
        axis += 1
    final = (*lengths[:start], *points, *lengths[start:])
    behind = len(points)
    positions = np.zeros(final, np.int64)
    positions += single.reshape((*single.shape, *([1] * (len(lengths) - start))))
    for place, taken in offsets:
        own = place if place < start else place + behind
        positions += taken.reshape([-1 if axis == own else 1 for axis in range(len(final))])
    return Plan(positions.reshape(-1), (positions.size,), None, final)


def _range(part: slice, length: int) -> tuple[Part, int]:
    """A slice, and how many it takes."""
    start, stop, step = part.indices(length)
    count = len(range(start, stop, step))
    if count == 0:
        return (0, 0, 1), 0
    # Before the first index there is none: -1 would be the last.
    return (start, None if stop < 0 else stop, step), count


def _is_index(entry: Any) -> bool:
    """Whether it stands for one index."""
    if isinstance(entry, (bool, np.bool_)):
        return False
    if hasattr(entry, "dtype") and hasattr(entry, "ndim"):
        return entry.ndim == 0 and np.issubdtype(entry.dtype, np.integer)
    return hasattr(entry, "__index__")


def _index(entry: Any, length: int, axis: int) -> int:
    index = operator.index(entry)
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {length}")
    return index + length if index < 0 else index


def _indices(entry: Any, length: int, axis: int) -> np.ndarray:
    """A list of indices or a mask along an axis."""
    found = _lists(entry)
    if len(found) != 1 or found[0].axis is None or found[0].indices.ndim != 1:
        raise IndexError("oindex takes an index, a slice, or a list or mask of one dimension for each axis")
    if found[0].axis > 0 and found[0].axis - 1 != length:
        raise IndexError(f"the mask has {found[0].axis - 1} items, and axis {axis} {length}")
    return _bounded(found[0].indices, length, axis)


def _bounded(indices: np.ndarray, length: int, axis: int) -> np.ndarray:
    """The indices, counted from the start of the axis."""
    outside = (indices < -length) | (indices >= length)
    if outside.any():
        raise IndexError(f"index {indices[outside].flat[0]} is out of bounds for axis {axis} with size {length}")
    indices = indices.astype(np.int64)
    return np.ascontiguousarray(np.where(indices < 0, indices + length, indices))


def _for_each_axis(key: Any, shape: tuple[int, ...]) -> list[Any]:
    # A list of lists is no list of indices: it is one for each axis, as in python-blosc2.
    several = isinstance(key, tuple) or isinstance(key, list) and key and all(isinstance(one, (list, np.ndarray)) for one in key)
    given = list(key) if several else [key]
    dots = [n for n, entry in enumerate(given) if entry is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    missing = len(shape) - (len(given) - len(dots))
    if missing < 0:
        raise IndexError(f"too many indices: the array has {len(shape)} axes")
    if not dots:
        dots = [len(given)]
        given.append(Ellipsis)
    given[dots[0] : dots[0] + 1] = [slice(None)] * missing
    return given


def broadcast(items: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Items as they are assigned to a shape: in front they may have more axes, of length 1."""
    extra = max(items.ndim - len(shape), 0)
    try:
        if any(length != 1 for length in items.shape[:extra]):
            raise ValueError
        return np.broadcast_to(items.reshape(items.shape[extra:]), shape)
    except ValueError:
        raise ValueError(f"could not broadcast input array from shape {items.shape} into shape {shape}") from None


def pieces(plan: Plan, most: int, chunks: tuple[int, ...]) -> Iterator[tuple[Plan, tuple[slice, ...]]]:
    """A plan in parts of at most ``most`` items, but of a chunk at least, and where each lies in what the crate gives.

    Ranges are cut where chunks are, so that no chunk is in two parts.
    """
    if isinstance(plan.selection, np.ndarray):
        for start in range(0, plan.raw[0], max(most, 1)):
            positions = plan.selection[start : start + max(most, 1)]
            yield Plan(positions, positions.shape, None, positions.shape), (slice(start, start + len(positions)),)
        return
    if 0 in plan.raw:
        return
    taken = [(axis, part) for axis, part in enumerate(plan.selection) if not isinstance(part, int)]
    lengths = []
    for (axis, part), count in zip(taken, plan.raw, strict=True):
        step = abs(part[2] or 1) if isinstance(part, tuple) else 1
        lengths.append(max(min(chunks[axis] // step, count), 1))
    for at in reversed(range(len(lengths))):
        room = max(most // math.prod(lengths), 1)
        lengths[at] *= min(room, -(-plan.raw[at] // lengths[at]))
    cuts = [
        list(_cuts(part, count, length, chunks[axis]))
        for (axis, part), count, length in zip(taken, plan.raw, lengths, strict=True)
    ]
    for where in itertools.product(*cuts):
        own = iter(zip(where, (part for _, part in taken), strict=True))
        selection = [part if isinstance(part, int) else _cut(*next(own)) for part in plan.selection]
        raw = tuple(along.stop - along.start for along in where)
        yield Plan(selection, raw, None, raw), where


def _cuts(part: Part, count: int, length: int, chunk: int) -> Iterator[slice]:
    """Where a part of an index is cut: into lengths, and at chunks where it goes by them."""
    at = 0
    while at < count:
        end = min(at + length, count)
        if isinstance(part, tuple) and part[2] == 1 and end < count:
            over = ((part[0] or 0) + end) % chunk
            end -= over if over < end - at else 0
        yield slice(at, end)
        at = end


def _cut(where: slice, part: Part) -> Part:
    """A part of a part of an index."""
    if isinstance(part, tuple):
        start, step = part[0] or 0, part[2] or 1
        stop = start + (where.stop - 1) * step + (1 if step > 0 else -1)
        return (start + where.start * step, None if stop < 0 else stop, step)
    assert isinstance(part, np.ndarray)
    return part[where]


def in_parent(
    selection: list[Part] | np.ndarray,
    data: np.ndarray,
    axes: tuple[int | None, ...],
    shape: tuple[int, ...],
    parent: tuple[int, ...],
) -> tuple[list[Part] | np.ndarray, np.ndarray]:
    """A selection from a view, and what is written there, as the array of the view takes it.

    ``axes`` says for each axis of the view, which has ``shape``, which of the parent's it is. Along a new axis the last of what is
    given counts, as in any write that names an item more than once.
    """
    if isinstance(selection, np.ndarray):
        coordinates = np.unravel_index(selection, shape) if shape else ()
        own = [np.zeros(len(selection), np.int64)] * len(parent)
        for axis, along in zip(axes, coordinates, strict=True):
            if axis is not None:
                own[axis] = along
        flat = np.zeros(len(selection), np.int64)
        for length, along in zip(parent, own, strict=True):
            flat = flat * length + along
        return flat, data
    parts: list[Part] = [0] * len(parent)
    order: list[int] = []
    dimension = 0
    for axis, part in zip(axes, selection, strict=True):
        if axis is not None:
            parts[axis] = part
            if not isinstance(part, int):
                order.append(axis)
                dimension += 1
        elif not isinstance(part, int):
            data = data.take(-1, axis=dimension)
    return parts, data.transpose(np.argsort(order)) if order else data
