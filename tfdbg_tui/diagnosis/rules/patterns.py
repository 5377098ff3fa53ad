"""Patterns of source expressions.

A pattern is an expression in which ``X`` and ``Y`` stand for any other one, and a function for any
whose name ends with it: ``log(1 - X)`` is ``tf.math.log(1.0 - probs)`` with ``probs`` for ``X``.
``(acos|asin)(X)`` is a call of either.  ``AXES`` stands for the arguments that say which dimensions
are reduced, ``...`` for any further ones.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import lru_cache

_NOT_TENSORFLOW = frozenset({"np", "numpy", "math"})
_WILDCARDS = frozenset({"X", "Y"})
_AXES = ("axis", "keepdims")
_AXIS_IS_SECOND = ("reduce_", "softmax", "log_softmax", "l2_normalize")
"""Beginnings of the names of functions whose second argument is the axis: that of norm is not."""

_COMMUTATIVE = (ast.Add, ast.Mult)


@dataclass(slots=True)
class Binding:
    """What the parts of a pattern are in an expression.

    Attributes:
        operands: What stands for ``X`` and ``Y``.
        function: The outermost function as it is called.
        axes: The arguments that stand for ``AXES``.
        axis: Those of them that softmax takes as well: no ``keepdims``.
    """

    operands: dict[str, ast.expr] = field(default_factory=dict)
    function: ast.expr | None = None
    axes: list[ast.expr | ast.keyword] = field(default_factory=list)
    axis: list[ast.expr | ast.keyword] = field(default_factory=list)


def matched(pattern: str, node: ast.expr) -> Binding | None:
    """Return what the parts of a pattern are in an expression; None where it does not fit."""
    binding = Binding()
    return binding if _fits(_parsed(pattern), node, binding) else None


@lru_cache(maxsize=256)
def _parsed(pattern: str) -> ast.expr:
    return ast.parse(pattern, mode="eval").body


def _fits(pattern: ast.expr, node: ast.expr, binding: Binding) -> bool:
    if isinstance(pattern, ast.Name):
        known = binding.operands.setdefault(pattern.id, node)
        return known is node or ast.dump(known) == ast.dump(node)
    if isinstance(pattern, ast.Constant):
        return isinstance(node, ast.Constant) and bool(node.value == pattern.value)
    if isinstance(pattern, ast.UnaryOp):
        if not isinstance(node, ast.UnaryOp) or type(node.op) is not type(pattern.op):
            return False
        return _fits(pattern.operand, node.operand, binding)
    if isinstance(pattern, ast.BinOp):
        return isinstance(node, ast.BinOp) and _fits_operation(pattern, node, binding)
    assert isinstance(pattern, ast.Call)
    return isinstance(node, ast.Call) and _fits_call(pattern, node, binding)


def _fits_operation(pattern: ast.BinOp, node: ast.BinOp, binding: Binding) -> bool:
    if type(node.op) is not type(pattern.op):
        return False
    orders = [(node.left, node.right)]
    if isinstance(node.op, _COMMUTATIVE):
        orders.append((node.right, node.left))
    before = dict(binding.operands)
    for left, right in orders:
        if _fits(pattern.left, left, binding) and _fits(pattern.right, right, binding):
            return True
        binding.operands = dict(before)
    return False


def _fits_call(pattern: ast.Call, node: ast.Call, binding: Binding) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in _names(pattern.func) or _module(node.func) in _NOT_TENSORFLOW:
        return False
    binding.function = binding.function or node.func
    wanted = [p for p in pattern.args if not _is_rest(p)]
    keywords = [keyword for keyword in node.keywords if keyword.arg != "name"]
    given = [*node.args, *(keyword.value for keyword in keywords)]
    places = [keyword.arg for keyword in keywords][: max(0, len(wanted) - len(node.args))]
    if len(wanted) > 1 and places != ["x", "y"][len(node.args) : len(node.args) + len(places)]:
        return False
    if len(given) < len(wanted) or any(isinstance(value, ast.Starred) for value in given):
        return False
    arguments: list[ast.expr | ast.keyword] = [*node.args, *keywords]
    rest = arguments[len(wanted) :]
    ending = pattern.args[-1]
    if rest and not _is_rest(ending):
        return False
    if rest and isinstance(ending, ast.Name) and not _take_axes(name, rest, binding):
        return False
    return all(_fits(p, value, binding) for p, value in zip(wanted, given, strict=False))


def _names(function: ast.expr) -> frozenset[str]:
    """Return the names of the functions that a pattern calls."""
    if isinstance(function, ast.BinOp):
        return _names(function.left) | _names(function.right)
    assert isinstance(function, ast.Name)
    return frozenset({function.id})


def _module(function: ast.expr) -> str:
    while isinstance(function, ast.Attribute):
        function = function.value
    return function.id if isinstance(function, ast.Name) else ""


def _is_rest(pattern: ast.expr) -> bool:
    if isinstance(pattern, ast.Constant):
        return pattern.value is Ellipsis
    return isinstance(pattern, ast.Name) and pattern.id not in _WILDCARDS


def _take_axes(name: str, rest: list[ast.expr | ast.keyword], binding: Binding) -> bool:
    """Note arguments that say which dimensions are reduced; False where one of them does not."""
    for argument in rest:
        if isinstance(argument, ast.keyword):
            if argument.arg not in _AXES:
                return False
        elif not name.startswith(_AXIS_IS_SECOND):
            return False
    binding.axes = rest
    binding.axis = [a for a in rest[:1] if not isinstance(a, ast.keyword)]
    binding.axis += [a for a in rest if isinstance(a, ast.keyword) and a.arg == "axis"]
    return True
