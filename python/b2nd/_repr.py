"""An array in a notebook: what it is, and a picture of how it is cut."""

from __future__ import annotations

import html as _html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._array import Array

_SIZE = 160
#: More lines than these are no picture.
_MOST_LINES = 40


def html(array: Array) -> str:
    """The table and the picture."""
    if array.closed:
        return "<b>b2nd.Array</b>, closed"
    rows = [
        ("shape", str(array.shape)),
        ("dtype", str(array.dtype)),
        ("chunks", f"{array.chunks} ({array.nchunks})"),
        ("blocks", str(array.blocks)),
        ("size", f"{_bytes(array.nbytes)} as {_bytes(array.cbytes)} ({array.cratio:.2f}x)"),
        ("codec", f"{array.codec} {array.clevel}, {', '.join(name for name, _ in array.filters) or 'no filters'}"),
    ]
    if array.urlpath:
        rows.insert(0, ("path", array.urlpath))
    cells = "".join(
        f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>{_html.escape(text)}</td></tr>" for name, text in rows
    )
    return f"<div style='display:flex;gap:1em;align-items:center'><table>{cells}</table>{_picture(array)}</div>"


def _picture(array: Array) -> str:
    """The last two axes, chunks in strong lines, the blocks of the first chunk in thin ones."""
    if not array.ndim or 0 in array.shape:
        return ""
    last = [(n, c, b) for n, c, b in zip(array.shape, array.chunks, array.blocks, strict=True)][-2:]
    if len(last) == 1:
        last.insert(0, (1, 1, 1))
    (rows, row_chunk, row_block), (columns, column_chunk, column_block) = last
    longest = max(rows, columns)
    height, width = (max(_SIZE * length / longest, 12.0) for length in (rows, columns))
    lines = [
        *_lines(0, width, height, columns, column_block, min(column_chunk, columns), min(row_chunk, rows) / rows, "#bbb", True),
        *_lines(0, height, width, rows, row_block, min(row_chunk, rows), min(column_chunk, columns) / columns, "#bbb", False),
        *_lines(0, width, height, columns, column_chunk, columns, 1.0, "#333", True),
        *_lines(0, height, width, rows, row_chunk, rows, 1.0, "#333", False),
    ]
    frame = f'<rect width="{width:.1f}" height="{height:.1f}" fill="#eef3f8" stroke="#333" stroke-width="1.5"/>'
    axes = f"axes {array.ndim - 2} and {array.ndim - 1} of {array.ndim}" if array.ndim > 2 else ""
    caption = f'<text y="{height + 14:.1f}" font-size="10">{axes}</text>' if axes else ""
    view = f'width="{width + 2:.0f}" height="{height + 18:.0f}" viewBox="-1 -1 {width + 2:.1f} {height + 18:.1f}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {view}>{frame}{"".join(lines)}{caption}</svg>'


def _lines(start: int, along: float, across: float, length: int, step: int, stop: int, share: float, colour: str, vertical: bool) -> list[str]:
    """Lines every ``step`` items up to ``stop``, over a share of the other side."""
    if step <= 0 or stop / step > _MOST_LINES:
        return []
    drawn = []
    for at in range(start + step, stop, step):
        place, end = along * at / length, across * share
        ends = (place, 0.0, place, end) if vertical else (0.0, place, end, place)
        x1, y1, x2, y2 = (f"{value:.1f}" for value in ends)
        drawn.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}"/>')
    return drawn


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return ""
