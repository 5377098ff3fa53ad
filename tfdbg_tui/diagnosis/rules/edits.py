"""How the user's own expression would have to change.

Finds the call or the operator in the source text of the user's line, by Python's own parser; the
text is only parsed, never run.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import graph_op_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.roots.alert_sites import place_of
from tfdbg_tui.diagnosis.rules.patterns import matched
from tfdbg_tui.diagnosis.statements import LONGEST_SOURCE, parsed_nodes, simple_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.alert_sites import AlertPlace
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.wire.expressions import Expression

_LONGEST_CODE = 160  # characters that still make a readable suggestion


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of an expression.

    Attributes:
        pattern: What it is, see `patterns`.
        becomes: The new expression, with ``{X}`` and ``{Y}`` for the pattern's, ``{F}`` for the
            outermost function as it is called, ``{axes}`` for the pattern's or ``{axis}`` for those
            of them that softmax takes too (``{the_axis}`` where there has to be one); and
            ``{eps}``, ``{eps2}``, ``{ulps}`` and ``{exp_max}`` for numbers that suit the type of
            the values, see `_NUMBERS`.
    """

    pattern: str
    becomes: str


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Which one an op is of those of its type that a line makes.

    Attributes:
        number: How many of them were made before it.
        total: How many there are.
    """

    number: int
    total: int


def suggestion(
    lines: Sequence[str],
    line: int,
    edits: Sequence[Edit],
    occurrence: Occurrence | None = None,
    dtype: str | None = None,
    expression: Expression | None = None,
) -> str | None:
    """Return ``old → new`` for the first edit that fits an expression on a line, or None.

    Args:
        lines: The source text.
        line: Number of the line, from 1.
        edits: The best first.
        occurrence: Tells which expression made the op where an edit fits several on the line;
            without it such an edit gives None.
        dtype: Type of the values, where it is known.
        expression: The expression that made the op, where that is known.
    """
    if not 0 < line <= len(lines) or sum(map(len, lines)) + len(lines) > LONGEST_SOURCE:
        return None
    tree = _parsed("\n".join(lines))
    if tree is None:
        return None
    numbers = _NUMBERS.get(dtype or "", _NUMBERS["float32"])
    for nodes in _candidates(tree, line):
        for edit in edits:
            changes = {
                node: f"{_source(tree, node)} → {new}"
                for node in nodes
                if (new := _changed(edit, node, tree, numbers))
            }
            if changes:
                around = _innermost(changes, expression)
                return changes[around] if around else _chosen([*changes.values()], occurrence)
    return None


def imports_tensorflow(lines: Sequence[str]) -> bool:
    """Whether a source text imports TensorFlow, or does not import Keras: it may be part of one."""
    text = "\n".join(lines)
    return not _IMPORTS_KERAS.search(text) or "tensorflow" in text


def for_keras(found: str) -> str | None:
    """Return a suggestion as one by Keras 3: TensorFlow does not take its symbolic tensors.

    Args:
        found: The suggestion.

    Returns:
        The suggestion with functions of `keras.ops`; None where it needs one that is not there.
    """
    old, arrow, new = found.partition(" → ")

    def of_keras(call: re.Match[str]) -> str:
        name = _KERAS_NAMES.get(call[1], call[1])
        return f"keras.ops.{name}(" if name in _KERAS_OPS else call[0]

    new = _OF_TENSORFLOW.sub(of_keras, new)
    return None if _OF_TENSORFLOW.search(new) else f"{old}{arrow}{new}"


class Occurrences:
    """Tells which of the ops that a line makes an op is.

    Args:
        run: The run.
        alike: Returns all executions that are like the one with an index, ascending.
    """

    def __init__(self, run: Run, alike: Callable[[int], Int64Array]) -> None:
        self._run = run
        self._alike = alike
        self._of_lines: dict[AlertPlace, Int64Array] = {}
        self._in_graph = cache(self._find_in_graph)

    def of(self, event: TensorEvent) -> Occurrence | None:
        """Return which one an op is of those of its type and stack; None for a gradient's."""
        run = self._run
        if is_backward(run, event):
            return None  # made from the forward op, in whatever order
        if event.kind == "execution":
            place = place_of(run, event)
            if place not in self._of_lines:
                self._of_lines[place] = self._alike(event.index)
            rows = self._of_lines[place]
            return Occurrence(int(rows.searchsorted(event.index)), len(rows))
        op = graph_op_of(run, event)
        return self._in_graph(op.graph_id).get(op.name) if op else None

    def _find_in_graph(self, graph_id: str) -> dict[str, Occurrence]:
        """Return which one each op of a graph is, by name."""
        ops = list(self._run.graphs[graph_id].ops.values())
        totals = Counter((op.op_type, op.stack_id) for op in ops)
        before: Counter[tuple[str, int]] = Counter()
        found = {}
        for op in ops:
            alike = op.op_type, op.stack_id
            found[op.name] = Occurrence(before[alike], totals[alike])
            before[alike] += 1
        return found


