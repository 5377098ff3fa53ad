"""Cause: what happened at the root, how that is known, why, and the fix."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tfdbg_tui.diagnosis import cards, file_name
from tfdbg_tui.logdir.text import with_blanks
from tfdbg_tui.tui.panes.base import PaneSpec
from tfdbg_tui.tui.panes.chain_pane import ChainPane, fix_of, shown_chain
from tfdbg_tui.tui.panes.rows import Rows
from tfdbg_tui.tui.session.focusing import focus_event
from tfdbg_tui.tui.session.nowhere import NowhereError
from tfdbg_tui.tui.widgets.cells import underlined
from tfdbg_tui.tui.widgets.virtual_list import DrawnRow

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from tfdbg_tui.diagnosis import Chain, Location
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.widgets.cells import Line

_KNOWN = ("evidence", "why")  # labels
_DETAILS = ("op", "layer")
_FIX = ("fix", "here")  # labels
_CHANGES = ("removed", "added")  # kinds
_LABEL = 10
_FRAME = 2  # lines of its frame
_LINES_AROUND = 1  # of the source line, above and below
_ROOMY = 16  # a pane this tall has room for them, and for space between the parts


class CauseRows(Rows):
    """The parts of the cause's card."""

    def parts(self, snapshot: Snapshot, focus: Focus) -> Sequence[cards.Part]:
        """Return the parts."""
        shown = shown_chain(snapshot, focus)
        return cards.parts(shown) if shown else ()

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`."""
        return len(self.parts(snapshot, focus))

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `Rows`."""
        count = self.count(snapshot, focus)
        return min(focus.part, count - 1) if count else None

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `Rows`."""
        return replace(focus, part=row)

    def texts(self, snapshot: Snapshot, focus: Focus) -> Sequence[str]:
        """See `Rows`."""
        return [f"{part.label} {part.text}" for part in self.parts(snapshot, focus)]

    def enter(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: to the line that the card names."""
        chain = shown_chain(snapshot, focus)
        finding = chain.finding if chain else None
        if finding is None or finding.location is None:
            raise NowhereError("no line of the program is known")
        focus = focus_event(snapshot, focus, finding.event)
        place = snapshot.find_place(finding.location.file, finding.location.line)
        return replace(focus, place=place or focus.place, pane="source_code")

    def newest(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: a chain stays as it is."""
        return focus

    def text(self, snapshot: Snapshot, focus: Focus) -> str:
        """See `Rows`: the fix."""
        return fix_of(snapshot, focus)


@dataclass(frozen=True, slots=True)
class CardLine:
    """A line of the card.

    Attributes:
        part: Which part it belongs to.
        cells: What it says.
        behind: The style behind it.
        first: Whether the part begins here.
    """

    part: int
    cells: Line
    behind: str = ""
    first: bool = False


class Cause(ChainPane):
    """The Cause pane."""

    _lines: Sequence[CardLine] = ()

    def count_rows(self) -> int:
        """See `VirtualList`: a part is several lines."""
        chain = self.found_chain
        self._lines = self._lay_out(chain, self.line_width) if chain else []
        is_read = self.session.focus.pane == self.spec.name
        if chain and len(self._lines) > self.size.height and not is_read:
            self._lines = _with_fix_first(self._lines, cards.parts(chain))
        alone = self.screen.has_class("-zoomed") or not self._lines
        self.styles.max_height = None if alone else len(self._lines) + _FRAME
        return len(self._lines)

    @property
    def _room(self) -> int:
        """How many lines the pane may have: what it does not need, the chain gets."""
        return self.container_size.height * 3 // 5

    def find_cursor(self) -> int | None:
        """See `VirtualList`: the last line of the chosen part, the first one being near."""
        chosen = super().find_cursor()
        lines = [i for i, line in enumerate(self._lines) if line.part == chosen]
        return (lines[-1] if chosen else lines[0]) if lines else None

    def row_clicked(self, row: int) -> int:
        """See `VirtualList`."""
        return self._lines[row].part

    def row_state(self, row: int) -> Hashable:
        """See `VirtualList`."""
        return self._lines[row], self._chosen(self._lines[row])

    def _chosen(self, line: CardLine) -> bool:
        focus = self.session.focus
        return line.first and focus.pane == self.spec.name and line.part == focus.part

    def row(self, row: int, width: int) -> DrawnRow:
        """See `VirtualList`."""
        line = self._lines[row]
        mark = self.charset.focus if self._chosen(line) else " "
        return DrawnRow(((mark, "key"), *line.cells), line.behind)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """See Textual: fewer lines are below, or more."""
        super().watch_scroll_y(old_value, new_value)
        self.show_title()

    def summary(self) -> str:
        """See `Pane`: how sure it is, and how much of the card, as the fix, has no room."""
        chain, below = self.found_chain, self.rows_below
        certainty = chain.finding.certainty if chain and chain.finding else ""
        more = f"{below} more line{'s' * (below != 1)} below" if below else ""
        return f" {self.charset.dot} ".join(filter(None, (certainty, more)))

    def _lay_out(self, chain: Chain, width: int) -> list[CardLine]:
        lines: list[CardLine] = []
        for number, part in enumerate(cards.parts(chain)):
            if number and self._room >= _ROOMY + 4 and part.label:
                lines.append(CardLine(number - 1, ()))
            found = list(self._part(chain, part, max(10, width - 3)))
            for position, (cells, behind) in enumerate(found):
                first = position == 0
                label = part.label if first else ""
                gap: Line = () if part.kind == "title" else ((f"{label:{_LABEL}}", "dim"),)
                lines.append(CardLine(number, (*gap, *cells), behind, first))
        return lines

    def _part(self, chain: Chain, part: cards.Part, width: int) -> Iterator[tuple[Line, str]]:
        """Yield the lines of a part, and the styles behind them."""
        text = self.charset.sentence(part.text)
        if part.kind == "title":
            certainty = chain.finding.certainty if chain.finding else ""
            for line in self._wrapped(text, width - len(certainty) - 3):
                chip = (f" {certainty} ", "chip-bad" if certainty == "proved" else "box")
                yield ((line, "strong"), ("  ", ""), *((chip,) if certainty else ())), ""
                certainty = ""
        elif part.kind == "source":
            for line in self._where(chain, text, width - _LABEL):
                yield ((line, ""),), ""
            yield from self._source(chain, width - _LABEL)
        else:
            style = {"removed": "bad", "added": "good"}.get(part.kind, "")
            mark = {"removed": "- ", "added": "+ "}.get(part.kind, "")
            for line in self._wrapped(text, width - _LABEL - len(mark)):
                yield ((mark + line, style),), ""

    def _where(self, chain: Chain, text: str, width: int) -> Sequence[str]:
        """Return where the root is made, without directories that have no room, but with the line.

        Args:
            chain: The chain.
            text: The whole text.
            width: Cells of a line.
        """
        location = chain.finding.location if chain.finding else None
        if location is not None:
            file = replace(location, file=file_name(location.file))
            name = self.charset.safe(cards.place_text(file))
            if cell_len(name) >= width:
                return self._wrapped(name, width)
        return [self.charset.fit_path(text, width)]

    def _source(self, chain: Chain, width: int) -> Iterator[tuple[Line, str]]:
        """Yield the line that the card names, and its neighbours where there is room."""
        snapshot = self.session.snapshot
        location = chain.finding.location if chain.finding else None
        if snapshot is None or location is None:
            return
        place = snapshot.find_place(location.file, location.line)
        source = snapshot.source(place.host, place.path) if place else None
        around = _LINES_AROUND if self._room >= _ROOMY else 0
        first = max(1, location.line - around)
        lines = source.lines[first - 1 : location.line + around] if source else ()
        if len(lines) <= location.line - first:
            first, lines = location.line, (location.code or "",)
        text = textwrap.dedent("\n".join(with_blanks(line) for line in lines))
        for number, line in enumerate(text.split("\n"), first):
            focused = number == location.line
            line = self._uncut(chain, line, width - 6) if focused else line
            shown = self.charset.fit(f"{number:>4}  {line}", width)
            cells: Line = ((shown, "" if focused else "dim"),)
            yield _marked(cells, location) if focused else cells, "focus" if focused else ""

    def _uncut(self, chain: Chain, line: str, width: int) -> str:
        """Return a line, without its beginning where the expression to change is far right."""
        expression = cards.expression(chain)
        end = line.find(expression) + len(expression)
        if not expression or expression not in line or end <= width:
            return line
        start = max(0, min(end - len(expression), end - width + len(self.charset.ellipsis) + 1))
        return self.charset.ellipsis + line[start:]

    def _wrapped(self, text: str, width: int) -> Sequence[str]:
        return self.charset.wrapped(text, max(10, width))


def _with_fix_first(lines: Sequence[CardLine], parts: Sequence[cards.Part]) -> list[CardLine]:
    """Return the lines of a card of which a part alone is seen: where, the fix, how it is known.

    Whoever goes to the card has all of it in its own order.

    Args:
        lines: The lines.
        parts: The parts of the card.
    """
    ends = [number for number, part in enumerate(parts) if part.label in (*_KNOWN, *_DETAILS)]
    begin = ends[0] if ends else len(parts)

    def rank(line: CardLine) -> int:
        part = parts[line.part]
        if part.label in _FIX or part.kind in _CHANGES:
            return 1
        return 0 if line.part < begin else 2 if part.label in _KNOWN else 3

    return sorted(lines, key=rank)


def _marked(cells: Line, location: Location) -> Line:
    """Return a line of code with what ran of it underlined, where it does more and is shown whole.

    Args:
        cells: The line, in one cell.
        location: What is known of it.
    """
    start = cells[0][0].find(with_blanks(location.code))
    if location.columns is None or start < 0:
        return cells
    first, end = (start + len(with_blanks(location.code[:column])) for column in location.columns)
    return underlined(cells, first, end)


SPEC = PaneSpec(
    name="cause",
    title="Cause",
    short_title="Cause",
    rows=CauseRows(),
    view=Cause,
    tile=2,
    companions=("why",),
    keys=("next_pane", "close_why", "copy", "copy_diagnosis"),
    answers_why=True,
)
