# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "lz4", "zstandard", "xxhash", "zfpy"]
# ///
"""Reads Blosc2 frames and arrays, written from docs/FORMAT.md alone.

    read_format.py FILE…        prints shape, dtype and the SHA-256 of the items of each array

The script shows that the page suffices to write a reader. It reads a file at once, and is not made to be fast.
Numbers behind § are sections of the page. Chunks and what is inside them are in read_chunk.py.
"""

import ast
import hashlib
import itertools
import math
import os
import stat
import struct
import sys
from pathlib import Path

import numpy as np
import xxhash
from read_chunk import NAN, Chunk, Context, FormatError, Unsupported, get, need, part, repeated


class Damaged(FormatError):
    """Bytes differ from their checksum (§6.6)."""


def marked(data, at, marker, layout):
    """The big-endian number behind a msgpack marker."""
    found, number = get(data, at, ">B" + layout)
    need(found == marker, f"marker {found:02x} at {at} in the place of {marker:02x}")
    return number


# ---- Frames (§6, §7, §8) ----


def regular(path):
    """The bytes of a file of a sparse frame. Links and others are refused."""
    need(os.path.lexists(path), f"missing file {path}")
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise OSError(f"{path} is no regular file")
    return path.read_bytes()


def section(data, at, most):
    """§6.2: (name, start, end) of each metalayer of a header or trailer."""
    need(get(data, at, "B")[0] == 0x93, "marker of the metalayers")
    marked(data, at + 1, 0xCD, "H")
    count, at, layers = marked(data, at + 4, 0xDE, "H"), at + 7, []
    need(count <= most, "too many metalayers")
    for _ in range(count):
        length = get(data, at, "B")[0] - 0xA0
        need(0 <= length <= 31, "name of a metalayer")
        name, start = part(data, at + 1, length), marked(data, at + 1 + length, 0xD2, "i")
        end = start + 5 + marked(data, start, 0xC6, "I")
        need(end <= len(data), "a metalayer is cut off")
        layers.append((name, start + 5, end))
        at += 6 + length
    return layers


def untorn(data, at):
    """§12.1: the frame at `at`. An undo record at the end of the file mends a header that a crash has torn."""
    frame, length = data[at:], int.from_bytes(data[-12:-8], "little")
    if data[-8:] != b"b2undo\x00\x01" or not 44 <= length <= len(frame):
        return frame
    record = data[-length:]
    distance, size, first, n, phase = get(record, 0, "<Q4I")
    if length != 44 + 2 * n or distance != len(frame) - length or first + n > size or size > distance:
        return frame
    old, new, now = record[24 : 24 + n], record[24 + n : 24 + 2 * n], frame[first : first + n]
    whole = frame[:first] + old + frame[first + n : size]
    if xxhash.xxh3_64_intdigest(record[: 24 + 2 * n] + whole) != get(record, 24 + 2 * n, "<Q")[0]:
        return frame
    # Each part that lies in one sector of the file is old or new, else the record is of another commit.
    cuts = [0, *(i for i in range(1, n) if (phase + first + i) % 512 == 0), n]
    if now == new or any(now[a:b] not in (old[a:b], new[a:b]) for a, b in itertools.pairwise(cuts)):
        return frame
    return whole + frame[size:]


