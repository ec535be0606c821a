"""scripts/read_format.py, which was written from docs/FORMAT.md alone, reads what the library reads: so the page suffices."""

import hashlib
import math
import os
import struct
import subprocess
import sys
from pathlib import Path

import blosc2
import numpy as np
import pytest
import xxhash

import b2nd

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "crates/b2nd/tests/fixtures"
SHARED = ROOT.parent / "shared"
sys.path.insert(0, str(ROOT / "scripts"))

import read_chunk  # noqa: E402
import read_format  # noqa: E402


def lines(folder, name="MANIFEST.tsv"):
    """The rows of a manifest beside fixtures; none where the folder is missing."""
    path = folder / name
    text = path.read_text() if path.exists() else ""
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def array_rows():
    folders = ("b2nd", "caterva", "revisions", "registered", "zfp")
    return [(FIXTURES / folder, row) for folder in folders for row in lines(FIXTURES / folder)]


def expected_items(path, pattern, nbytes):
    """The items that a manifest names by their pattern."""
    if pattern == "file":
        return path.with_suffix(".items").read_bytes()
    kind, _, more = pattern.partition(":")
    if kind == "repeat":
        item = bytes.fromhex(more)
        return item * (nbytes // len(item))
    if kind == "ramp":
        return b"".join(n.to_bytes(int(more), "little") for n in range(nbytes // int(more)))
    return bytes(n % (2 if kind == "bits" else 251) for n in range(nbytes))


@pytest.mark.parametrize(("folder", "row"), array_rows(), ids=lambda value: value[0] if isinstance(value, list) else value.name)
def test_arrays_have_the_items_that_they_were_made_of(folder, row):
    name, _, shape, _, _, stored, itemsize, pattern = row
    if folder.name == "zfp":
        # Not in the environment of the tests: numcodecs does not import beside zfpy 1.0.1.post0.
        pytest.importorskip("zfpy")
    got_shape, dtype, data = read_format.read(folder / name)
    assert got_shape == tuple(int(n) for n in shape.split("x") if n != "()")
    assert data == expected_items(folder / name, pattern, math.prod(got_shape) * int(itemsize))
    # A text that is absent, unknown or of another size gives raw bytes.
    assert dtype in (stored, f"|V{itemsize}")
    if folder.name != "zfp":  # the package is built without zfp
        array = b2nd.open(folder / name)
        assert array.shape == got_shape
        dtype = read_format.parse_dtype(dtype)
        assert (array.dtype, array.dtype.itemsize) == (dtype, int(itemsize))
        assert array[()].tobytes() == data


@pytest.mark.parametrize("folder", ["chunk", "blocks"])
def test_chunks_give_their_bytes(folder):
    rows = lines(FIXTURES / folder, "DIGESTS.tsv")
    assert len(rows) > 20
    for name, *_, digest in rows:
        path = FIXTURES / folder / name
        is_chunk = path.suffix == ".b2chunk"
        data = read_chunk.Chunk(path.read_bytes()).decode() if is_chunk else read_format.read(path)[2]
        assert sha256(data) == digest, name


def test_streams_of_blosclz():
    for line in (FIXTURES / "blosclz/MANIFEST").read_text().splitlines():
        name, length, digest = line.split()
        fnv = 0xCBF29CE484222325
        for byte in read_chunk.blosclz((FIXTURES / "blosclz" / name).read_bytes(), int(length)):
            fnv = (fnv ^ byte) * 0x100000001B3 % 2**64
        assert f"{fnv:016x}" == digest, name


@pytest.mark.parametrize("row", lines(FIXTURES / "frame"), ids=lambda row: row[0])
def test_frames_give_their_chunks_and_layers(row):
    name, chunks, digest, metalayers, vlmetalayers = row
    frame = read_format.read_frame(FIXTURES / "frame" / name)
    assert (len(frame.offsets), sha256(frame.items())) == (int(chunks), digest)
    if not name.endswith(".b2nd"):
        assert [n.decode() for n, _, _ in frame.metalayers] == [n for n in metalayers.split(",") if n != "-"]
    expected = dict(pair.split("=") for pair in vlmetalayers.split(",") if pair != "-")
    assert {n.decode(): sha256(frame.vlmetalayer(n)) for n, _, _ in frame.vlmetalayers} == expected


def test_frames_one_behind_the_other_in_a_file():
    for name, offset, shape, digest, _ in lines(FIXTURES / "several"):
        path, at = FIXTURES / "several" / name, int(offset)
        if shape == "-":
            data = read_format.read_frame(path, at).items()
        else:
            got_shape, _, data = read_format.read(path, at)
            assert "x".join(map(str, got_shape)) == shape
            assert b2nd.open(path, offset=at)[()].tobytes() == data
        assert sha256(data) == digest


@pytest.mark.parametrize("row", lines(SHARED / "corpus"), ids=lambda row: row[0])
def test_files_of_other_writers(row):
    name, kind, shape, dtype, digest = row
    path = SHARED / name
    if kind == "chunk":
        data = read_chunk.Chunk(path.read_bytes()).decode()
    elif kind == "frame":
        data = read_format.read_frame(path).items()
    else:
        got_shape, got_dtype, data = read_format.read(path)
        assert str(got_shape) == shape
        assert got_dtype == dtype or got_dtype.startswith("|V")
        assert b2nd.open(path)[()].tobytes() == data
    assert sha256(data) == digest


@pytest.mark.parametrize("path", sorted((FIXTURES / "objects").iterdir()), ids=lambda path: path.name)
def test_objects_without_data_are_refused(path):
    with pytest.raises(read_format.Unsupported):
        read_format.read(path)
    with pytest.raises(b2nd.UnsupportedError):
        b2nd.open(path)


FRAME = (FIXTURES / "revisions/b2nd-7.b2nd").read_bytes()
LAYER = FRAME.index(b"\x97\x00\x02")
CHUNK = (FIXTURES / "chunk/01-blosclz5-shuffle-ts4-split3-9601.b2chunk").read_bytes()


@pytest.mark.parametrize(
    ("data", "at", "new", "error"),
    [
        (FRAME, 1, b"\xa7", read_format.FormatError),  # the magic
        (FRAME, 25, b"\x14", read_format.Unsupported),  # version 4
        (FRAME, 26, b"\x01", read_format.FormatError),  # sparse, in a file
        (FRAME, 24, b"\xa5", read_format.FormatError),  # markers
        (FRAME, 69, b"\xd7", read_format.FormatError),
        (FRAME, len(FRAME) - 23, b"\xcf", read_format.FormatError),
        (FRAME, 15 + 8, b"\xff", read_format.FormatError),  # longer than the file
        (FRAME, LAYER, b"\x93", read_format.Unsupported),  # Caterva 0.1
        (FRAME, LAYER, b"\x98", read_format.FormatError),
        (FRAME, LAYER + 2, b"\x11", read_format.FormatError),  # 17 axes
        (FRAME, LAYER + 4, b"\xd2", read_format.FormatError),
        (FRAME, LAYER + 12, b"\x09", read_format.FormatError),  # another shape: other chunks
        (FRAME, len(FRAME) - FRAME[::-1].index(b"4i<") - 3, b"|O8", read_format.Unsupported),
        (CHUNK, 0, b"\x07", None),  # a later version without unknown flags
        (CHUNK, 3, b"\x00", read_format.FormatError),  # typesize 0
        (CHUNK, 8, b"\x00\x00\x00\x00", read_format.FormatError),  # blocks of 0 bytes
        (CHUNK, 12, b"\xff\xff", read_format.FormatError),  # longer than what is there
        (CHUNK, 31, b"\x08", read_format.Unsupported),  # lazy
        (CHUNK, 31, b"\x80", read_format.Unsupported),  # instrumented
        (CHUNK, 31, b"\x50", read_format.FormatError),  # special chunk of kind 5
        (CHUNK, 2, bytes([CHUNK[2] & 0x1F | 0x40]), read_format.Unsupported),  # snappy
        (CHUNK, 16, b"\x99", read_format.Unsupported),  # an unknown filter
        (CHUNK, 32, b"\x00\x00\x00\x00", read_format.FormatError),  # a block in the header
    ],
)
def test_what_the_page_refuses(tmp_path, data, at, new, error):
    path = tmp_path / "changed.b2nd"
    path.write_bytes(data[:at] + new + data[at + len(new) :])
    read = read_format.read if data is FRAME else lambda path: read_chunk.Chunk(path.read_bytes()).decode()
    if error is None:
        assert read(path)
        return
    with pytest.raises(error):
        read(path)
    if data is FRAME:
        with pytest.raises((b2nd.FormatError, b2nd.UnsupportedError)):
            b2nd.open(path)[()]


def sealed(path, sparse=False):
    """An array of several chunks and vlmetalayers, with checksums."""
    items = np.cumsum(np.random.default_rng(7).integers(0, 9, (64, 900), "<i4"), axis=1, dtype="<i4")
    array = b2nd.asarray(items, urlpath=path, chunks=(40, 450), blocks=(10, 225), sparse=sparse)
    array.attrs["unit"] = "m"
    return items


@pytest.mark.parametrize("sparse", [False, True])
def test_checksums_of_our_arrays_are_verified(tmp_path, sparse):
    path = tmp_path / "sealed.b2nd"
    items = sealed(path, sparse)
    array = read_format.Array(read_format.read_frame(path))
    assert (array.items(), array.frame.sums.status, array.frame.sums.stale) == (items.tobytes(), "sealed", [])
    assert {state for state, _ in array.frame.sums.states.values()} == {1}
    assert max(len(entries) for _, entries in array.frame.sums.states.values()) > 2
    # Damage anywhere is seen, but for bytes that nothing refers to.
    files = sorted(path.iterdir()) if sparse else [path]
    seen = 0
    for file in files:
        data = file.read_bytes()
        for at in range(0, len(data), max(1, len(data) // 60)):
            file.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
            try:
                assert read_format.read(path)[2] == items.tobytes()
            except (read_format.FormatError, read_format.Unsupported):
                seen += 1
        file.write_bytes(data)
    assert seen > 40
    assert read_format.read(path)[2] == items.tobytes()


def test_checksums_after_another_program_wrote(tmp_path):
    path = tmp_path / "other.b2nd"
    items = sealed(path)
    other = blosc2.open(str(path), mode="a")
    other.schunk.vlmeta["more"] = 1
    del other
    array = read_format.Array(read_format.read_frame(path))
    assert (array.frame.sums.status, array.items()) == ("doubtful", items.tobytes())
    other = blosc2.open(str(path), mode="a")
    other[:3, :3] = 5
    items[:3, :3] = 5
    del other
    array = read_format.Array(read_format.read_frame(path))
    assert (array.items(), array.frame.sums.stale) == (items.tobytes(), [0])


def test_a_header_that_another_program_wrote(tmp_path):
    path = tmp_path / "shrunk.b2nd"
    items = sealed(path)
    other = blosc2.open(str(path), mode="a")
    other.resize((63, 900))
    del other
    array = read_format.Array(read_format.read_frame(path))
    assert (array.frame.sums.status, array.shape) == ("rewritten", (63, 900))
    assert array.items() == items[:63].tobytes()


def test_a_torn_header_is_read_by_its_undo_record(tmp_path):
    """The record is made as §12.1 says; the frame starts so that its header lies in two sectors."""
    path, start = tmp_path / "torn.b2nd", 512 - 130
    old = FRAME
    header_len = int.from_bytes(old[11:15], "big")
    # What the commit changed: bytes of the shape and of the dtype, in two sectors.
    first, n = LAYER + 5, header_len - LAYER - 5
    assert first < 130 < header_len
    new = bytes(byte ^ 1 for byte in old[first : first + n])
    record = struct.pack("<Q4I", len(old), header_len, first, n, start % 512) + old[first : first + n] + new
    record += struct.pack("<Q", xxhash.xxh3_64_intdigest(record + old[:header_len]))
    record += struct.pack("<I", 44 + 2 * n) + b"b2undo\x00\x01"
    torn = old[:130] + new[130 - first :] + old[first + n :]
    path.write_bytes(bytes(start) + torn + record)
    assert read_format.read(path, start) == read_format.read(FIXTURES / "revisions/b2nd-7.b2nd")
    assert b2nd.open(path, offset=start)[()].tobytes() == read_format.read(path, start)[2]
    # A part that is neither old nor new: the record is of another commit.
    path.write_bytes(bytes(start) + torn[: first + 1] + b"\xee" + torn[first + 2 :] + record)
    with pytest.raises((read_format.FormatError, read_format.Unsupported)):
        read_format.read(path, start)


def test_the_command(tmp_path):
    path = tmp_path / "a.b2nd"
    items = sealed(path)
    command = [sys.executable, os.fspath(ROOT / "scripts/read_format.py"), os.fspath(path)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert out == f"(64, 900)\t<i4\t{sha256(items.tobytes())}\t{path}\n"
