"""Draws the pictures of the book, as SVG.

    draw_book.py            write book/src/images/*.svg
    draw_book.py --check    fail where a file differs from what would be written

Each picture has a light panel of its own, so that it is legible on light and dark pages.
"""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "book" / "src" / "images"

INK, FAINT, PANEL = "#1f2933", "#9aa5b1", "#ffffff"
CHUNK, BLOCK, TOUCHED, WINDOW = "#1f4e8c", "#b3bcc6", "#ffd8a8", "#d9480f"
HEADER, DATA, INDEX, TRAILER, DEAD = "#d0ebff", "#e9ecef", "#d3f9d8", "#fff3bf", "#f8f9fa"


class Picture:
    """A list of SVG elements on a panel."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{title}" font-family="Helvetica, Arial, sans-serif" font-size="14">',
            f"<title>{title}</title>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            f'<path d="M0 0 L8 4 L0 8 z" fill="{INK}"/></marker></defs>',
        ]
        self.rect(0.5, 0.5, width - 1, height - 1, fill=PANEL, stroke=FAINT, radius=8)

    def rect(
        self, x: float, y: float, w: float, h: float, fill: str = "none", stroke: str = "none", width: float = 1, radius: float = 0, dash: str = ""
    ) -> None:
        more = (f' rx="{radius}"' if radius else "") + (f' stroke-dasharray="{dash}"' if dash else "")
        self.lines.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{fill}" stroke="{stroke}" stroke-width="{width:g}"{more}/>'
        )

    def text(self, x: float, y: float, words: str, anchor: str = "start", fill: str = INK, size: int = 14, bold: bool = False) -> None:
        weight = ' font-weight="bold"' if bold else ""
        self.lines.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}" font-size="{size}"{weight}>{words}</text>')

    def arrow(self, path: str) -> None:
        self.lines.append(f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="1.2" marker-end="url(#tip)"/>')

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: str = FAINT, width: float = 1, dash: str = "") -> None:
        more = f' stroke-dasharray="{dash}"' if dash else ""
        self.lines.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{stroke}" stroke-width="{width:g}"{more}/>')

    def done(self) -> str:
        return "\n".join([*self.lines, "</svg>", ""])


def touched(start: int, stop: int, length: int) -> range:
    """The numbers of the blocks of a length that a range of items touches.

    >>> list(touched(5, 9, 4))
    [1, 2]
    """
    return range(start // length, -(-stop // length))


def grid(
    picture: Picture, x: float, y: float, item: float, shape: tuple[int, int], chunk: tuple[int, int], block: tuple[int, int], window: tuple[int, int, int, int]
) -> int:
    """Draws a partition and the blocks that a window touches; the number of them."""
    rows, columns = shape
    top, bottom, left, right = window
    count = 0
    for row in touched(top, bottom, block[0]):
        for column in touched(left, right, block[1]):
            picture.rect(x + column * block[1] * item, y + row * block[0] * item, block[1] * item, block[0] * item, fill=TOUCHED)
            count += 1
    for step, stroke, width in ((block, BLOCK, 0.8), (chunk, CHUNK, 2)):
        for row in range(0, rows + 1, step[0]):
            picture.line(x, y + row * item, x + columns * item, y + row * item, stroke, width)
        for column in range(0, columns + 1, step[1]):
            picture.line(x + column * item, y, x + column * item, y + rows * item, stroke, width)
    picture.rect(x + left * item, y + top * item, (right - left) * item, (bottom - top) * item, stroke=WINDOW, width=2.5)
    return count


def partition() -> str:
    picture = Picture(760, 300, "An array is cut into chunks, and each chunk into blocks; a read touches few blocks")
    window = (5, 14, 6, 19)
    blocks = grid(picture, 30, 50, 9, (24, 32), (8, 8), (2, 2), window)
    picture.text(30, 34, "array[5:14, 6:19]", bold=True)
    picture.text(30, 288, f"the window touches 6 of 12 chunks, {blocks} of 192 blocks", size=13)
    # The chunk of row 1 and column 1, at a larger scale.
    picture.line(30 + 16 * 9, 50 + 8 * 9, 400, 50, dash="4 3")
    picture.line(30 + 16 * 9, 50 + 16 * 9, 400, 50 + 216, dash="4 3")
    for row in range(4):
        for column in range(4):
            inside = row < 3
            picture.rect(400 + column * 54, 50 + row * 54, 54, 54, fill=TOUCHED if inside else "none", stroke=BLOCK)
    picture.rect(400, 50, 216, 216, stroke=CHUNK, width=2.5)
    picture.text(400, 34, "one chunk, 4 by 4 blocks", bold=True)
    picture.text(630, 80, "chunk", fill=CHUNK, bold=True)
    picture.text(630, 98, "unit of storage", size=13)
    picture.text(630, 138, "block", bold=True)
    picture.text(630, 156, "unit of", size=13)
    picture.text(630, 173, "decompression", size=13)
    picture.rect(630, 200, 16, 16, fill=TOUCHED, stroke=BLOCK)
    picture.text(652, 213, "decoded once,", size=13)
    picture.text(652, 230, "in parallel", size=13)
    picture.text(630, 258, "white: not read", size=13)
    return picture.done()


def shapes() -> str:
    picture = Picture(760, 260, "The same column read from chunks of three shapes")
    column, side = (0, 24, 13, 14), 24
    cases = (("chunks of whole rows", (4, 24), (4, 24)), ("square chunks and blocks", (12, 12), (4, 4)), ("chunks of whole columns", (24, 4), (24, 4)))
    for n, (title, chunk, block) in enumerate(cases):
        x = 30 + n * 245
        grid(picture, x, 46, 7, (side, side), chunk, block, column)
        picture.text(x, 32, title, bold=True)
        # A column touches blocks of full width, a row blocks of full height.
        of_column, of_row = block[1] / side, block[0] / side
        picture.text(x, 238, f"decoded for a column {of_column * 100:.0f} %, for a row {of_row * 100:.0f} %", size=12)
    return picture.done()


def boxes(picture: Picture, x: float, y: float, height: float, parts: list[tuple[str, float, str]], dashed: frozenset[str] = frozenset()) -> None:
    """A row of boxes with words inside."""
    for words, width, fill in parts:
        picture.rect(x, y, width, height, fill=fill, stroke=INK, dash="4 3" if words in dashed else "")
        picture.text(x + width / 2, y + height / 2 + 5, words, "middle", size=13)
        x += width


def file() -> str:
    picture = Picture(760, 330, "A file: header, chunks, index and trailer; a chunk: header, offsets, blocks")
    picture.text(30, 32, "a file (contiguous frame)", bold=True)
    row = [("header", 90, HEADER), ("chunk 0", 110, DATA), ("chunk 1", 130, DATA), ("chunk 2", 100, DATA), ("…", 60, DATA), ("index", 90, INDEX), ("trailer", 110, TRAILER)]
    boxes(picture, 30, 60, 44, row)
    for end in (175, 295, 410):
        picture.arrow(f"M 565 60 C 565 30, {end} 30, {end} 58")
    picture.text(75, 124, "shape, dtype,", "middle", size=12)
    picture.text(75, 140, "parameters", "middle", size=12)
    picture.text(565, 124, "where each", "middle", size=12)
    picture.text(565, 140, "chunk lies", "middle", size=12)
    picture.text(668, 124, "attributes,", "middle", size=12)
    picture.text(668, 140, "checksums", "middle", size=12)
    picture.line(230, 104, 30, 200, dash="4 3")
    picture.line(360, 104, 720, 200, dash="4 3")
    picture.text(30, 188, "a chunk", bold=True)
    row = [("header", 90, HEADER), ("block offsets", 120, INDEX), ("block 0", 120, DATA), ("block 1", 110, DATA), ("block 2", 130, DATA), ("…", 120, DATA)]
    boxes(picture, 30, 200, 44, row)
    picture.text(75, 264, "sizes, codec,", "middle", size=12)
    picture.text(75, 280, "filters", "middle", size=12)
    picture.text(180, 264, "where each", "middle", size=12)
    picture.text(180, 280, "block starts", "middle", size=12)
    picture.text(480, 264, "each block: filtered (shuffle), then compressed (zstd),", "middle", size=12)
    picture.text(480, 280, "by itself: it is decoded without its neighbours", "middle", size=12)
    picture.text(30, 314, "To read an item: index, block offsets, one block.", size=13)
    return picture.done()


def commit() -> str:
    picture = Picture(760, 330, "A commit: new data is written where the old header refers to nothing, the header last")
    old = [("header", 80, HEADER), ("chunk 0", 90, DATA), ("chunk 1", 90, DATA), ("index", 70, INDEX), ("trailer", 70, TRAILER)]
    picture.text(30, 30, "1. before: the header leads to index and chunks", bold=True)
    boxes(picture, 30, 42, 40, old)
    picture.text(30, 122, "2. new chunk, index and trailer are written behind it, and synced", bold=True)
    new = [("chunk 1 (new)", 120, TOUCHED), ("index (new)", 90, TOUCHED), ("trailer (new)", 100, TOUCHED)]
    boxes(picture, 30, 134, 40, old + new)
    picture.text(30, 200, "A crash here leaves the old state: nothing that the header refers to has changed.", size=13)
    picture.text(30, 238, "3. the header is written last: from now on readers find the new state", bold=True)
    after = [("header", 80, TOUCHED), ("chunk 0", 90, DATA), ("(free)", 90, DEAD), ("(free)", 70, DEAD), ("(free)", 70, DEAD)]
    boxes(picture, 30, 250, 40, after, frozenset({"(free)"}))
    kept = [("chunk 1", 120, DATA), ("index", 90, INDEX), ("trailer", 100, TRAILER)]
    boxes(picture, 430, 250, 40, kept)
    picture.text(30, 314, "Later commits use the free bytes again, once no reader can need them.", size=13)
    return picture.done()


PICTURES = {"partition": partition, "shapes": shapes, "file": file, "commit": commit}


def main(check: bool) -> int:
    stale = []
    for name, draw in PICTURES.items():
        path, text = FOLDER / f"{name}.svg", draw()
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(path.name)
    if stale:
        print(f"not what scripts/draw_book.py draws: {', '.join(stale)}")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
