"""Progress is shown: a line in a terminal, a display in a notebook, and nothing elsewhere."""

import io
import re
import sys
import textwrap
import types

import numpy as np
import pytest

import b2nd
from b2nd import _progress


class Shell:
    """What a notebook's shell is called tells it from that of a terminal."""


class Display:
    """What IPython gives for what is on display, and what was shown."""

    def __init__(self):
        self.texts = []

    def display(self, content, *, raw, display_id):
        assert raw and display_id and not self.texts
        self.texts.append(content["text/plain"])
        return self

    def update(self, content, *, raw):
        assert raw and self.texts
        self.texts.append(content["text/plain"])


@pytest.fixture
def notebook(monkeypatch):
    shown = Display()
    shell = type("ZMQInteractiveShell", (Shell,), {})()
    package = types.ModuleType("IPython")
    package.get_ipython = lambda: shell
    package.display = types.ModuleType("IPython.display")
    package.display.display = shown.display
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", package.display)
    return shown


def work(total):
    """Takes long enough to be told of."""
    made = b2nd.zeros(total, "u1", chunks=1 << 20, blocks=1 << 14, nthreads=1, codec="zstd", clevel=9, filters=[])
    items = np.random.default_rng(0).integers(0, 3, total, "u1")
    made[...] = items


def checked(texts, total, label):
    done = [int(re.search(r"(\d+)%", text)[1]) for text in texts]
    assert len(texts) > 1 and done == sorted(done) and done[-1] == 100
    assert all(re.fullmatch(label + r": \[#*\.*\] +\d+%  [\d,]+ MB, [\d,]+ MB/s", text) for text in texts)


def test_in_a_notebook_one_display_is_updated(notebook, capsys):
    total = 16 << 20
    with b2nd.progress(total=total, label="making"):
        work(total)
    checked(notebook.texts, total, "making")
    assert capsys.readouterr().err == ""


def test_in_a_terminal_one_line_is_written_over(monkeypatch):
    total, written = 16 << 20, io.StringIO()
    written.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", written)
    with b2nd.progress(total=total, label="making"):
        work(total)
    lines = written.getvalue().removesuffix("\n").split("\r")[1:]
    assert written.getvalue().endswith("\n") and all(line.endswith("\x1b[K") for line in lines)
    checked([line.removesuffix("\x1b[K") for line in lines], total, "making")


def test_elsewhere_nothing_is_written(capfd):
    with b2nd.progress():
        work(8 << 20)
    assert capfd.readouterr() == ("", "")


def test_ipython_in_a_terminal_is_no_notebook(notebook, monkeypatch):
    sys.modules["IPython"].get_ipython = lambda: type("TerminalInteractiveShell", (Shell,), {})()
    assert not _progress._in_notebook()
    sys.modules["IPython"].get_ipython = lambda: None
    assert not _progress._in_notebook()


def test_a_real_kernel_shows_one_display():
    """The same in a Jupyter kernel: what a front end is sent."""
    pytest.importorskip("ipykernel")
    from jupyter_client.manager import start_new_kernel

    code = """
        import b2nd, numpy as np
        made = b2nd.zeros(16 << 20, "u1", chunks=1 << 20, blocks=1 << 14, nthreads=1, codec="zstd", clevel=9, filters=[])
        with b2nd.progress(total=16 << 20, label="making"):
            made[...] = np.random.default_rng(0).integers(0, 3, 16 << 20, "u1")
        """
    sent = []
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        reply = client.execute_interactive(textwrap.dedent(code), output_hook=sent.append, timeout=60)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert reply["content"]["status"] == "ok", reply["content"]
    shown = [(message["msg_type"], message["content"]) for message in sent if "data" in message["content"]]
    assert [kind for kind, _ in shown] == ["display_data"] + ["update_display_data"] * (len(shown) - 1)
    assert len({content["transient"]["display_id"] for _, content in shown}) == 1
    checked([content["data"]["text/plain"] for _, content in shown], 16 << 20, "making")
