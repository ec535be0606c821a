"""Operators that arrays do not have raise; none gives an answer that the items did not give."""

import operator

import numpy as np
import pytest

import b2nd

COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.matmul, operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.and_]


@pytest.mark.parametrize("compare", COMPARISONS)
def test_comparisons_raise_and_name_the_way(compare):
    items = np.arange(6).reshape(2, 3)
    a = b2nd.array(items)
    for other in (a, a.T, b2nd.array(items), items, items.tolist(), 0, np.int64(3), np.array(3), None, "x"):
        with pytest.raises(TypeError, match=r"a\[\.\.\.\]"):
            compare(a, other)
    for other in (items, np.int64(3), np.array(3), 0):
        with pytest.raises(TypeError, match=r"a\[\.\.\.\]"):
            compare(other, a)
    np.testing.assert_array_equal(compare(a[...], items), compare(items, items))


def test_containment_raises():
    a = b2nd.arange(4)
    for item in (1, 7, np.arange(4), a):
        with pytest.raises(TypeError, match="any"):
            item in a  # noqa: B015
    with pytest.raises(TypeError, match="any"):
        1 in b2nd.zeros(3, [("x", "i4")])["x"]  # noqa: B015


@pytest.mark.parametrize("apply", ARITHMETIC)
def test_arithmetic_with_the_array_on_the_right_raises(apply):
    items = np.arange(3)
    a = b2nd.array(items)
    for left in (items, np.int64(3), 2):
        with pytest.raises(TypeError, match=r"a\[\.\.\.\]"):
            apply(left, a)


def test_an_array_is_not_added_in_place():
    items = np.arange(3)
    with pytest.raises(TypeError, match=r"x \+ a\[\.\.\.\]"):
        items += b2nd.array(items)
    np.testing.assert_array_equal(items, [0, 1, 2])
    items += b2nd.array(items)[...]
    np.testing.assert_array_equal(items, [0, 2, 4])


def test_fields_compare_with_arrays_of_numpy_alone():
    a = b2nd.zeros(3, [("x", "i4")])
    np.testing.assert_array_equal(a["x"] == np.zeros(3), [True] * 3)
    np.testing.assert_array_equal(np.zeros(3) != a["x"], [False] * 3)
    for other in (0, a["x"], a):
        with pytest.raises(TypeError):
            a["x"] == other  # noqa: B015


def test_arrays_are_kept_by_identity():
    a, b = b2nd.zeros(3), b2nd.zeros(3)
    assert {a: 1, b: 2}[b] == 2 and len({a, b, a}) == 2 and hash(a) == hash(a)
    np.testing.assert_array_equal(np.equal(a, b), [True] * 3)
