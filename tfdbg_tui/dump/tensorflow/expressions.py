"""Which expression of a line a running frame is in: one line may call several ops.

AutoGraph runs code that it has made of the user's, in which each statement is one line.  Where its
calls of ``ag__`` are written as Python again, an expression reads as the one that it was made of.
"""

from __future__ import annotations

import ast
import itertools
import linecache
from functools import lru_cache
from typing import TYPE_CHECKING

from tfdbg_tui.wire.expressions import Expression

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

_LONGEST = 2_000_000
"""Characters of a file that is parsed; more takes seconds."""


def running_expression(frame: FrameType) -> Expression | None:
    """Return the expression that a running frame is in; None where Python does not know it.

    Source: https://docs.python.org/3/reference/datamodel.html#codeobject.co_positions, which has a
    position for each code unit of two bytes.

    Args:
        frame: The frame.
    """
    unit = max(0, frame.f_lasti) // 2  # -1 where a handler of a signal runs before the first
    positions = itertools.islice(frame.f_code.co_positions(), unit, None)
    line, end_line, column, end_column = next(positions, (None, None, None, None))
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return Expression(line, column, end_line, end_column)


@lru_cache(maxsize=4096)
def users_expression(
    generated: str, expression: Expression, path: str, line: int
) -> Expression | None:
    """Return what AutoGraph made an expression of; None where that is not known.

    Args:
        generated: The file that AutoGraph has made.
        expression: The expression there.
        path: The user's file.
        line: A line of the statement there.
    """
    ours = _of_statement(_statements(generated, is_generated=True), expression.line)
    made = next((node for node in ours if _place(node) == expression), None)
    if made is None:
        return None
    text = ast.unparse(made)
    alike = [node for node in ours if ast.unparse(node) == text]
    users = _of_statement(_statements(path, is_generated=False), line)
    users = [node for node in users if ast.unparse(node) == text]
    return _place(users[alike.index(made)]) if len(users) == len(alike) else None


def _of_statement(statements: Sequence[ast.stmt], line: int) -> list[ast.expr]:
    """Return the expressions of the statements on a line, but not of those that they hold."""
    around = [node for node in statements if node.lineno <= line <= (node.end_lineno or 0)]
    last = max((node.lineno for node in around), default=None)
    found = (_expressions(node) for node in around if node.lineno == last)
    return list(itertools.chain.from_iterable(found))


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        if not isinstance(child, ast.stmt):
            yield from _expressions(child)


@lru_cache(maxsize=32)
def _statements(path: str, *, is_generated: bool) -> list[ast.stmt]:
    """Return the statements of a file; none where it cannot be parsed.

    Args:
        path: The file.
        is_generated: Whether AutoGraph has made it: expressions are as the user wrote them.
    """
    text = "".join(linecache.getlines(path))
    try:
        tree: ast.AST = ast.parse(text if len(text) <= _LONGEST else "")
        if is_generated:
            tree = _Written().visit(tree)
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]


class _Written(ast.NodeTransformer):
    """Makes of calls of AutoGraph's functions what they were made of, in the same place."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """See `ast.NodeTransformer`."""
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=ast.Name(id="ag__"), attr=name):
                written = _written(name, node.args)
                return node if written is None else ast.copy_location(written, node)
        return node


def _written(name: str, arguments: Sequence[ast.expr]) -> ast.expr | None:
    """Return what a call of a function of AutoGraph's was made of; None of another one."""
    match name, arguments:
        case "ld", [value]:
            return value
        case "converted_call", [function, ast.Tuple(elts=args), ast.Call(keywords=keywords), _]:
            return ast.Call(function, args, keywords)
        case "converted_call", [function, ast.Tuple(elts=args), ast.Constant(value=None), _]:
            return ast.Call(function, args, [])
        case "not_", [value]:
            return ast.UnaryOp(ast.Not(), value)
        case "and_", [ast.Lambda(body=left), ast.Lambda(body=right)]:
            return ast.BoolOp(ast.And(), [left, right])
        case "or_", [ast.Lambda(body=left), ast.Lambda(body=right)]:
            return ast.BoolOp(ast.Or(), [left, right])
        case "if_exp", [test, ast.Lambda(body=then), ast.Lambda(body=otherwise), _]:
            return ast.IfExp(test, then, otherwise)
    return None


def _place(node: ast.expr) -> Expression:
    end = node.end_lineno or node.lineno, node.end_col_offset or 0
    return Expression(node.lineno, node.col_offset, *end)