def _innermost(
    nodes: Iterable[ast.Call | ast.BinOp], expression: Expression | None
) -> ast.Call | ast.BinOp | None:
    """Return the innermost of some nodes that is an expression, or holds it; None if none does."""
    if expression is None:
        return None
    begin, end = expression[:2], expression[2:]
    around = [node for node in nodes if _begin(node) <= begin and end <= _end(node)]
    latest = [node for node in around if _begin(node) == max(map(_begin, around))]
    return min(latest, key=_end, default=None)


def _begin(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0


def _chosen(changes: list[str], occurrence: Occurrence | None) -> str | None:
    """Return the change of the expression that made an op, given those in order of evaluation."""
    if len(set(changes)) == 1:
        return changes[0]
    if occurrence is None or occurrence.total % len(changes):
        return None
    return changes[occurrence.number % len(changes)]


def _changed(
    edit: Edit, node: ast.Call | ast.BinOp, tree: _Tree, numbers: dict[str, str]
) -> str | None:
    """Return what becomes of an expression; None where the edit is not for it, or unreadable."""
    new, old = _apply(edit, node, tree, numbers), _source(tree, node)
    if not new or len(old) + len(new) >= 2 * _LONGEST_CODE or "\n" in old + new:
        return None
    binds_less = isinstance(ast.parse(new, mode="eval").body, ast.BinOp | ast.UnaryOp)
    return f"({new})" if node in tree.operands and binds_less else new


def _source(tree: _Tree, node: ast.expr | ast.keyword) -> str:
    """Return the text of an expression."""
    lines = tree.lines[node.lineno - 1 : node.end_lineno]
    lines[-1] = lines[-1][: node.end_col_offset]
    lines[0] = lines[0][node.col_offset :]
    return b"\n".join(lines).decode()


@dataclass(frozen=True, slots=True)
class _Tree:
    """A parsed source file.

    Attributes:
        lines: Its text, in UTF-8: the bytes of a line are what Python counts as columns.
        expressions: Its calls and operations, as they are evaluated: what is inside of an
            expression ends before it, and what is left of it too.
        operands: Those of them that an operator or an attribute binds to.
        statements: First and last line of the statements that hold no others.
    """

    lines: list[bytes]
    expressions: list[ast.Call | ast.BinOp]
    operands: frozenset[ast.AST]
    statements: list[tuple[int, int]]


@lru_cache(maxsize=16)
def _parsed(text: str) -> _Tree | None:
    nodes = parsed_nodes(text)
    if nodes is None:
        return None
    expressions = [node for node in nodes if isinstance(node, ast.Call | ast.BinOp)]
    expressions.sort(key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))
    binding = [node for node in nodes if isinstance(node, _BINDING)]
    operands = frozenset(child for node in binding for child in ast.iter_child_nodes(node))
    lines = [line.encode() for line in _LINE_END.split(text)]
    return _Tree(lines, expressions, operands, simple_statements(nodes))


