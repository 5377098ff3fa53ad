"""How the user's own expression would have to change.

Finds the call or the operator in the source text of the user's line, by Python's own parser; the
text is only parsed, never run.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import graph_op_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.patterns import matched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run

_LONGEST_SOURCE = 20_000  # lines
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
) -> str | None:
    """Return ``old → new`` for the first edit that fits an expression on a line, or None.

    Args:
        lines: The source text.
        line: Number of the line, from 1.
        edits: The best first.
        occurrence: Tells which expression made the op where an edit fits several on the line;
            without it such an edit gives None.
        dtype: Type of the values, where it is known.
    """
    if not 0 < line <= len(lines) <= _LONGEST_SOURCE:
        return None
    text = "\n".join(lines)
    tree = _parsed(text)
    if tree is None:
        return None
    for begun_here in (True, False):
        nodes = _reaching(tree, line, begun_here=begun_here)
        for edit in edits:
            changes = [change for node in nodes if (change := _change(edit, node, text, dtype))]
            if changes:
                return _chosen(changes, occurrence)
    return None


def occurrence_of(run: Run, event: TensorEvent) -> Occurrence | None:
    """Return which one an op is of those of its type and stack; None for a gradient's."""
    if is_backward(run, event):
        return None  # made from the forward op, in whatever order
    if event.kind == "execution":
        kinds, stacks = run.executions.kinds[:], run.executions.stack_ids[:]
        alike = (kinds == kinds[event.index]) & (stacks == stacks[event.index])
        return Occurrence(int(alike[: event.index].sum()), int(alike.sum()))
    op = graph_op_of(run, event)
    if op is None:
        return None
    ops = list(run.graphs[op.graph_id].ops.values())
    names = [o.name for o in ops if (o.op_type, o.stack_id) == (op.op_type, op.stack_id)]
    return Occurrence(names.index(op.name), len(names))


def _chosen(changes: list[str], occurrence: Occurrence | None) -> str | None:
    """Return the change of the expression that made an op, given those in order of evaluation."""
    if len(set(changes)) == 1:
        return changes[0]
    if occurrence is None or occurrence.total % len(changes):
        return None
    return changes[occurrence.number % len(changes)]


def _change(edit: Edit, node: ast.Call | ast.BinOp, text: str, dtype: str | None) -> str | None:
    new = _apply(edit, node, text, _NUMBERS.get(dtype or "", _NUMBERS["float32"]))
    old = ast.get_source_segment(text, node)
    if not new or not old or len(old) + len(new) >= 2 * _LONGEST_CODE or "\n" in old + new:
        return None
    return f"{old} → {new}"


@lru_cache(maxsize=16)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _reaching(tree: ast.Module, line: int, *, begun_here: bool) -> list[ast.Call | ast.BinOp]:
    """Return calls and operations that begin on a line, or only reach over it, as evaluated."""
    nodes = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call | ast.BinOp)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        and (node.lineno == line) is begun_here
    ]
    # What is inside of an expression ends before it, and what is left of it too.
    return sorted(nodes, key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))


def _apply(
    edit: Edit, node: ast.Call | ast.BinOp, text: str, numbers: dict[str, str]
) -> str | None:
    binding = matched(edit.pattern, node)
    if binding is None:
        return None

    def source(part: ast.expr | ast.keyword) -> str:
        return ast.get_source_segment(text, part) or ""

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


_PLACE = re.compile(r"\{(\w+)\}")
_ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.List, ast.Tuple)

_NUMBERS = {
    "float16": {"eps": "1e-4", "eps2": "1e-4", "ulps": "1e-3", "exp_max": "10.0"},
    "bfloat16": {"eps": "1e-7", "eps2": "1e-12", "ulps": "1e-2", "exp_max": "80.0"},
    "float32": {"eps": "1e-7", "eps2": "1e-12", "ulps": "1e-6", "exp_max": "80.0"},
    "float64": {"eps": "1e-12", "eps2": "1e-24", "ulps": "1e-12", "exp_max": "700.0"},
}
"""What is added to 0 and to a squared length, or taken off 1, to keep away from them; and the
largest argument of exp: by type, as the reciprocal of the first and the square root of the second
are to be finite, and 1 less the third is to be less than 1."""
