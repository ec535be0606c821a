"""Damaged files are made whole again, and what is lost is said."""

import os

import numpy as np
import pytest

import b2nd


@pytest.fixture
def torn(path):
    """A file that was cut off."""
    items = np.random.default_rng(0).random((100, 100))
    b2nd.array(items, urlpath=path, chunks=(10, 100), attrs={"name": "x"}).close()
    os.truncate(path, os.path.getsize(path) * 2 // 3)
    with pytest.raises(b2nd.FormatError):
        b2nd.open(path)
    return items


def left(array, items, lost):
    """Checks that what is not lost is there; which rows are."""
    gone = np.zeros(100, bool)
    for place in lost:
        assert isinstance(place["error"], b2nd.Error) and place["start"][1] == 0 and place["stop"][1] == 100
        gone[place["start"][0] : place["stop"][0]] = True
    np.testing.assert_array_equal(array[~gone], items[~gone])
    return gone


def test_what_can_be_read_is_saved_and_the_rest_named(path, torn, tmp_path):
    before, out = open(path, "rb").read(), tmp_path / "out.b2nd"
    report = b2nd.repair(path, out, fill="zeros")
    assert open(path, "rb").read() == before and report.original is None
    assert not report and not report.is_whole and not report.was_sound and report.chunks == 10 and report.restored
    assert str(report) == report.text and "lost: chunks 7 to 9 (3 chunks)" in str(report)
    with b2nd.open(out) as a:
        gone = left(a, torn, report.lost)
        assert 20 <= gone.sum() <= 50 and (a[gone] == 0).all()
    with pytest.raises(b2nd.ExistsError):
        b2nd.repair(path, out)
    report = b2nd.repair(path, out, overwrite=True, sparse=True)
    assert os.path.isdir(out)
    with b2nd.open(out) as a:
        assert np.isnan(a[left(a, torn, report.lost)]).all()


def test_in_its_place(path, torn):
    before = open(path, "rb").read()
    report = b2nd.repair(path)
    assert open(report.original, "rb").read() == before
    with b2nd.open(path, mode="r+") as a:
        left(a, torn, report.lost)
        a[...] = 1
    again = b2nd.repair(path)
    assert again and again.was_sound and again.original is None


def test_in_memory():
    frame = bytearray(b2nd.arange(1000, chunks=100).to_cframe())
    frame[16:24] = bytes(8)  # the length
    with pytest.raises(b2nd.FormatError):
        b2nd.from_cframe(frame)
    whole, report = b2nd.repair_cframe(frame)
    assert report and report.restored
    np.testing.assert_array_equal(b2nd.from_cframe(whole)[...], np.arange(1000))


def test_what_cannot_be_repaired(path, tmp_path):
    with pytest.raises(b2nd.FormatError):
        b2nd.repair_cframe(b"no frame at all")
    with pytest.raises(b2nd.NotFoundError):
        b2nd.repair(path)
    with pytest.raises(b2nd.UsageError):
        b2nd.repair(path, fill="ones")
    with b2nd.arange(10, urlpath=path), pytest.raises(b2nd.LockedError):
        b2nd.repair(path)
