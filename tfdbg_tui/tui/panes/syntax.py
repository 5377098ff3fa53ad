"""Python source in colours, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pygments.lexers.python import PythonLexer  # type: ignore[import-untyped]
from pygments.token import (  # type: ignore[import-untyped]
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    String,
    Token,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pygments.token import _TokenType

    from tfdbg_tui.tui.widgets.cells import Cell, Line

# The first token type that contains a token's decides its style.
_STYLES = (
    (Comment, "comment"),
    (String.Doc, "comment"),
    (String, "string"),
    (Number, "number"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
    (Name.Builtin, "builtin"),
    (Name.Function, "name"),
    (Name.Class, "name"),
    (Name.Decorator, "name"),
    (Token, ""),
)


def coloured_lines(lines: Sequence[str]) -> list[Line]:
    """Return the cells of each line of a Python file."""
    coloured: list[Line] = []
    line: list[Cell] = []
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    for token, text in lexer.get_tokens("\n".join(lines)):
        style = _style(token)
        for part_number, part in enumerate(text.split("\n")):
            if part_number:
                coloured.append(tuple(line))
                line = []
            if part:
                line.append((part, style))
    coloured.append(tuple(line))
    return coloured


def _style(token: _TokenType) -> str:
    return next(style for kind, style in _STYLES if token in kind)
