"""Progress of long operations: a callback, or a bar."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from ._b2nd import watch_progress


@contextlib.contextmanager
def progress(callback: Callable[[int], Any] | None = None, *, total: int | None = None, label: str = "") -> Iterator[None]:
    """Tells how far operations are that this thread starts inside the ``with``.

    ``callback`` is called with the uncompressed bytes that the operation has done, at most twenty times a second, and at the end of
    each that took so long. Without one there is a bar: in a notebook, or where the standard error is a terminal. ``total`` bytes make
    it a share. An exception of the callback stops the operation.

    >>> import b2nd, numpy as np
    >>> with b2nd.progress(print):
    ...     a = b2nd.array(np.zeros(10))  # too short to tell of
    """
    bar = None
    if callback is None:
        bar = _Bar(total, label)
        callback = bar.show
    before = watch_progress(callback)
    try:
        yield
    finally:
        watch_progress(before)
        if bar is not None:
            bar.close()


class _Bar:
    """A line that is written over and over."""

    def __init__(self, total: int | None, label: str) -> None:
        self.total, self.label, self.started = total, label, time.monotonic()
        self.display: Any = None
        self.shown = False
        self.notebook = _in_notebook()

    def text(self, done: int) -> str:
        speed = done / max(time.monotonic() - self.started, 1e-9)
        text = f"{done / 1e6:,.0f} MB, {speed / 1e6:,.0f} MB/s"
        if self.total:
            share = min(done / self.total, 1.0)
            filled = int(30 * share)
            text = f"[{'#' * filled}{'.' * (30 - filled)}] {share:4.0%}  {text}"
        return f"{self.label}: {text}" if self.label else text

    def show(self, done: int) -> None:
        if self.notebook:
            from IPython.display import display

            content = {"text/plain": self.text(done)}
            if self.display is None:
                self.display = display(content, raw=True, display_id=True)
            else:
                self.display.update(content, raw=True)
        elif sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(f"\r{self.text(done)}\x1b[K")
            sys.stderr.flush()
            self.shown = True

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\n")


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
