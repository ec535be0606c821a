"""Chunks, codecs and filters of Blosc2, written from docs/FORMAT.md alone (§1 to §5): the lower half of read_format.py.

Packages decode what the page leaves to other specifications: LZ4 blocks, zstd, zlib and zfp.
"""

import bisect
import itertools
import math
import struct
import zlib
from dataclasses import dataclass

import lz4.block
import numpy as np
import zstandard


class FormatError(ValueError):
    """The bytes break a rule of the format."""


class Unsupported(ValueError):
    """The page says that such bytes are not read."""


def need(condition, reason):
    if not condition:
        raise FormatError(reason)


def part(data, at, length):
    """`length` bytes from `at` on."""
    need(0 <= at and 0 <= length and at + length <= len(data), f"{length} bytes at {at} are missing")
    return bytes(data[at : at + length])


def get(data, at, layout):
    """The numbers of a layout of `struct` from `at` on."""
    return struct.unpack(layout, part(data, at, struct.calcsize(layout)))


# ---- Codecs (§4, §5): one stream in, `length` bytes out ----


@dataclass
class Context:
    """What codecs and filters for arrays know besides the chunk (§3.5)."""

    typesize: int
    block_shape: tuple | None = None
    caterva: bool = False


def blosclz(stream, length):
    """§5: literal runs and matches. The last command is a literal run."""
    out, at = bytearray(), 1
    control = get(stream, 0, "B")[0] & 31
    while True:
        if control < 32:
            out += part(stream, at, control + 1)
            at += control + 1
            if at == len(stream):
                break
        else:
            count, more = (control >> 5) + 2, 255 if control >> 5 == 7 else 0
            while more == 255:
                (more,) = get(stream, at, "B")
                count, at = count + more, at + 1
            (low,) = get(stream, at, "B")
            distance, at = (control & 31) * 256 + low + 1, at + 1
            if control & 31 == 31 and low == 255:
                distance, at = get(stream, at, ">H")[0] + 8192, at + 2
            need(distance <= len(out) and len(out) + count <= length, "BloscLZ: a match out of range")
            # A match that overlaps itself repeats its first `distance` bytes.
            unit = out[len(out) - distance :][:count]
            out += (unit * (count // len(unit) + 1))[:count]
        (control,) = get(stream, at, "B")
        at += 1
    return bytes(out)


# NDLZ: the rows that each token copies; a pair of groups has two distances. For cells of 8 the number of rows.
NDLZ_4 = {28: [(1, 2, 3)], 29: [(0, 1, 2)], 30: [(0, 1, 3)], 31: [(0, 2, 3)]}
NDLZ_4 |= {16: [(2, 3)], 17: [(0, 1)], 18: [(0, 2)], 19: [(0, 3)], 22: [(1, 2)], 23: [(1, 3)]}
NDLZ_4 |= {5: [(0, 1), (2, 3)], 6: [(0, 2), (1, 3)], 7: [(0, 3), (1, 2)]}
NDLZ_8 = {21: 3, 17: 2}


def ndlz(stream, length, side):
    """§5.1: a block of two dimensions in cells of `side` x `side` bytes."""
    axes, rows, columns = get(stream, 0, "<BII")
    need(axes == 2 and rows * columns == length and side in (4, 8), "NDLZ: another kind of block")
    out, at = np.zeros((rows, columns), np.uint8), 9
    for top, left in itertools.product(range(0, rows, side), range(0, columns, side)):
        cell = out[top : top + side, left : left + side]
        token_at, token, at = at, get(stream, at, "B")[0], at + 1
        every = tuple(range(len(cell)))
        if token == 0x40:
            cell[:], at = get(stream, at, "B")[0], at + 1
            continue
        if token in (0x00, 0xC0):
            copied = [every] if token else []
        else:
            first = token & 7
            by_eight = [every[first : first + NDLZ_8.get(token >> 3, 0)]]
            copied = NDLZ_4.get(token >> 3, [()]) if side == 4 else by_eight
            need(cell.size == side * side and copied[0], "NDLZ: token")
            need(side == 4 or len(copied[0]) == NDLZ_8[token >> 3], "NDLZ: rows outside of a cell")
        for rows_of in copied:
            place = token_at - get(stream, at, "<H")[0]
            data = part(stream[:token_at], place, len(rows_of) * cell.shape[1])
            cell[list(rows_of)] = np.frombuffer(data, np.uint8).reshape(len(rows_of), -1)
            at += 2
        for row in every:
            if not any(row in rows_of for rows_of in copied):
                cell[row] = np.frombuffer(part(stream, at, cell.shape[1]), np.uint8)
                at += cell.shape[1]
    need(at == len(stream), "NDLZ: bytes are left over")
    return out.tobytes()


def zfp(stream, codec, meta, context):
    """§5.2: one stream of the zfp library without its header."""
    import zfpy

    shape, size = context.block_shape or (), context.typesize
    need(1 <= len(shape) <= 4 and size in (4, 8), "zfp: another kind of block")
    tolerance, rate = 10.0 ** (meta - 256 if meta > 127 else meta), meta / 100 * size * 8
    precision = min(64, meta + 3 + 2 * len(shape))
    mode = {33: {"tolerance": tolerance}, 34: {"precision": precision}, 35: {"rate": rate}}[codec]
    return zfpy._decompress(stream, zfpy.type_float if size == 4 else zfpy.type_double, shape, **mode).tobytes()


def decompress(codec, meta, stream, length, dictionary, context):
    """One stream of any codec, which has to give exactly `length` bytes."""
    try:
        if codec == 0:
            out = blosclz(stream, length)
        elif codec in (1, 2):
            out = lz4.block.decompress(stream, uncompressed_size=length, dict=dictionary)
        elif codec == 4:
            # Bytes after the zlib data are tolerated (§13).
            decoder = zlib.decompressobj()
            out = decoder.decompress(stream, length + 1)
            need(decoder.eof, "zlib: the stream is cut off")
        elif codec == 5:
            decoder = zstandard.ZstdDecompressor(zstandard.ZstdCompressionDict(dictionary) if dictionary else None)
            out = decoder.decompress(stream, length, allow_extra_data=False)
        elif codec == 32:
            out = ndlz(stream, length, meta)
        elif codec in (33, 34, 35):
            out = zfp(stream, codec, meta, context)
        else:
            raise Unsupported(f"codec {codec}")
    except (lz4.block.LZ4BlockError, zlib.error, zstandard.ZstdError) as error:
        raise FormatError(f"codec {codec}: {error}") from error
    need(len(out) == length, f"codec {codec}: another length")
    return out


# ---- Filters (§3): the inverse of each, on one whole block ----


def unshuffle(block, width):
    """§3.1: byte j of all items lies together."""
    count = len(block) // width
    whole = np.frombuffer(block, np.uint8, count * width).reshape(width, count)
    return whole.T.tobytes() + block[count * width :]


def bitunshuffle(block, typesize, blosc1):
    """§3.2: bit b of byte j of all items lies together."""
    count = len(block) // typesize
    if blosc1 and count % 8:
        return block
    count -= count % 8
    whole = np.frombuffer(block, np.uint8, count * typesize).reshape(typesize * 8, count // 8)
    bits = np.unpackbits(whole, axis=1, bitorder="little")
    return np.packbits(bits.T, axis=1, bitorder="little").tobytes() + block[count * typesize :]


def undelta(block, typesize, reference):
    """§3.3: against the unit before in block 0, against block 0 in later ones."""
    unit = typesize if typesize in (1, 2, 4, 8) else 8 if typesize % 8 == 0 else 1
    count = len(block) // unit
    whole = np.frombuffer(block, f"<u{unit}", count)
    if reference is None:
        whole = np.bitwise_xor.accumulate(whole)
    else:
        whole = whole ^ np.frombuffer(reference, f"<u{unit}", count)
    return whole.tobytes() + block[count * unit :]


def unbytedelta(block, width, old):
    """§3.5: running sums of each stream. The old filter begins anew behind the last whole 16 bytes."""
    count = len(block) // width
    streams = np.frombuffer(block, np.uint8, count * width).reshape(width, count)
    cut = count - count % 16 if old else count
    halves = [np.cumsum(half, axis=1, dtype=np.uint8) for half in (streams[:, :cut], streams[:, cut:])]
    return np.concatenate(halves, axis=1).tobytes() + block[count * width :]


def uncell(block, side, context):
    """§3.5: the items of ndcell and ndmean, which stand in the order of cells, in C order."""
    shape, item = context.block_shape or (), f"V{context.typesize}"
    need(shape and side > 0 and math.prod(shape) * context.typesize == len(block), "cells of another block")
    places = np.arange(math.prod(shape)).reshape(shape)
    corners = itertools.product(*(range(0, length, side) for length in shape))
    order = np.concatenate([places[tuple(slice(c, c + side) for c in corner)].ravel() for corner in corners])
    out = np.empty(len(order), item)
    out[order] = np.frombuffer(block, item)
    return out.tobytes()


def unfilter(block, chunk, reference, context):
    """Undoes slot 5 to 0. `reference` is block 0, decoded; None for block 0 itself."""
    for which, meta in reversed(chunk.filters):
        if which == 1:
            block = unshuffle(block, meta or chunk.typesize)
        elif which == 2:
            block = bitunshuffle(block, chunk.typesize, chunk.version == 2)
        elif which == 3:
            block = undelta(block, chunk.typesize, reference)
        elif which in (34, 35):
            block = unbytedelta(block, meta or context.typesize, which == 34)
        elif which in (32, 33) or (which == 165 and context.caterva):
            block = uncell(block, meta, context)
        elif which not in (0, 4, 36):  # empty; trunc_prec and int_trunc need nothing
            raise Unsupported(f"filter {which}")
    return block


# ---- Chunks (§1, §2) ----

CODEC_OF_FORMAT = {0: 0, 1: 1, 3: 4, 4: 5}
NAN = {4: bytes.fromhex("0000c07f"), 8: bytes.fromhex("000000000000f87f")}


def repeated(unit, length):
    need(unit and length % len(unit) == 0, "a part of a repeated item")
    return unit * (length // len(unit))


class Chunk:
    """A chunk at the start of some bytes."""

    def __init__(self, data):
        self.version, _, self.flags, self.typesize, self.nbytes, self.blocksize, self.cbytes = get(data, 0, "<4B3i")
        long = self.flags & 0x05 == 0x05
        self.start = 32 if long else 16
        more = part(data, 16, 16) if long else bytes(16)
        flags2, blosc2 = more[14:]
        if self.version > 6 and flags2 & ~1:
            raise Unsupported(f"chunk of version {self.version}")
        if blosc2 & 0x88:
            raise Unsupported("lazy or instrumented chunk")
        self.variable = flags2 & 1 == 1
        self.special, self.has_dictionary, self.stored = blosc2 >> 4 & 7, blosc2 & 1, self.flags & 0x02
        self.codec_id, self.codec_meta = more[6], more[7]
        # In a short header the flags are the pipeline; version 3 has garbage in slot 5.
        short = [(3 if self.flags & 8 else 0, 0), (2 if self.flags & 4 else self.flags & 1, 0)]
        self.filters = list(zip(more, more[8:14]))[: 5 if self.version == 3 else 6] if long else short
        need(self.typesize > 0 and self.nbytes >= 0 and 1 <= self.blocksize <= 536_866_816, "lengths of a chunk")
        need(self.start <= self.cbytes <= len(data), "a chunk is cut off")
        if self.nbytes and not self.variable:
            self.blocksize = min(self.blocksize, self.nbytes)
        self.data = bytes(data[: self.cbytes])

    def decode(self, context=None):
        """The uncompressed bytes."""
        context = context or Context(self.typesize)
        if self.variable:
            return self.decode_variable(context)
        if self.special:
            return self.decode_special()
        if self.stored:
            need(self.cbytes == self.nbytes + self.start, "a stored chunk of another length")
            return self.data[self.start :]
        starts, dictionary, _ = self.table()
        blocks = []
        for number, (start, end) in enumerate(self.spans(starts)):
            length = min(self.blocksize, self.nbytes - number * self.blocksize)
            block = self.read_block(start, end, length, dictionary, context)
            blocks.append(unfilter(block, self, blocks[0] if blocks else None, context))
        return b"".join(blocks)

    def decode_special(self):
        """§2.1"""
        payload = self.data[self.start :]
        if self.special == 3:
            need(len(payload) <= self.nbytes, "a repeated value that is longer than the chunk")
            return repeated(payload, self.nbytes)
        need(self.special in (1, 2, 4), f"special chunk of kind {self.special}")
        if self.special == 2:
            return repeated(NAN.get(self.typesize), self.nbytes)
        return repeated(bytes(1 if self.special == 1 else self.typesize), self.nbytes)  # 1 zeros, 4 uninitialised

    def decode_variable(self, context):
        """§2.7: each block has its length, one payload, and no reference for delta but itself."""
        need(not self.special and not self.stored, "a stored or special chunk of variable-length blocks")
        starts, dictionary, _ = self.table()
        need(all(a + 4 <= b for a, b in itertools.pairwise(starts)), "blocks out of order")
        out = b""
        for start, end in self.spans(starts):
            (length,) = get(self.data, start, "<i")
            need(0 < length <= self.nbytes, "length of a block")
            block = part(self.data, start + 4, end - start - 4)
            if len(block) != length:
                block = self.decompress(block, length, dictionary, context)
            out += unfilter(block, self, None, context)
        need(len(out) == self.nbytes, "blocks of another length than the chunk")
        return out

    def table(self):
        """§2.3, §2.6: where each block starts, the dictionary, and the end of what stands before the blocks."""
        if self.flags >> 5 not in (*CODEC_OF_FORMAT, 6):
            raise Unsupported(f"codec format {self.flags >> 5}")
        count = self.blocksize if self.variable else -(-self.nbytes // self.blocksize)
        end, dictionary = self.start + 4 * count, b""
        starts = get(self.data, self.start, f"<{count}i")
        if self.has_dictionary:
            (size,) = get(self.data, end, "<i")
            need(0 < size <= 131_072, "size of a dictionary")
            dictionary, end = part(self.data, end + 4, size), end + 4 + size
        need(all(end <= start <= self.cbytes - 4 for start in starts), "a block outside of the chunk")
        return starts, dictionary, end

    def spans(self, starts):
        """From each start to the next one above it, or to the end of the chunk."""
        bounds = sorted({*starts, self.cbytes})
        return [(start, bounds[bisect.bisect_right(bounds, start)]) for start in starts]

    def read_block(self, start, end, length, dictionary, context):
        """§2.3, §2.4: the streams of one block, before its filters are undone."""
        ts, counts = self.typesize, [1]
        if not self.flags & 0x10 and length == self.blocksize:
            by_size = self.start == 16 and self.version <= 2 and not (ts <= 16 and self.blocksize // ts >= 128)
            counts = [1, ts] if by_size else [ts]
        for count in counts:
            try:
                need(length % count == 0, "a split block that is no multiple of the typesize")
                streams, at = [], start
                for _ in range(count):
                    stream, at = self.read_stream(at, end, length // count, dictionary, context)
                    streams.append(stream)
                return b"".join(streams)
            except FormatError:
                if count == counts[-1]:
                    raise

    def read_stream(self, at, end, length, dictionary, context):
        """One stream, and where it ends."""
        (size,) = get(self.data[:end], at, "<i")
        if size == 0:
            return bytes(length), at + 4
        if -255 <= size < 0:
            need(get(self.data[:end], at + 4, "B")[0] & 1, "token of a run")
            return bytes([-size]) * length, at + 5
        need(0 < size <= length, "size of a stream")
        payload = part(self.data[:end], at + 4, size)
        return payload if size == length else self.decompress(payload, length, dictionary, context), at + 4 + size

    def decompress(self, payload, length, dictionary, context):
        codec = CODEC_OF_FORMAT.get(self.flags >> 5, self.codec_id)
        if self.flags >> 5 == 6 and codec < 32:
            raise Unsupported(f"codec {codec} in the format of plug-ins")
        return decompress(codec, self.codec_meta, payload, length, dictionary, context)

    def entries(self):
        """§6.6: the parts of a chunk that have a checksum each."""
        if self.cbytes <= 4096 or self.special or (self.stored and self.variable):
            return [self.data]
        starts, end = range(self.start, self.cbytes, self.blocksize), self.start
        if not self.stored:
            starts, _, end = self.table()
        if len(starts) > 1 << 24:
            return [self.data]
        return [self.data[:end], *(self.data[a:b] for a, b in self.spans(starts))]
