"""What all panes have in common: they draw a list of the session, and have a numbered title."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.cells import cell_len
from textual.content import Content

from tfdbg_tui.diagnosis import BUFFERING, breadcrumb
from tfdbg_tui.tui.session.snapshot import NOTHING_YET
from tfdbg_tui.tui.widgets.cells import broken, joined
from tfdbg_tui.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.diagnosis import TensorEvent
    from tfdbg_tui.tui.panes.rows import Rows
    from tfdbg_tui.tui.session.searched import Searched
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.session.snapshot import Listed, Snapshot
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_FRAME = 10  # cells of a title that hold no words: corners, the key, spaces
_NAME_LINES = 3  # of a name that is told in full
_CENTRED = 2  # lines of a sentence; more of them begin below each other


Layout = Literal["wide", "normal", "small", "tiny", "nothing"]
"""All tiles with a column for the first; all tiles; two panes; one; none."""


def _always(snapshot: Snapshot | None) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneSpec:
    """A pane.

    Attributes:
        name: What the focus, the style sheet and the keymap call it.
        title: What stands in its border, and in help and palette.
        short_title: The same on a tab.
        rows: What it lists, and what keys do there.
        view: The widget that draws it.
        tile: Which of the tiles it stands in, as `app.tcss` numbers them.  Of panes that share
            one, the focused one is in front, else the first.
        companions: Names of panes of which the first that there is stands below it where only two
            fit.
        keys: Ids of the actions that its footer names, besides those that every footer names.
        prefix: What `:` calls its rows, as in ``trace:88``; "" where they have no numbers.
        total: Returns how many there are of what it lists, for its tab.
        answers_why: Whether it is one of the panes that `w` opens and Esc closes.
        key: The key in its title, of a pane without a number.
        beside_why: The layouts in which it stays beside the panes that `w` opens.
        is_there: Returns whether there is such a pane for a run; None while none is read.
        missing: Why there is none, for runs of which there is none.
    """

    name: str
    title: str
    short_title: str
    rows: Rows
    view: type[Pane]
    tile: int
    companions: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    prefix: str = ""
    total: Callable[[Snapshot], int] | None = None
    answers_why: bool = False
    key: str = ""
    beside_why: frozenset[Layout] = frozenset()
    is_there: Callable[[Snapshot | None], bool] = _always
    missing: str = ""


class Pane(VirtualList):
    """A pane; subclasses say what its rows look like.

    Args:
        spec: What makes it.
        key: The key that goes to it.
        session: What is shown.
        charset: The characters to draw with.
    """

    EMPTY: ClassVar[str]
    """Said in the middle of the pane when it has nothing to show."""

    def __init__(self, spec: PaneSpec, key: str, session: Session, charset: Charset) -> None:
        super().__init__(charset, id=spec.name)
        self.add_class(f"-tile-{spec.tile}")
        self.spec = spec
        self.session = session
        self._key = key
        self._shown: Snapshot | None = None
        self._title = Content()

    @property
    def snapshot(self) -> Snapshot:
        """What is shown, where there are rows: without a snapshot there are none."""
        assert self.session.snapshot is not None
        return self.session.snapshot

    def distance(self, rows: int) -> int:
        """Return by how many of what it lists a motion of some rows goes on from the focused one.

        Args:
            rows: The rows; negative ones go up.
        """
        return rows

    def count_rows(self) -> int:
        """See `VirtualList`."""
        snapshot = self.session.snapshot
        return self.spec.rows.count(snapshot, self.session.focus) if snapshot else 0

    def find_cursor(self) -> int | None:
        """See `VirtualList`: the focused row."""
        snapshot = self.session.snapshot
        return self.spec.rows.position(snapshot, self.session.focus) if snapshot else None

    def scroll_columns(self, columns: int) -> None:
        """Scroll sideways, where there is more than fits."""

    def summary(self) -> str:
        """Return what stands behind the title: position, counts."""
        count = self.row_count
        if not count:
            return ""
        cursor = self.cursor
        return f"{count:,}" if cursor is None else self.place_words(cursor + 1, count)

    def place_words(self, number: int, count: int) -> str:
        """Return what the title says of the place in the list, alone or behind that of a match.

        Args:
            number: The number of what is chosen, from 1.
            count: How many there are.
        """
        return f"row {number:,}" if self._searched else f"{number:,} of {count:,}"

    def index_words(self, index: int, count: int) -> str:
        """Return the same of a list whose rows show their index: `of 3` would be no last one."""
        return f"row {index:,}" if self._searched else f"{index:,} of 0 to {count - 1:,}"

    def filter_words(self, beside: str = "") -> str:
        """Return what the title says of the pane's filter; "" where it has none.

        A long filter is cut, so that how much it has found is always there.

        Args:
            beside: What else the title says.
        """
        session, charset = self.session, self.charset
        text = session.focus.filter_of(self.spec.name)
        if not text or session.snapshot is None:
            return ""
        count = self.spec.rows.num_listed(session.snapshot, session.focus)
        more = "" if self._filtered_all else charset.ellipsis
        not_told = f" (not on record: {self._not_told:,})" if self._not_told else ""
        found_words = f": {count:,}{more}{not_told}"
        others = self.spec.title + beside + found_words + self.sort_words()
        start = f" {charset.dot} "
        frame = _FRAME + (len(start) if beside else 0)
        text = charset.fit(text, min(len(text), max(1, self.size.width - len(others) - frame)))
        return f"{start}{text}{found_words}"

    def position_and_filter(self, position: str) -> str:
        """Return what the title says of the place in the list, and of its filter.

        The place gives way to a filter that has no room beside it.
        """
        told, alone = self.filter_words(position), self.filter_words()
        if cell_len(told) < cell_len(alone):
            return alone.removeprefix(f" {self.charset.dot} ")
        return position + told

    @property
    def _filtered(self) -> Sequence[Listed]:
        """What the filter has selected so far, of each list."""
        session = self.session
        listed = session.snapshot.listed if session.snapshot else {}
        keys = self.spec.rows.selections(session.focus)
        return [listed.get(key, NOTHING_YET) for key in keys]

    @property
    def _filtered_all(self) -> bool:
        """Whether it is known of all rows whether they fit the filter."""
        return all(found.complete for found in self._filtered)

    @property
    def _not_told(self) -> int:
        """Of how many rows it is not on record whether they fit the filter."""
        return sum(found.unknown for found in self._filtered)

    def sort_words(self) -> str:
        """Return what the title says of the order of the list; "" where that is its own."""
        session = self.session
        sort = session.focus.sort_of(self.spec.name)
        if sort is None or session.snapshot is None:
            return ""
        found = session.snapshot.sorted_in(self.spec.name, session.focus)
        if found is None:
            return f" {self.charset.dot} {sort.words}{self.charset.ellipsis}"
        unknown = f", {found.unknown:,} not on record" if found.unknown else ""
        return f" {self.charset.dot} {sort.words}{unknown}"

    @property
    def _searched(self) -> Searched | None:
        """What is searched for in this pane."""
        searched = self.session.searched
        return searched if searched and searched.pane == self.spec.name else None

    def _search_words(self) -> str:
        """Return what the title says of a search: ``/Log: 3 of 120``; "" where there is none."""
        searched = self._searched
        if searched is None:
            return ""
        if searched.total is None:
            return f" /{searched.text}{self.charset.ellipsis} "
        number = "" if searched.number is None else f"{searched.number:,} of "
        return f" /{searched.text}: {number}{searched.total:,} "

    def show(self) -> None:
        """Show the session's present state; called after each change of it."""
        searched = self._searched
        self.highlight(searched.term.patterns if searched else ())
        snapshot = self.session.snapshot
        if snapshot is not self._shown:
            self._shown = snapshot
            self.forget_rows()
        self.update()

    def update(self) -> None:
        """See `VirtualList`; a pane out of sight waits until it is shown."""
        if self.display and self.size.width:
            super().update()
            self.show_title()
        else:
            self.row_count = 0  # the rows that it had may be gone by the time it is shown

    def show_title(self) -> None:
        """Show in the frame what the pane is, and what there is to say of all of it."""
        summary = self.charset.safe(self.summary())
        found = self.charset.safe(self._search_words())
        has_keys = self.session.focus.pane == self.spec.name
        told = has_keys and self.charset.ascii_only and self.app.no_color  # no frame tells it
        title = Content.assemble(
            (f" {self.charset.focus}" if told else "", "bold"),
            (f" {self._key} " if self._key else " ", "bold $rule-active"),
            (f"{self.spec.title} ", "bold $foreground"),
            (found, "$match"),  # before what may have no room
            (f" {summary} " if summary else "", "$dim"),
        )
        title = self._fit_title(title)
        if title != self._title:
            self._title = title
            self.border_title = title

    def _fit_title(self, title: Content) -> Content:
        """Return a title cut to the frame: Textual ends what it cuts with a Unicode ellipsis."""
        corners = 4 if self.styles.border_left[0] else 0  # and the spaces beside them
        room = self.outer_size.width - 2 - corners
        if title.cell_length <= room:
            return title
        end = self.charset.ellipsis
        return Content.assemble(title.truncate(max(0, room - len(end))), (end, "$dim"))

    def head(self, width: int, height: int) -> tuple[Line, ...]:
        """See `VirtualList`: a calm sentence where there is nothing to show."""
        if self.row_count:
            return self.title_lines(width, height)
        return self._sentence(self.reason_when_empty, width, height)

    @property
    def reason_when_empty(self) -> str:
        """What to say when there is nothing to show."""
        snapshot = self.session.snapshot
        if snapshot is None:
            return self.session.waiting
        if self.session.recording.phase == "buffering":
            return BUFFERING
        if self.filter_words():
            if not self._filtered_all:
                return f"Looking for what fits the filter{self.charset.ellipsis}"
            others = f" Whether {self._not_told:,} others would is not on record."
            gap = others if self._not_told else ""
            return f"Nothing fits the filter.{gap} Esc ends it."
        if not snapshot.run.progress.complete:
            return f"Reading{self.charset.ellipsis}"
        return self.EMPTY

    def title_lines(self, width: int, height: int) -> tuple[Line, ...]:
        """Return the lines above the rows, where there are rows."""
        return ()

    def name_in_full(
        self, name: str, facts: Sequence[Cell], width: int, start: str = "  "
    ) -> tuple[Line, ...]:
        """Return lines with the name of what is chosen, whole, and behind it as many facts as fit.

        Args:
            name: The name.
            facts: What else is told of it.
            width: Cells of a line.
            start: What each line begins with.
        """
        room = max(1, width - len(start) - 1)
        *begin, end = self.charset.name_lines(name, room, _NAME_LINES)
        facts = joined([(end, "strong"), *facts], f" {self.charset.dot} ")
        return (*(((start + text, "strong"),) for text in begin), ((start, ""), *facts))

    def on_blank_lines(self, lines: Sequence[Line], width: int, blank: int) -> tuple[Line, ...]:
        """Return lines below the rows, those that are too long on as many as there is room for.

        Args:
            lines: The lines.
            width: Cells of a line.
            blank: How many more there may be.
        """
        told: list[Line] = []
        for line in lines:
            pieces = broken(line, width, 3)
            more = min(len(pieces) - 1, max(0, blank))
            cut = tuple(cell for piece in pieces[more:] for cell in piece) if more else line
            told += [*pieces[:more], cut]
            blank -= more
        return tuple(told)

    def lines_left(self, height: int, lines: int) -> int:
        """Return how many lines the head, the rows and so many lines below them leave blank."""
        return height - len(self._head) - self.row_count - lines

    def layer_line(self, event: TensorEvent | None) -> tuple[Line, ...]:
        """Return a line that says which layer a tensor is of; none where it is of none."""
        layer = self.snapshot.layer(event) if event is not None else None
        if layer is None:
            return ()
        words = self.charset.fit_path(breadcrumb(layer, self.charset.inside), self.line_width - 6)
        return ((("  in ", "dim"), (words, "call")),)

    def _sentence(self, text: str, width: int, height: int) -> tuple[Line, ...]:
        """Return a sentence wrapped and centred in the pane."""
        lines = self.charset.wrapped(text, max(10, width - 4), height)
        above = max(0, (height - len(lines)) // 2)
        blank: tuple[Line, ...] = ((),) * above
        if len(lines) <= _CENTRED:
            starts = [(width - cell_len(line)) // 2 for line in lines]
        else:
            starts = [(width - max(map(cell_len, lines))) // 2] * len(lines)
        shown = tuple(((" " * n + line, "dim"),) for n, line in zip(starts, lines, strict=True))
        return blank + shown
