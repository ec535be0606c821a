"""Runs the NDArray part of python-blosc2's own tests against b2nd, and counts what passes, and why the rest does not.

    .venv-package/bin/python scripts/blosc2_suite.py FOLDER [pytest options]

FOLDER is an unpacked source package of blosc2 (or a checkout). Nothing of it is copied or changed: its tests import a module
`blosc2`, which here is a translation of names and options to b2nd's (the table in docs/PYTHON.md, as code). What has no counterpart is
missing from it, and the tests that use it fail and say so. It takes a few minutes; `-m "not heavy"` is what python-blosc2 itself runs
by default.
"""

import dataclasses
import enum
import gc
import os
import re
import shutil
import sys
import tempfile
import types

import numpy as np
import pytest

import b2nd

#: The tests of arrays; the others are of lazy expressions, user functions, remote arrays and linear algebra.
FILES = (
    "empty zeros full nans getitem setitem slice resize squeeze copy concat buffer numpy metalayers mode persistency iterchunks_info "
    "indexing struct_dtype ndarray lossy auto_parts get_slice_nchunks reductions schunk_lifetime stringarrays"
).split()


class Codec(enum.StrEnum):
    """By the names that b2nd has for them."""

    BLOSCLZ, LZ4, LZ4HC, ZLIB, ZSTD, NDLZ = "blosclz", "lz4", "lz4hc", "zlib", "zstd", "ndlz"
    ZFP_ACC, ZFP_PREC, ZFP_RATE = "zfp-accuracy", "zfp-precision", "zfp-rate"


class Filter(enum.StrEnum):
    NOFILTER, SHUFFLE, BITSHUFFLE, DELTA, TRUNC_PREC = "nofilter", "shuffle", "bitshuffle", "delta", "trunc_prec"
    NDCELL, NDMEAN, BYTEDELTA, INT_TRUNC = "ndcell", "ndmean", "bytedelta", "int_trunc"


class SplitMode(enum.StrEnum):
    ALWAYS_SPLIT, NEVER_SPLIT, AUTO_SPLIT, FORWARD_COMPAT_SPLIT = "always", "never", "auto", "forward_compat"


class SpecialValue:
    NOT_SPECIAL, ZERO, NAN, VALUE, UNINIT = None, "zeros", "nan", "value", "uninit"


@dataclasses.dataclass
class CParams:
    codec: Codec = Codec.ZSTD
    codec_meta: int = 0
    clevel: int = 5
    use_dict: bool = False
    typesize: int = 8
    nthreads: int = 1
    blocksize: int = 0
    splitmode: SplitMode = SplitMode.AUTO_SPLIT
    filters: list = dataclasses.field(default_factory=lambda: [Filter.NOFILTER] * 5 + [Filter.SHUFFLE])
    filters_meta: list = dataclasses.field(default_factory=lambda: [0] * 6)


@dataclasses.dataclass
class DParams:
    nthreads: int = 1


@dataclasses.dataclass
class Storage:
    urlpath: str | None = None
    contiguous: bool | None = None
    mode: str = "a"
    meta: dict | None = None


def fields(given):
    """A dataclass or a dictionary, as one."""
    return dict(given) if isinstance(given, dict) else {name: getattr(given, name) for name in given.__dataclass_fields__}


def compression(cparams):
    """Options of compression, in our words."""
    cparams, said = fields(cparams), {}
    for name, value in cparams.items():
        if name not in CParams.__dataclass_fields__:
            raise ValueError(f"no option of compression: {name!r}")
        if name in ("codec", "splitmode"):
            said[name] = str(value)
        elif name == "filters":
            metas = cparams.get("filters_meta") or [0] * len(value)
            said["filters"] = [(one.value, meta) for one, meta in zip(value, metas) if one is not Filter.NOFILTER]
        elif name == "use_dict":
            said[name] = bool(value)
        elif name in ("codec_meta", "clevel", "nthreads"):
            said[name] = value
    return said


def making(options):
    """Options of a new array, in our words; where it goes among them."""
    said = {}
    storage = options.get("storage")
    options = {**(fields(storage) if storage is not None else {}), **options}
    mode = options.pop("mode", "a")
    for name, value in options.items():
        if value is None or name in ("dparams", "storage", "device"):
            continue
        if name == "cparams":
            said |= compression(value)
        elif name == "contiguous":
            said["sparse"] = not value
        elif name == "c_order":
            if not value:
                raise NotImplementedError("b2nd has no c_order=False")
        elif name in ("urlpath", "chunks", "blocks", "meta", "dtype", "shape", "axis", "endpoint", "num", "fill_value", "copy"):
            said[name] = value
        elif name in CParams.__dataclass_fields__:
            said |= compression({name: value})
        else:
            raise TypeError(f"b2nd has no option {name!r}")
    path = said.get("urlpath")
    if path is not None and mode == "r":
        raise ValueError("a new array cannot be made for reading")
    if path is not None and mode == "w" and os.path.exists(path):
        said["overwrite"] = True
    return said


