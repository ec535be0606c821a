"""Makes the files of crates/b2nd/tests/fixtures/revisions: every published revision of the metalayer, and the hybrids.

    .venv/bin/python scripts/fixtures_revisions.py

No living library writes most of them, so the bytes of frames by the blosc2 package are cut and put together again here.
The manifest is as in fixtures_b2nd.py. Fixtures are kept for ever: run this only to add some.
"""

import shutil
import struct
from pathlib import Path

import blosc2
import numpy as np

HERE = Path(__file__).resolve().parent.parent / "crates/b2nd/tests/fixtures/revisions"
SHAPE, CHUNKS, BLOCKS = (7, 5), (4, 3), (2, 2)
LINES = []


def text(dims):
    return "x".join(map(str, dims))


def keep(name, frame, revision, dtype="-", itemsize=4, pattern="ramp:4", shape=SHAPE, chunks=CHUNKS, blocks=BLOCKS):
    (HERE / name).write_bytes(frame)
    LINES.append("\t".join([name, revision, text(shape), text(chunks), text(blocks), dtype, str(itemsize), pattern]))


def geometry(shape=SHAPE, chunks=CHUNKS, blocks=BLOCKS):
    """The part of the metalayer that all revisions share: version, dimensions, and three arrays."""
    marker = bytes([0x90 + len(shape)])
    out = bytes([0, len(shape)]) + marker + b"".join(b"\xd3" + struct.pack(">q", n) for n in shape)
    for dims in (chunks, blocks):
        out += marker + b"".join(b"\xd2" + struct.pack(">i", n) for n in dims)
    return out


def dtype_tail(name, with_format=True):
    return (b"\x00" if with_format else b"") + b"\xdb" + struct.pack(">I", len(name)) + name.encode()


def metalayers(start, name, content):
    """The metalayer section at `start` of a frame header, with one metalayer."""
    head = b"\x93\xcd" + struct.pack(">H", 7 + 6 + len(name)) + b"\xde\x00\x01"
    head += bytes([0xA0 + len(name)]) + name.encode()
    at = start + len(head) + 5 + 3
    return head + b"\xd2" + struct.pack(">i", at) + b"\xdc\x00\x01\xc6" + struct.pack(">I", len(content)) + content


def with_metalayer(frame, name, content):
    """A frame of today with its metalayers replaced by one."""
    header_len = struct.unpack_from(">i", frame, 11)[0]
    header = bytearray(frame[:87] + metalayers(87, name, content))
    struct.pack_into(">i", header, 11, len(header))
    struct.pack_into(">Q", header, 16, len(header) + len(frame) - header_len)
    return bytes(header) + frame[header_len:]


def old_frame(chunks, chunksize, typesize, name, content):
    """A frame of version 1, as the betas of C-Blosc2 and Caterva up to 0.4 wrote it."""
    data, offsets = b"", []
    for chunk in chunks:
        offsets.append(len(data))
        data += b"\x04" + chunk[1:]
    index = blosc2.compress2(np.array(offsets, "<i8"), typesize=8, nthreads=1)
    index = b"\x04" + bytes(index)[1:]
    trailer = b"\x94\x01\xc6" + struct.pack(">I", 0) + b"\xce" + struct.pack(">I", 30) + b"\xd8\x00" + bytes(16)
    header = bytearray(82)
    header[:10] = b"\x9d\xa8b2frame\x00"
    header[10], header[15], header[24], header[25] = 0xD2, 0xCF, 0xA4, 0x21
    header[27] = 0x50
    header[29], header[38], header[47], header[52], header[57], header[60] = 0xD3, 0xD3, 0xD2, 0xD2, 0xD1, 0xD1
    header[63], header[64], header[65], header[66] = 0xC2, 0xD8, 1, 1
    struct.pack_into(">q", header, 30, chunksize * len(chunks))
    struct.pack_into(">q", header, 39, len(data))
    struct.pack_into(">i", header, 48, typesize)
    struct.pack_into(">i", header, 53, chunksize)
    struct.pack_into(">h", header, 58, 1)
    struct.pack_into(">h", header, 61, 1)
    header += metalayers(82, name, content)
    struct.pack_into(">i", header, 11, len(header))
    struct.pack_into(">Q", header, 16, len(header) + len(data) + len(index) + len(trailer))
    return bytes(header) + data + index + trailer


