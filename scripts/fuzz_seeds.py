"""Puts the fixtures that are inputs of a fuzz target into its corpus: python3 scripts/fuzz_seeds.py TARGET CORPUS"""

import hashlib
import struct
import sys
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "crates/b2nd/tests/fixtures"


def files(limit, *patterns):
    found = {path for pattern in patterns for path in FIXTURES.glob(pattern) if path.is_file()}
    return [path.read_bytes() for path in sorted(found) if path.stat().st_size <= limit]


def frames():
    return files(16 << 10, "**/*.b2nd", "**/*.b2frame", "**/*.cat")


def with_choices(inputs):
    """Behind each input 32 bytes that choose what is done to it."""
    return [data + hashlib.sha256(b"%d" % n).digest() for n, data in enumerate(inputs)]


def columns(name, column):
    return [line.split("\t")[column].encode() for line in (FIXTURES / name).read_text().splitlines()]


def directories():
    """Sparse directories as records: kind 0 is the frame, 1 the number and the bytes of a chunk file."""
    for index in sorted(FIXTURES.glob("**/chunks.b2frame")):
        records = [(0, index.read_bytes())]
        for chunk in sorted(index.parent.glob("*.chunk")):
            records.append((1, bytes([int(chunk.stem, 16) & 255]) + chunk.read_bytes()))
        if all(len(data) < 1 << 13 for _, data in records):
            yield b"".join(struct.pack("<BH", kind, len(data)) + data for kind, data in records)


def metalayers():
    """What the first metalayer of each array says, behind a byte for its name; the item size comes behind it."""
    for frame in frames():
        for number, name in enumerate([b"\xa4b2nd\xd2", b"\xa7caterva\xd2"]):
            at = frame.find(name)
            if at > 0:
                place = struct.unpack_from(">i", frame, at + len(name))[0]
                length = struct.unpack_from(">I", frame, place + 1)[0]
                typesize = struct.unpack_from(">i", frame, 48)[0]
                if 1 <= typesize <= 32:
                    yield bytes([number]) + frame[place + 5 : place + 5 + length] + bytes([typesize - 1] + [77] * 31)


def seeds(target):
    match target:
        case "chunk_decode":
            return files(64 << 10, "**/chunk/*", "**/*.b2chunk")
        case "frame_open" | "array_open" | "reader" | "repair":
            return frames()
        case "frames_in":
            one, other = ((FIXTURES / "b2nd" / name).read_bytes() for name in ("shape-2d.b2nd", "full-nan.b2nd"))
            return [*frames(), one + b"between" + other + one]
        case "frame_hostile_write" | "array_hostile_write" | "mapped_file" | "closures":
            return with_choices(frames())
        case "sparse_dir":
            return with_choices(directories())
        case "metalayers":
            return sorted(set(metalayers()))
        case "text":
            npy = [bytes.fromhex(line.decode()) for line in columns("npy.tsv", 3)]
            return columns("dtype.tsv", 0) + columns("npy.tsv", 0) + npy
    return []


def main():
    target, corpus = sys.argv[1], Path(sys.argv[2])
    corpus.mkdir(parents=True, exist_ok=True)
    for n, data in enumerate(seeds(target)):
        (corpus / f"seed-{n:03}").write_bytes(data)


if __name__ == "__main__":
    main()
