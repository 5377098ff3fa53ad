"""Lines made of cells: text, and the names of its styles, which the theme defines.

Text of cells is drawn as it is: there is no markup, and nothing here interprets it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from tfdbg_tui.tui.terminal.theme import cell_style

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence

    from rich.style import Style

    from tfdbg_tui.tui.terminal.text import Charset

Cell = tuple[str, str]
"""Text, and the names of its styles separated by spaces ("" for none)."""

Line = tuple[Cell, ...]

# On a coloured row most text takes the row's own colour, and what is bad gets a background.
_HIGHLIGHTS = frozenset({"focus", "input"})
_ON_HIGHLIGHT = {
    "bad": "chip-bad",
    **dict.fromkeys(("faint", "dim", "comment", "strong", "call", "good"), ""),
}


# A terminal's own sixteen colours are legible on its own background, and not on one another.
_ANSI_HIGHLIGHTS = _HIGHLIGHTS | {"mark"}
_KEPT = frozenset({"chip-bad", "bold", "underline", "found"})


class CellWidget(Widget):
    """A widget that draws cells in the styles of `theme.cell_style`.

    Attributes:
        charset: The characters to draw with.
    """

    def __init__(self, charset: Charset, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.charset = charset
        self._cell_styles: dict[str, Style] = {}
        self._theme = ""
        self._base: Style | None = None

    def notify_style_update(self) -> None:
        """Called by Textual when the widget's own style, or the theme, may have changed."""
        if (self.app.theme, self.rich_style) != (self._theme, self._base):
            self._theme, self._base = self.app.theme, self.rich_style
            self.forget_styles()
        super().notify_style_update()

    def forget_styles(self) -> None:
        """Draw everything in the present theme from now on."""
        self._cell_styles.clear()

    @property
    def line_width(self) -> int:
        """Width of a line in terminal cells."""
        return self.size.width

    def cell_style(self, names: str) -> Style:
        """Return the style that some names together mean, as far as they say anything."""
        style = self._cell_styles.get(names)
        if style is None:
            style = cell_style(names, self.app.theme_variables, colourless=self.app.no_color)
            self._cell_styles[names] = style
        return style

    def strip(self, cells: Line, behind: str = "") -> Strip:
        """Return cells as a strip as wide as the widget.

        Neighbours that look equal become one segment, and spaces go with either neighbour: each
        change of style costs some 35 bytes.
        """
        base = (self._base or self.rich_style) + self.cell_style(behind)
        ansi = self.app.current_theme.ansi
        highlighted = behind in (_ANSI_HIGHLIGHTS if ansi else _HIGHLIGHTS)
        segments: list[Segment] = []
        for text, names in _apart(cells) if self.app.no_color else cells:
            if not text:
                continue
            if highlighted:
                names = _ON_HIGHLIGHT.get(names, "" if ansi and names not in _KEPT else names)
            style = base + self.cell_style(names) if names else base
            before = segments[-1] if segments else None
            if before is not None and before.style is not None and _joins(before.style, style):
                if before.style == style or text.isspace():
                    segments[-1] = Segment(before.text + text, before.style)
                    continue
                if before.text.isspace():
                    segments[-1] = Segment(before.text + text, style)
                    continue
            segments.append(Segment(text, style))
        strip, width = Strip(segments), self.line_width
        if strip.cell_length > width > 0:
            ellipsis = self.charset.ellipsis
            cut = strip.crop(0, width - len(ellipsis))
            end = base if highlighted else base + self.cell_style("faint")
            return Strip([*cut, Segment(ellipsis, end)])
        return strip.adjust_cell_length(width, base)


def _apart(cells: Line) -> Iterator[Cell]:
    """Yield cells, the spaces around what is bad apart: without colours it is underlined."""
    for text, names in cells:
        if names == "bad":
            told = text.strip()
            start = text.find(told)
            yield from ((text[:start], ""), (told, names), (text[start + len(told) :], ""))
        else:
            yield text, names


def _joins(one: Style, other: Style) -> bool:
    """Whether spaces look the same in two styles."""
    return (one.bgcolor, one.underline, one.reverse) == (
        other.bgcolor,
        other.underline,
        other.reverse,
    )