class Frame:
    """A frame: its header, trailer and offsets, checked. Chunks are read when asked for."""

    def __init__(self, data, folder=None):
        self.folder, (self.kind, magic) = folder, get(data, 0, ">B9s")
        need(0x9B <= self.kind <= 0x9E and magic == b"\xa8b2frame\x00", "no frame")
        today, beta1 = self.kind == 0x9E, self.kind < 0x9D
        fixed = 87 if today else 64 if beta1 else 82
        self.header_len, frame_len = marked(data, 10, 0xD2, "i"), marked(data, 15, 0xCF, "Q")
        self.nbytes, self.cbytes = marked(data, 29, 0xD3, "q"), marked(data, 38, 0xD3, "q")
        self.typesize, self.chunksize = marked(data, 47, 0xD2, "i"), marked(data, 57 if today else 52, 0xD2, "i")
        need(fixed <= self.header_len <= frame_len <= len(data), "lengths of the frame")
        self.data = data = data[:frame_len]
        # Byte 0 says the layout. Versions 0 and 1 are those of the betas.
        self.version = data[25] & 15 if today else 0 if beta1 else 1
        if self.version > 3:
            raise Unsupported(f"frame of version {self.version}")
        need(data[24] == 0xA4 and (beta1 or data[69 if today else 64] == 0xD8), "markers of the header")
        need(self.nbytes >= 0 and self.cbytes >= 0 and self.typesize > 0, "lengths of the frame")
        need(self.chunksize >= 0 or (self.chunksize == -1 and self.nbytes == 0), "size of chunks")
        need(not today or data[26] == (folder is not None), "a sparse frame in a file, or the reverse")
        header = data[: self.header_len]
        self.metalayers = section(header, fixed, 16) if self.header_len > fixed else []
        # Beta 1 has no trailer: the frame ends with the offsets.
        length = 0 if beta1 else marked(data, frame_len - 23, 0xCE, "I")
        need(length <= frame_len - self.header_len, "length of the trailer")
        self.trailer, self.vlmetalayers = data[frame_len - length :], []
        if not beta1:
            self.read_trailer(today)
        self.offsets, self.offsets_bytes = [], b""
        if self.nbytes:
            self.read_offsets()
        self.sums = Checksums(self) if today else None

    def metalayer(self, name):
        return next((self.data[a:b] for n, a, b in self.metalayers if n == name), None)

    def vlmetalayer(self, name):
        """Its decoded content: each is stored as a chunk (§6.4)."""
        return next((Chunk(self.trailer[a:b]).decode() for n, a, b in self.vlmetalayers if n == name), None)

    def read_trailer(self, today):
        """§6.4; before version 2, user data stand before the section, which may be missing (§7)."""
        at = 2 if today else 7 + marked(self.trailer, 2, 0xC6, "I")
        if at > 7:
            self.vlmetalayers = [(b"usermeta", 7, at)]
        if today or at < len(self.trailer) - 23:
            self.vlmetalayers += section(self.trailer, at, 8192)

    def read_offsets(self):
        """§6.3"""
        end = len(self.data) - len(self.trailer)
        chunk = Chunk(self.data[self.header_len + (0 if self.folder else self.cbytes) : end])
        need(chunk.nbytes % 8 == 0, "length of the offsets")
        self.offsets, self.offsets_bytes = np.frombuffer(chunk.decode(), "<i8").tolist(), chunk.data
        need(self.chunksize in (0, None) or len(self.offsets) == -(-self.nbytes // self.chunksize), "number of chunks")

    def stored_chunk(self, number):
        """A chunk, or None where an offset stands for it."""
        offset = self.offsets[number]
        if offset < 0:
            return None
        if self.folder:
            need(offset < 1 << 32, "number of a chunk file")
            return Chunk(regular(self.folder / f"{offset:08X}.chunk"))
        return Chunk(self.data[self.header_len + offset : self.header_len + self.cbytes])

    def chunk(self, number, context=None):
        """The items of a chunk, verified."""
        length = min(self.chunksize, self.nbytes - number * self.chunksize)
        chunk = self.stored_chunk(number)
        if chunk:
            need(self.chunksize == 0 or chunk.nbytes == length, "a chunk of another size")
            if self.sums:
                self.sums.check(number, chunk)
            return chunk.decode(context or Context(self.typesize))
        need(self.chunksize, "a special offset where chunks differ in size")
        top = self.offsets[number] >> 56
        need(top & 7, "an unknown special offset")
        return bytes(length) if top & 5 else repeated(NAN.get(self.typesize), length)

    def items(self):
        """All chunks, one after the other."""
        data = b"".join(self.chunk(number) for number in range(len(self.offsets)))
        need(len(data) == self.nbytes, "chunks of another length than the frame")
        return data


# ---- Checksums (§6.6) ----


def mix(identity, chunk, number):
    """What keeps a chunk from standing in the place of another one: 64 bits from its identity."""
    mask = (1 << 64) - 1

    def f(x):
        x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & mask
        x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & mask
        return x ^ x >> 33

    inner = f(identity[0] ^ (chunk * 0x9E3779B97F4A7C15 & mask)) ^ identity[1]
    return f(inner + number * 0xD1B54A32D192ED03 & mask)


def verify(data, expected, what):
    if xxhash.xxh3_64_intdigest(data) != expected:
        raise Damaged(what)


class Checksums:
    """Verifies a frame when it is opened, and chunks when they are read."""

    def __init__(self, frame):
        trailer = frame.trailer
        seal, self.status, self.stale, self.states = trailer[-16:], "none", [], {}
        layers = [(a, b) for name, a, b in frame.vlmetalayers if name == b"b2nd.digests"]
        if not layers:
            # With another type byte it is the fingerprint of another program.
            if any(seal) and not trailer[-17]:
                raise Damaged("the trailer")
            return
        stored = trailer[slice(*layers[0])]
        layer = Chunk(stored).decode()
        need(layer[:1] == b"\xc6" and layer[5:13] == b"b2nd\x00sum", "marker of the checksums")
        version, length, *self.identity, chunks, per_segment, offsets, size = get(layer, 13, "<2I5QI")
        if version != 1:
            raise Unsupported(f"checksums of version {version}")
        self.status = "sealed" if any(seal) else "doubtful"
        if any(seal) and seal != self.fingerprint(frame, stored[: 37 + length]):
            raise Damaged("the trailer")
        (count,) = get(layer, 65 + size, "<I")
        hashes, at = get(layer, 69 + size, f"<{count}Q"), 69 + size + 8 * count
        if self.status == "sealed":
            self.check_header(frame, part(layer, 65, size))
            verify(frame.offsets_bytes, offsets, "the offsets")
            others = [trailer[a:b] for name, a, b in frame.vlmetalayers if name != b"b2nd.digests"]
            need(len(others) == count, "number of checksums of vlmetalayers")
            for data, expected in zip(others, hashes):
                verify(data, expected, "a vlmetalayer")
        for i in range(get(layer, at, "<I")[0]):
            segment, place, size, expected = get(layer, at + 4 + 32 * i, "<4Q")
            data, first = part(layer, 5 + length + place, size), segment * per_segment
            verify(data, expected, "a segment of checksums")
            self.read_segment(data, first, min(per_segment, chunks - first))

    def fingerprint(self, frame, layer):
        """Of the trailer without the contents of its vlmetalayers, and of the layer up to the end of its root."""
        kept, at = b"", 0
        for _, start, end in sorted(frame.vlmetalayers, key=lambda layer: layer[1]):
            kept, at = kept + frame.trailer[at:start], end
        kept += frame.trailer[at:-16]
        return (xxhash.xxh3_128_intdigest(kept + layer) or 1).to_bytes(16, "little")

    def check_header(self, frame, copy):
        """The header is its copy, but for what C-Blosc2 changes when it writes the header alone."""
        header, copy = bytearray(frame.data[: frame.header_len]), bytearray(copy)
        if header != copy and min(get(header, 63, ">hxh")) >= 1:
            self.status = "rewritten"
            contents = [(a, b) for _, a, b in frame.metalayers]
            for a, b in [(27, 29), (53, 57), (63, 65), (66, 68), (70, 87), *contents]:
                header[a:b] = copy[a:b] = bytes(b - a)
        if header != copy:
            raise Damaged("the header")

    def read_segment(self, data, first, count):
        """The state of each chunk, and its entries, which follow the states of all of them."""
        need(count > 0, "number of a segment")
        at = 4 * count
        for i, word in enumerate(get(data, 0, f"<{count}I")):
            size = word & (1 << 30) - 1
            self.states[first + i], at = (word >> 30, get(data, at, f"<{size}Q")), at + 8 * size
        need(at == len(data), "length of a segment")

    def check(self, number, chunk):
        state, entries = self.states.get(number, (0, ()))
        hashes = [xxhash.xxh3_64_intdigest(data) for data in chunk.entries()] if state else []
        if [h ^ mix(self.identity, number, i) for i, h in enumerate(hashes)] != list(entries):
            if self.status != "doubtful" and state == 1:
                raise Damaged(f"chunk {number}")
            self.stale.append(number)


# ---- Arrays (§9, §10) ----


class Array:
    """A frame with a metalayer for arrays."""

    def __init__(self, frame):
        self.frame = frame
        if frame.metalayer(b"b2o") is not None or frame.metalayer(b"LazyArray") is not None:
            raise Unsupported("an object of python-blosc2 without data")
        self.caterva = frame.metalayer(b"b2nd") is None
        layer = frame.metalayer(b"caterva" if self.caterva else b"b2nd")
        need(layer, "no array")
        first, _, axes = get(layer, 0, "3B")
        if first == 0x93:
            raise Unsupported("an array of Caterva 0.1")
        need(first in (0x95, 0x96, 0x97) and axes <= 16, "array metalayer")
        lengths, at = [], 3
        for marker, number in ((0xD3, "q"), (0xD2, "i"), (0xD2, "i")):
            # The marker of a list is wrong for 16 axes, so it is not looked at.
            size = struct.calcsize(">B" + number)
            lengths.append(tuple(marked(layer, at + 1 + i * size, marker, number) for i in range(axes)))
            at += 1 + axes * size
        self.shape, self.chunk_shape, self.block_shape = lengths
        if frame.version < 2 and not self.has_blocks():
            self.block_shape = self.chunk_shape
        need(all(length >= 0 for length in self.shape + self.chunk_shape + self.block_shape), "a negative length")
        need(0 in self.shape or 0 not in self.chunk_shape + self.block_shape, "chunks or blocks of length 0")
        self.places = self.padded()
        self.itemsize = self.size_of_item(math.prod(self.places))
        self.dtype = dtype_of(layer, at, self.itemsize)
        self.grid = [-(-s // c) if s else 0 for s, c in zip(self.shape, self.chunk_shape)]
        size = math.prod(self.places) * self.itemsize
        need(frame.nbytes == size * math.prod(self.grid), "length of the array")
        need(frame.chunksize == size or not frame.nbytes, "size of the chunks")

    def padded(self):
        """§9.1: the places of a chunk along each axis."""
        return [-(-c // b) * b if b else 0 for c, b in zip(self.chunk_shape, self.block_shape)]

    def size_of_item(self, places):
        """§9.3: some files say 1 for items of more than 255 bytes."""
        frame = self.frame
        if frame.typesize == 1 and frame.chunksize > 0 and places and frame.chunksize % places == 0:
            return frame.chunksize // places
        return frame.typesize

    def has_blocks(self):
        """Rule 4 of §10: whether the block shape of an old frame means something; else a chunk is one box."""
        if not all(1 <= b <= c for c, b in zip(self.chunk_shape, self.block_shape)):
            return False
        places = math.prod(self.padded())
        itemsize = self.size_of_item(places)
        stored = [(offset, number) for number, offset in enumerate(self.frame.offsets) if offset >= 0]
        blocksize = math.prod(self.block_shape) * itemsize
        agrees = not stored or self.frame.stored_chunk(min(stored)[1]).blocksize == blocksize
        return places * itemsize == self.frame.chunksize and agrees

    def items(self):
        """The items in C order."""
        out, axes = np.zeros(self.shape, f"V{self.itemsize}"), len(self.shape)
        counts = [p // b if b else 0 for p, b in zip(self.places, self.block_shape)]
        # A chunk has the axes of its grid of blocks, then those of a block. They belong together axis by axis.
        order = [i + k * axes for i in range(axes) for k in (0, 1)]
        context = Context(self.frame.typesize, self.block_shape, self.caterva)
        for number, at in enumerate(itertools.product(*map(range, self.grid))):
            data = np.frombuffer(self.frame.chunk(number, context), out.dtype)
            chunk = data.reshape((*counts, *self.block_shape)).transpose(order).reshape(self.places)
            starts = [i * c for i, c in zip(at, self.chunk_shape)]
            lengths = [min(c, s - a) for a, c, s in zip(starts, self.chunk_shape, self.shape)]
            box = tuple(slice(a, a + n) for a, n in zip(starts, lengths))
            out[box] = chunk[tuple(map(slice, lengths))]
        return out.tobytes()


def parse_dtype(text):
    """NumPy's text or name of a type, or the Python literal of a structure."""
    return np.dtype(ast.literal_eval(text) if text[:1] in ("[", "{") else text)


def dtype_of(layer, at, itemsize):
    """§9.4, and rule 2 of §10: the text is read by what is there."""
    first = layer[at : at + 1]
    if first == b"\x00":
        at += 1
    if at == len(layer) or first not in (b"\x00", b"\xdb"):
        return f"|V{itemsize}"
    raw = part(layer, at + 5, marked(layer, at, 0xDB, "I"))
    try:
        text = raw.decode()
        dtype = parse_dtype(text)
    except (TypeError, ValueError, SyntaxError):
        return f"|V{itemsize}"
    if dtype.hasobject:
        raise Unsupported("Python objects")
    return text if dtype.itemsize == itemsize else f"|V{itemsize}"


def read_frame(path, at=0):
    """The frame in a directory, or in a file from an offset on."""
    path = Path(path)
    return Frame(regular(path / "chunks.b2frame"), path) if path.is_dir() else Frame(untorn(path.read_bytes(), at))


def read(path, at=0):
    """Shape, text of the dtype, and the bytes of the items in C order."""
    array = Array(read_frame(path, at))
    return array.shape, array.dtype, array.items()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        shape, dtype, data = read(name)
        print(shape, dtype, hashlib.sha256(data).hexdigest(), name, sep="\t")
