"""The statements of a source text, and on which line of one an op is written.

Of code that AutoGraph has converted TensorFlow only knows the first or last line of a statement.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST_SOURCE = 1_000_000  # characters; more takes seconds
_OPERATORS = {"RealDiv": "/", "Pow": "**", "MatMul": "@", "BatchMatMulV2": "@", "Square": "**"}


def line_of_op(lines: Sequence[str], line: int, op_type: str) -> int:
    """Return the line on which an op is written, as far as the text tells.

    Args:
        lines: The source text.
        line: The line that is known: any of the statement, from 1.
        op_type: Type of the op.

    Returns:
        The only line of the statement with the name or the operator of the op; else `line`.
    """
    first, last = _statement_at(tuple(lines), line)
    written = [n for n in range(first, last + 1) if _times(lines[n - 1], op_type)]
    return written[0] if len(written) == 1 else line


def times_written(lines: Sequence[str], line: int, op_type: str) -> int:
    """Return how often an op is written in a statement, as far as the text tells.

    Args:
        lines: The source text.
        line: Any line of the statement, from 1.
        op_type: Type of the op.
    """
    first, last = _statement_at(tuple(lines), line)
    return sum(_times(text, op_type) for text in lines[first - 1 : max(first, last)])


def _times(text: str, op_type: str) -> int:
    """Return how often the name or the operator of an op is on a line."""
    code = text.partition("#")[0]
    operator = _OPERATORS.get(op_type)
    named = len(re.findall(rf"\b{re.escape(op_type.lower())}\(", code))
    return named + (code.count(operator) if operator is not None else 0)


def _statement_at(lines: tuple[str, ...], line: int) -> tuple[int, int]:
    """Return the first and last line of the statement without others in it that a line is in."""
    around = [(first, last) for first, last in _statements(lines) if first <= line <= last]
    return around[0] if around else (line, line - 1)


@lru_cache(maxsize=16)
def _statements(lines: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return first and last line of the statements that take several lines, and hold no others."""
    nodes = parsed_nodes("\n".join(lines)) or []
    return [(first, last) for first, last in simple_statements(nodes) if last > first]


def parsed_nodes(text: str) -> list[ast.AST] | None:
    """Return the nodes of a source text; None where it is no Python, or too long."""
    if len(text) > LONGEST_SOURCE:
        return None
    try:
        return list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def simple_statements(nodes: Iterable[ast.AST]) -> list[tuple[int, int]]:
    """Return first and last line of the statements that hold no others."""
    simple = (node for node in nodes if isinstance(node, ast.stmt) and not hasattr(node, "body"))
    return [(node.lineno, node.end_lineno or node.lineno) for node in simple]
