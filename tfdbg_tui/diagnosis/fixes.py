"""How the user's own expression would have to change.

Finds the call or the operator in the source text of the user's line, by Python's own parser; the
text is only parsed, never run.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LONGEST_SOURCE = 20_000  # lines
_LONGEST_CODE = 160  # characters that still make a readable suggestion


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of an expression.

    Attributes:
        calls: Names of functions, the last part of ``tf.math.log``, of which one is called.
        operator: Or the operator: ``/``, ``**``, ``@``, ``*``, ``-``.
        becomes: The new expression; ``{function}`` is the function as it is written, ``{0}`` and
            ``{1}`` the arguments or operands.
    """

    calls: tuple[str, ...]
    operator: str
    becomes: str


def suggestion(lines: Sequence[str], line: int, edits: Sequence[Edit]) -> str | None:
    """Return ``old → new`` for the first edit that fits an expression on a line, or None."""
    if not 0 < line <= len(lines) <= _LONGEST_SOURCE:
        return None
    text = "\n".join(lines)
    tree = _parsed(text)
    if tree is None:
        return None
    found = list(_on_line(tree, line))
    for edit in edits:
        for node in found:
            new = _apply(edit, node, text)
            old = ast.get_source_segment(text, node)
            if new and old and len(old) + len(new) < 2 * _LONGEST_CODE and "\n" not in old + new:
                return f"{old} → {new}"
    return None


@lru_cache(maxsize=16)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _on_line(tree: ast.Module, line: int) -> Iterator[ast.Call | ast.BinOp]:
    """Yield calls and operations that begin on a line, then those that only reach over it."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call | ast.BinOp)]
    yield from (node for node in nodes if node.lineno == line)
    for node in nodes:
        if node.lineno < line <= (node.end_lineno or node.lineno):
            yield node


def _apply(edit: Edit, node: ast.Call | ast.BinOp, text: str) -> str | None:
    if isinstance(node, ast.BinOp):
        if _OPERATORS.get(type(node.op)) != edit.operator:
            return None
        parts = [ast.get_source_segment(text, side) for side in (node.left, node.right)]
        return None if None in parts else edit.becomes.format(*parts, function="")
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in edit.calls:
        return None
    function = ast.get_source_segment(text, node.func) or name
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    arguments = [ast.get_source_segment(text, value) or "" for value in values]
    try:
        return edit.becomes.format(*arguments, function=function)
    except IndexError:
        return None


_OPERATORS: dict[type[ast.operator], str] = {
    ast.Div: "/",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.Mult: "*",
    ast.Sub: "-",
    ast.Mod: "%",
    ast.FloorDiv: "//",
}