class Bar(CellWidget):
    """One line of cells."""

    DEFAULT_CSS = "Bar { height: 1; }"

    def __init__(self, charset: Charset, *, id: str) -> None:  # noqa: A002
        super().__init__(charset, id=id)
        self._line: Line = ()

    def line(self, width: int) -> Line:
        """Return the cells of the line."""
        raise NotImplementedError

    def show(self) -> None:
        """Draw the line again if it has changed."""
        line = self.line(self.size.width) if self.display and self.size.width else ()
        if line != self._line:
            self._line = line
            self.refresh()

    def on_resize(self) -> None:
        """Make the line fit the new width."""
        self.show()

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        return self.strip(self._line)


def highlighted(cells: Line, patterns: Sequence[re.Pattern[str]]) -> Line:
    """Return cells with what patterns match in the style of what was found."""
    pieces: list[Cell] = []
    for text, names in cells:
        done = 0
        spans = {m.span() for pattern in patterns for m in pattern.finditer(text)}
        for start, end in sorted(spans):
            if max(start, done) < end:
                pieces += [(text[done:start], names), (text[max(start, done) : end], "found")]
                done = end
        pieces.append((text[done:], names))
    return tuple(pieces)


def underlined(cells: Line, first: int, end: int) -> Line:
    """Return cells with some of their characters underlined.

    Args:
        cells: The cells.
        first: The first character, from 0.
        end: The one after the last.
    """
    pieces: list[Cell] = []
    start = 0
    for text, names in cells:
        here = slice(max(0, first - start), max(0, end - start))
        pieces += [(text[: here.start], names), (text[here], f"{names} underline".strip())]
        pieces.append((text[max(here.start, here.stop) :], names))
        start += len(text)
    return tuple(piece for piece in pieces if piece[0])


def width_of(cells: Sequence[Cell]) -> int:
    """Return how many terminal cells some cells take."""
    return sum(cell_len(text) for text, _ in cells)


def indented(texts: Iterable[str], start: int, style: str = "") -> tuple[Line, ...]:
    """Return lines of one text each, behind blank cells.

    Args:
        texts: The text of each line.
        start: How many cells are blank.
        style: Names of the styles of the texts.
    """
    return tuple(((" " * start, ""), (text, style)) for text in texts)


def text_at(cells: Sequence[Cell], x: int) -> str:
    """Return the text of the one of some cells that covers a column; "" beyond them."""
    for text, _ in cells:
        x -= cell_len(text)
        if x < 0:
            return text
    return ""


def joined(cells: Sequence[Cell], separator: str) -> Line:
    """Return the cells that hold text with a separator between them."""
    line: list[Cell] = []
    for cell in cells:
        if not cell[0]:
            continue
        if line:
            line.append((separator, "faint"))
        line.append(cell)
    return tuple(line)


def broken(line: Line, width: int, start: int) -> tuple[Line, ...]:
    """Return a line on as many lines as it needs, broken between its cells.

    Args:
        line: The line.
        width: Cells of a line.
        start: With how many blank ones all but the first begin.
    """
    lines: list[Line] = [()]
    for cell in line:
        longer = (*lines[-1], cell)
        if width_of(lines[-1]) > start and width_of(longer) > width:
            if _separates(lines[-1][-1]):
                lines[-1] = lines[-1][:-1]
            longer = ((" " * start, ""),) if _separates(cell) else ((" " * start, ""), cell)
            lines.append(())
        lines[-1] = longer
    return tuple(lines)


def _separates(cell: Cell) -> bool:
    """Whether a cell only stands between others."""
    return len(cell[0].strip()) < 2 and cell[0].startswith(" ")


def in_lines(parts: Sequence[Line], separator: str, width: int) -> tuple[Line, ...]:
    """Return parts with a separator between them, on as many lines as they need.

    Args:
        parts: What has to stay on one line, in order.
        separator: Stands between two parts of a line.
        width: Cells of a line.
    """
    lines: list[Line] = []
    for part in parts:
        longer = (*lines[-1], (separator, "dim"), *part) if lines else part
        if lines and width_of(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return tuple(lines)