def _candidates(tree: _Tree, line: int) -> Iterator[list[ast.Call | ast.BinOp]]:
    """Yield the expressions that begin on a line; those over it; those of its whole statement."""
    over = [e for e in tree.expressions if e.lineno <= line <= (e.end_lineno or e.lineno)]
    yield [node for node in over if node.lineno == line]
    yield [node for node in over if node.lineno < line]
    # Of a statement on several lines TensorFlow may only know the first.
    for first, last in tree.statements:
        if first == line < last:
            yield [node for node in tree.expressions if first <= node.lineno <= last]


def _apply(
    edit: Edit, node: ast.Call | ast.BinOp, tree: _Tree, numbers: dict[str, str]
) -> str | None:
    binding = matched(edit.pattern, node)
    if binding is None:
        return None

    source = partial(_source, tree)
    words = {
        **numbers,
        "F": source(binding.function) if binding.function else "",
        "axes": "".join(f", {source(argument)}" for argument in binding.axes),
        "axis": "".join(f", {source(argument)}" for argument in binding.axis),
    }
    words["the_axis"] = words["axis"]
    if "{the_axis}" in edit.becomes and not words["the_axis"]:
        return None

    def fill(place: re.Match[str]) -> str:
        operand = binding.operands.get(place[1])
        if operand is None:
            return words[place[1]]
        fits = _fits(operand, edit.becomes[: place.start()], edit.becomes[place.end() :])
        return source(operand) if fits else f"({source(operand)})"

    return _PLACE.sub(fill, edit.becomes)


def _fits(node: ast.expr, before: str, after: str) -> bool:
    """Whether an expression means the same between two pieces of text as in parentheses."""
    if isinstance(node, _ATOMS) or (before.endswith(("(", ", ")) and after.startswith((")", ","))):
        return True
    if before.endswith("(") and after.startswith(" + "):
        return isinstance(node, ast.BinOp | ast.UnaryOp)
    operator = getattr(node, "op", None)
    return after.startswith(" / ") and isinstance(operator, ast.Mult | ast.Div | ast.MatMult)


_BINDING = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Attribute, ast.Subscript, ast.Await)
_LINE_END = re.compile("\r\n|\r|\n")  # what Python takes for one
_PLACE = re.compile(r"\{(\w+)\}")
_ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.List, ast.Tuple)

_IMPORTS_KERAS = re.compile(r"^\s*(import|from) keras\b", re.MULTILINE)
_OF_TENSORFLOW = re.compile(r"\btf\.(?:\w+\.)*(\w+)\(")
_KERAS_NAMES = {"clip_by_value": "clip", "is_finite": "isfinite"}
_KERAS_OPS = frozenset(
    {
        *("abs", "clip", "divide_no_nan", "isfinite", "log", "log_sigmoid", "log_softmax"),
        *("maximum", "minimum", "sigmoid", "sign", "silu", "softmax", "softplus", "sqrt", "square"),
        *("tanh", "where"),
    }
)
"""Functions of `keras.ops` that take the same arguments as TensorFlow's."""

_NUMBERS = {
    "float16": {"eps": "1e-4", "eps2": "1e-4", "ulps": "1e-3", "exp_max": "10.0"},
    "bfloat16": {"eps": "1e-7", "eps2": "1e-12", "ulps": "1e-2", "exp_max": "20.0"},
    "float32": {"eps": "1e-7", "eps2": "1e-12", "ulps": "1e-6", "exp_max": "20.0"},
    "float64": {"eps": "1e-12", "eps2": "1e-24", "ulps": "1e-12", "exp_max": "350.0"},
}
"""What is added to 0 and to a squared length, or taken off 1, to keep away from them; and the
largest argument of exp: by type, as the reciprocal of the first and the square root of the second
are to be finite, and 1 less the third is to be less than 1.  exp(20) leaves room for the squares
and sums of what is computed of it, and for their gradients: with exp(40) trainings went on as NaN.
"""