def open(urlpath, mode="a", offset=0, **options):
    return b2nd.open(os.fspath(urlpath), "r" if mode == "r" else "r+", offset=offset)


def frombuffer(buffer, shape, dtype=np.uint8, **options):
    return b2nd.array(np.frombuffer(buffer, np.dtype(dtype), int(np.prod(shape))).reshape(shape), **making(options))


def remove_urlpath(path):
    if path is not None and os.path.isdir(path):
        shutil.rmtree(path)
    elif path is not None and os.path.exists(path):
        os.remove(path)


def made(function):
    def make(*given, **options):
        return function(*given, **making(options))

    return make


def full(shape, fill_value, dtype=None, **options):
    if isinstance(fill_value, bytes) and dtype is None:
        dtype = f"S{len(fill_value)}"
    return b2nd.full(shape, fill_value, dtype, **making(options))


def asked_copy(function):
    """`copy=` may be None here, which is a word of its own."""

    def make(x, dtype=None, copy="unsaid", **options):
        said = {} if copy == "unsaid" else {"copy": copy}
        return function(x, dtype, **said, **making(options))

    return make


def partition(shape, chunks=None, blocks=None, dtype=np.uint8, typesize=None, **_):
    return b2nd.partition(shape, np.dtype(f"V{typesize}") if typesize else dtype, chunks, blocks)


class SChunk:
    """What of `array.schunk` b2nd's array has itself."""

    NAMES = {"typesize": "itemsize"} | {name: name for name in ("meta", "vlmeta", "nchunks", "cbytes", "cratio", "urlpath")}

    def __init__(self, array):
        self.array = array

    @property
    def cparams(self):
        ours = dict(self.array.cparams)
        filters = [(Filter(name), meta) for name, meta in ours.pop("filters")]
        filters += [(Filter.NOFILTER, 0)] * (6 - len(filters))
        ours |= {"codec": Codec(ours["codec"]), "splitmode": SplitMode(ours["splitmode"])}
        return CParams(**ours, typesize=self.array.itemsize, filters=[f for f, _ in filters], filters_meta=[m for _, m in filters])

    @property
    def dparams(self):
        return DParams(self.array.nthreads)

    def __getattr__(self, name):
        if name not in self.NAMES:
            raise NotImplementedError(f"b2nd has no array.schunk.{name}")
        return getattr(self.array, self.NAMES[name])


def translate_methods():
    """The options of methods."""
    Array = b2nd.Array
    Array.schunk = property(SChunk)
    for name in ("copy", "slice", "reshape", "save"):
        ours = getattr(Array, name)
        setattr(Array, name, lambda self, *given, ours=ours, **options: ours(self, *given, **making(options)))


class Missing:
    """What python-blosc2 has and b2nd has not: a test that uses it fails, and says what it was."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.name}.{name}")

    def __call__(self, *_, **__):
        raise NotImplementedError(f"b2nd has no {self.name}")


class Module(types.ModuleType):
    """A module of which every name can be imported."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")


def translation():
    """The module that the tests import."""
    module = Module("blosc2")
    module.__path__ = []
    for name in ("ndarray", "utils", "indexing", "indexing_ext", "lazyexpr", "schunk", "core"):
        sys.modules[f"blosc2.{name}"] = Module(f"blosc2.{name}")
    same = "zeros ones nans concat stack save arange linspace eye fromiter".split()
    vars(module).update({name: made(getattr(b2nd, name)) for name in same})
    vars(module).update({
        "Codec": Codec, "Filter": Filter, "SplitMode": SplitMode, "SpecialValue": SpecialValue, "CParams": CParams, "DParams": DParams,
        "Storage": Storage, "NDArray": b2nd.Array, "NDField": b2nd.Field, "MAX_DIM": 16, "MAX_BLOCKSIZE": 536_866_816, "IS_WASM": False, "nthreads": 1,
        "cparams_dflts": fields(CParams()), "asarray": asked_copy(b2nd.asarray), "array": asked_copy(b2nd.array),
        "empty": made(b2nd.empty), "uninit": made(b2nd.empty), "full": full, "frombuffer": frombuffer, "open": open,
        "copy": lambda a, dtype=None, **options: a.copy(dtype=dtype, **options), "remove_urlpath": remove_urlpath,
        "ndarray_from_cframe": lambda frame, copy=False: b2nd.from_cframe(frame, copy=copy, mode="r+"),
        "set_nthreads": b2nd.set_nthreads, "squeeze": lambda a, axis=None: a.squeeze(axis), "compute_chunks_blocks": partition,
        "expand_dims": lambda a, axis=0: a.expand_dims(axis), "clib_info": lambda codec: codec,
    })  # fmt: skip
    return module


