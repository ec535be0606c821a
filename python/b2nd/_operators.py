"""Operators that arrays and fields refuse, each with the way to do it.

Without these methods Python would compare identities: ``a == b`` would be ``False``, whatever the items are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_ARITHMETIC = {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip


class Refused:
    """Comparison, containment, and arithmetic with the array on the right raise ``TypeError``.

    Arithmetic with the array on the left is Python's own error, or the operator of the other operand: NumPy's and Dask's work.
    """

    __slots__ = ()

    #: Arrays are kept in sets and dictionaries by identity, as before they are compared.
    __hash__ = object.__hash__

    def __contains__(self, item: Any) -> NoReturn:
        raise TypeError(f"'in' reads all items of a {_name(self)}, which is done in memory: write `(a[...] == item).any()`")


def _name(operand: Any) -> str:
    return f"b2nd.{type(operand).__name__}"


def _comparison(symbol: str) -> Callable[[Any, Any], Any]:
    def refuse(self: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray) and not hasattr(self, "__array_priority__"):
            return NotImplemented
        raise TypeError(
            f"'{symbol}' compares all items of a {_name(self)}, which is done in memory: read them first, `a[...] {symbol} b`; "
            "`a is b` compares the objects"
        )

    return refuse


def _reflected(symbol: str) -> Callable[[Any, Any], Any]:
    def refuse(self: Any, other: Any) -> Any:
        raise TypeError(f"'{symbol}' with a {_name(self)} is done in memory: read the items first, `x {symbol} a[...]`")

    return refuse


for _operator, _symbol in _COMPARISONS.items():
    setattr(Refused, f"__{_operator}__", _comparison(_symbol))
for _operator, _symbol in _ARITHMETIC.items():
    setattr(Refused, f"__r{_operator}__", _reflected(_symbol))
