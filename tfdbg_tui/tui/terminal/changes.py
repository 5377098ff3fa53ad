"""Sends the terminal only the cells that it does not show already.

Textual sends whole lines of widgets, and all colours of each stretch of text.  Of a row that is
scrolled, or of a tree that is drawn anew, most cells stay the same.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.color import ColorSystem
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console
    from rich.style import Style
    from textual.strip import Strip

_WORTH_A_JUMP = 8  # cells that stay: so many make up for moving the cursor past them


class Look(NamedTuple):
    """The codes of a style: of its attributes, its colour and its background."""

    attributes: str
    colour: str
    background: str


Cell = tuple[str, Look]
"""What a cell shows; the second cell of a wide character shows ""."""

_PLAIN = Look("", "39", "49")
_UNKNOWN: Cell = ("\0", _PLAIN)


class ShownCells:
    """Knows what the terminal shows."""

    def __init__(self) -> None:
        self._lines: dict[int, list[Cell]] = {}

    def forget(self) -> None:
        """Send everything anew: others have written to the terminal, or its size has changed."""
        self._lines.clear()

    def changes(self, update: CompositorUpdate) -> CompositorUpdate:
        """Return an update of the screen that sends only what changes."""
        if isinstance(update, LayoutUpdate):
            self.forget()
            return _Changes(self, _of_layout(update))
        return _Changes(self, _of_chops(update)) if isinstance(update, ChopsUpdate) else update

    def write(self, x: int, y: int, cells: list[Cell]) -> Iterator[tuple[int, list[Cell]]]:
        """Note cells that are to be shown; yield those that change, with the columns they start in.

        Args:
            x: Column of the first one.
            y: Line.
            cells: The cells.
        """
        line = self._lines.setdefault(y, [])
        line += [_UNKNOWN] * (x + len(cells) - len(line))
        start = end = -1
        for place, cell in enumerate(cells):
            if line[x + place] == cell:
                continue
            if start >= 0 and place - end >= _WORTH_A_JUMP:
                yield x + start, cells[start:end]
                start = -1
            start = place if start < 0 else start
            end = place + 1
        if start >= 0:
            yield x + start, cells[start:end]
        line[x : x + len(cells)] = cells


class _Changes(CompositorUpdate):
    """An update of the screen.

    Args:
        shown: What the terminal shows.
        pieces: Columns, lines and strips to show.
    """

    def __init__(self, shown: ShownCells, pieces: Iterable[tuple[int, int, Strip]]) -> None:
        self._shown = shown
        self._pieces = pieces

    def render_segments(self, console: Console) -> str:
        """See Textual: return what to write."""
        system = console._color_system or ColorSystem.TRUECOLOR
        written: list[str] = []
        look: Look | None = None
        for x, y, strip in self._pieces:
            for start, cells in self._shown.write(x, y, _cells(strip, system)):
                written.append(f"\x1b[{y + 1};{start + 1}H")
                for text, wanted in cells:
                    if text and wanted != look:
                        written.append(_turn(look, wanted))
                        look = wanted
                    written.append(text)
        return "".join(written) + ("\x1b[0m" if look is not None else "")


def _of_layout(update: LayoutUpdate) -> Iterator[tuple[int, int, Strip]]:
    for y, strips in enumerate(update.strips, update.region.y):
        x = update.region.x
        for strip in strips:
            yield x, y, strip
            x += strip.cell_length


def _of_chops(update: ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
    for y, start, end in update.spans:
        for stop, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x < end and stop > start:
                yield x, y, strip if stop <= end else strip.crop(0, end - x)


def _cells(strip: Strip, system: ColorSystem) -> list[Cell]:
    cells: list[Cell] = []
    for text, style, _ in strip:
        look = _look(style, system) if style is not None else _PLAIN
        if text.isascii():
            cells += [(character, look) for character in text]
            continue
        for character in text:
            width = cell_len(character)
            if width:
                cells += [(character, look), ("", look)][:width]
            elif cells:  # it is drawn over the one before it
                cells[-1] = (cells[-1][0] + character, look)
    return cells


@lru_cache(maxsize=4096)
def _look(style: Style, system: ColorSystem) -> Look:
    attributes = style.without_color._make_ansi_codes(system)
    colour, background = style.color, style.bgcolor
    return Look(
        attributes,
        ";".join(colour.downgrade(system).get_ansi_codes()) if colour else "39",
        ";".join(background.downgrade(system).get_ansi_codes(False)) if background else "49",
    )


def _turn(look: Look | None, wanted: Look) -> str:
    """Return the codes that turn one look into another one."""
    if look is None or look.attributes != wanted.attributes:
        coloured = [code for code, plain in zip(wanted, _PLAIN, strict=True) if code != plain]
        return f"\x1b[{';'.join(['0', *coloured])}m"
    pairs = zip(look[1:], wanted[1:], strict=True)
    return f"\x1b[{';'.join(new for old, new in pairs if old != new)}m"