#: Why a test fails: the first that its file, its name or what it says matches.
CAUSES = [
    ("indexes for queries (`create_index`)", r"^indexing::|create_index|sort_index"),
    ("lazy expressions: arithmetic and comparisons of arrays, `where`, saved expressions", r"lazyexpr|LazyExpr|unsupported operand|not supported between|blosc2\.where|blosc2\.(sin|cos|sqrt)|npcum|ne_evaluate|bad operand"),
    ("cumulative sums and products", r"cumulative_(sum|prod)"),
    ("results as large as the array, which NumPy or Dask make: `sort`, `argsort`, `broadcast_to`, `meshgrid`, `take_along_axis`", r"blosc2\.(sort|argsort|broadcast_to|meshgrid|take_along_axis)|argsort"),
    ("python-blosc2's own modules, private names and reference counts", r"blosc2\.(ndarray|utils)\.|_take_sparse|getrefcount|no attribute '_|monkeypatch|refcount|call_count|take_fastpath|blosc2\.indexing\."),
    ("`take` gives a NumPy array, as `a[...]` does", r"take.*isinstance|blosc2\.take"),
    ("the order of chunks (`c_order=False`)", r"c_order"),
    ("one writer at a time has a file: the tests open it again while they still have it open for writing", r"LockedError|open for writing elsewhere"),
    ("options that python-blosc2 adjusts, and that are errors here", r"has no dictionaries|leave out shuffle|auto_parts::test_compute_chunks\b"),
    ("`full` keeps a text that NumPy cuts off; other defaults; `info_items`, `are_partitions_behaved`", r"test_constructors|test_optimised_string|info_items|are_partitions"),
    ("a sub-array dtype becomes axes, as in NumPy", r"test_nd_dtype"),
    ("`SChunk` itself: chunks by number, its own constructor and frames", r"schunk|SChunk"),
]  # fmt: skip


class Counted:
    """Counts what passes, and why the rest does not."""

    def __init__(self):
        self.passed, self.failed = {}, []

    def pytest_runtest_logreport(self, report):
        file = re.sub(r".*/test_|\.py.*", "", report.nodeid)
        if report.when == "call" and report.passed:
            self.passed[file] = self.passed.get(file, 0) + 1
        elif report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.failed.append((file, report.nodeid.split("::", 1)[-1], str(crash.message if crash else report.longrepr)))

    def pytest_runtest_logfinish(self):
        # What failed is kept for debuggers, and with it files that are open for writing.
        if getattr(sys, "last_value", None) is not None:
            sys.last_type = sys.last_value = sys.last_traceback = None
            gc.collect(1)

    def pytest_collectreport(self, report):
        if report.failed:
            file = re.sub(r".*/test_|\.py.*", "", report.nodeid)
            self.failed.append((file, "not collected", str(report.longrepr)))

    def tables(self):
        print("\n| file | pass | fail |\n|---|---|---|")
        for name in FILES:
            print(f"| {name} | {self.passed.get(name, 0)} | {sum(file == name for file, _, _ in self.failed)} |")
        causes, rest = {}, {}
        for file, test, text in self.failed:
            said = f"{file}::{test} {text}"
            cause = next((cause for cause, pattern in CAUSES if re.search(pattern, said, re.DOTALL)), None)
            causes[cause or "other"] = causes.get(cause or "other", 0) + 1
            if cause is None:
                known = f"{file}::{test.split('[')[0]}: {text.splitlines()[0][:150]}"
                rest[known] = rest.get(known, 0) + 1
        print("\n| cause | tests |\n|---|---|")
        for cause, count in sorted(causes.items(), key=lambda one: -one[1]):
            print(f"| {cause} | {count} |")
        print("\nOther:")
        for text, count in sorted(rest.items(), key=lambda one: -one[1]):
            print(f"{count:5} x {text}")
        print(f"\n{sum(self.passed.values())} passed, {len(self.failed)} failed")


def main():
    folder = os.path.abspath(sys.argv[1])
    sys.modules["blosc2"] = translation()
    translate_methods()
    files = [os.path.join(folder, "tests", "ndarray", f"test_{name}.py") for name in FILES]
    counted = Counted()
    # They make files where they are.
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        pytest.main(["-q", "--no-header", "--tb=line", "--show-capture=no", "-p", "no:cacheprovider", "--noconftest", "--continue-on-collection-errors",
                     "-o", "addopts=", "-W", "ignore", f"--rootdir={folder}", *filter(os.path.exists, files), *sys.argv[2:]], plugins=[counted])  # fmt: skip
        os.chdir(folder)
    counted.tables()


if __name__ == "__main__":
    main()