def compressed(items, blocksize):
    options = {"codec": blosc2.Codec.BLOSCLZ, "clevel": 5, "nthreads": 1, "blocksize": blocksize}
    return bytes(blosc2.compress2(items, typesize=items.dtype.itemsize, **options))


def plain_chunks(data):
    """The chunks in C order, padded to the chunk shape, without blocks."""
    grid = [-(-s // c) for s, c in zip(data.shape, CHUNKS)]
    for at in np.ndindex(*grid):
        chunk = np.zeros(CHUNKS, data.dtype)
        part = data[tuple(slice(a * c, (a + 1) * c) for a, c in zip(at, CHUNKS))]
        chunk[tuple(slice(0, n) for n in part.shape)] = part
        yield chunk


def blocked_chunks(data):
    """The chunks cut into blocks."""
    for chunk in plain_chunks(data):
        padded = np.zeros([-(-c // b) * b for c, b in zip(CHUNKS, BLOCKS)], data.dtype)
        padded[tuple(slice(0, c) for c in CHUNKS)] = chunk
        (a, b), (r, c) = BLOCKS, padded.shape
        yield np.ascontiguousarray(padded.reshape(r // a, a, c // b, b).transpose(0, 2, 1, 3))


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir(parents=True)
    data = np.arange(35, dtype="<i4").reshape(SHAPE)
    frame = blosc2.asarray(data, chunks=CHUNKS, blocks=BLOCKS, cparams={"nthreads": 1}, contiguous=True).to_cframe()
    five, six, seven = b"\x95" + geometry(), b"\x96" + geometry(), b"\x97" + geometry()
    keep("b2nd-5.b2nd", with_metalayer(frame, "b2nd", five), "b2nd-5")
    keep("b2nd-6.b2nd", with_metalayer(frame, "b2nd", six + dtype_tail("int32", False)), "b2nd-6", "int32")
    keep("b2nd-6-with-format.b2nd", with_metalayer(frame, "b2nd", six + dtype_tail("<i4")), "b2nd-6", "<i4")
    keep("b2nd-7.b2nd", with_metalayer(frame, "b2nd", seven + dtype_tail("<i4")), "b2nd-7", "<i4")
    keep("b2nd-7-more-bytes.b2nd", with_metalayer(frame, "b2nd", seven + dtype_tail("<i4") + b"more"), "b2nd-7", "<i4")
    keep("disagreeing-dtype.b2nd", with_metalayer(frame, "b2nd", seven + dtype_tail("|u1")), "b2nd-7", "|u1")
    keep("unknown-dtype.b2nd", with_metalayer(frame, "b2nd", seven + dtype_tail("wonderful")), "b2nd-7", "wonderful")
    keep("missing-dtype.b2nd", with_metalayer(frame, "b2nd", seven), "b2nd-5")
    keep("caterva-5.cat", with_metalayer(frame, "caterva", five), "caterva-5")
    garbage = b"\x95" + geometry(blocks=(0x8D2D200, -5))
    plain = [compressed(c, 16) for c in plain_chunks(data)]
    keep("partshape-garbage.cat", old_frame(plain, 48, 4, "caterva", garbage), "caterva-partshape", blocks=CHUNKS)
    zeroed = b"\x95" + geometry(blocks=(0, 0))
    keep("partshape-zeros.cat", old_frame(plain, 48, 4, "caterva", zeroed), "caterva-partshape", blocks=CHUNKS)
    # Block shapes that could be real, in chunks that they do not fit.
    plausible = b"\x95" + geometry(blocks=(2, 1))
    keep("partshape-plausible.cat", old_frame(plain, 48, 4, "caterva", plausible), "caterva-partshape", blocks=CHUNKS)
    blocked = [compressed(c, 16) for c in blocked_chunks(data)]
    keep("caterva-5-version-1.cat", old_frame(blocked, 64, 4, "caterva", five), "caterva-5")
    wide = np.frombuffer((np.arange(35 * 300) % 251).astype("u1").tobytes(), "|S300").reshape(SHAPE)
    clamped = blosc2.asarray(wide, chunks=CHUNKS, blocks=BLOCKS, cparams={"nthreads": 1}, contiguous=False).to_cframe()
    assert struct.unpack_from(">i", clamped, 48)[0] == 1, "the package no longer loses item sizes above 255"
    keep("typesize-300-stored-as-1.b2nd", clamped, "b2nd-7", "|S300", 300, "seq")
    (HERE / "MANIFEST.tsv").write_text("\n".join(LINES) + "\n")


main()
