"""Source Code: the focused file as it was when the program ran, on the focused line.

Where there is room, the ops that a line runs stand beside it.
"""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from textual.message import Message

from tfdbg_tui.diagnosis import columns_of, file_name, find_line_ops
from tfdbg_tui.logdir.text import with_blanks
from tfdbg_tui.tui.panes.base import Pane, PaneSpec
from tfdbg_tui.tui.panes.rows import Rows
from tfdbg_tui.tui.session.focus import SourcePlace
from tfdbg_tui.tui.session.nowhere import NowhereError
from tfdbg_tui.tui.terminal.text import compact
from tfdbg_tui.tui.widgets.cells import underlined, width_of
from tfdbg_tui.tui.widgets.virtual_list import DrawnRow

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from tfdbg_tui.diagnosis import BadLine, LineOps
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_FILES = 16
_LONGEST = 1_000_000  # characters of a file that are coloured; more takes seconds
_ROOT = "root"
_WIDE = 90  # cells of a line from which on there is room for op types
_OPS = 48  # cells that long lines leave to op types; their own begin further right
_LEAST_OPS = 20  # less of op types that do not fit tells nothing
_STEP = 8  # they begin at a multiple of this, so that scrolling seldom moves them


class SourceRows(Rows):
    """The lines of the focused source file."""

    CLICK_ENTERS = False

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`."""
        return len(self.lines(snapshot, focus))

    def lines(self, snapshot: Snapshot, focus: Focus) -> Sequence[str]:
        """Return the text of the focused file; nothing where the dump does not hold it."""
        if focus.place is None:
            return ()
        source = snapshot.source(focus.place.host, focus.place.path)
        return source.lines if source else ()

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `Rows`; a damaged file may name a line that its text does not have."""
        row = focus.place.line - 1 if focus.place else -1
        return row if 0 <= row < self.count(snapshot, focus) else None

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `Rows`."""
        if focus.place is None:
            return focus
        return replace(focus, place=SourcePlace(focus.place.host, focus.place.path, row + 1))

    def texts(self, snapshot: Snapshot, focus: Focus) -> Sequence[str]:
        """See `Rows`."""
        return self.lines(snapshot, focus)

    def enter(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: back to the stack trace."""
        return replace(focus, pane="stack_trace")

    def text(self, snapshot: Snapshot, focus: Focus) -> str:
        """See `Rows`."""
        return focus.place.text if focus.place else ""

    def place(self, snapshot: Snapshot, focus: Focus) -> str:
        """See `Rows`: the line."""
        return self.text(snapshot, focus)

    def go_to_number(self, snapshot: Snapshot, focus: Focus, number: int) -> Focus:
        """See `Rows`: to a line, or to the last one."""
        last = self.count(snapshot, focus) - 1
        return self.select(snapshot, focus, min(max(0, number - 1), last)) if last >= 0 else focus

    def go_to_name(self, snapshot: Snapshot, focus: Focus, name: str) -> Focus | None:
        """See `Rows`: ``file.py:120``, or ``file.py`` for its first line.

        Raises:
            NowhereError: The file is not so long.
        """
        path, _, line = name.rpartition(":")
        if not (path and line.isdecimal()):
            path, line = name, "1"
        place = snapshot.find_place(path, int(line[:9]))
        if place is None:
            return None
        there = replace(focus, place=place)
        lines = self.count(snapshot, there)
        if lines and place.line > lines:
            raise NowhereError(f"there is no line {place.line:,}: {path} has {lines:,}")
        return there


ROWS = SourceRows()


class SourceCode(Pane):
    """The Source Code pane.

    Args:
        spec: What the registry says of it.
        key: The key that leads to it.
        session: What is shown and focused.
        charset: The characters to draw with.
    """

    EMPTY = "No file selected. Choose a frame in Stack Trace to see its source line."

    class Coloured(Message):
        """The colours of a file have been found."""

    class OpsFound(Message):
        """The ops of all lines have been found."""

    def __init__(self, spec: PaneSpec, key: str, session: Session, charset: Charset) -> None:
        super().__init__(spec, key, session, charset)
        self._coloured: dict[tuple[str, str], Sequence[Line]] = {}
        self._wanted: tuple[str, str] | None = None
        self._column = 0
        self._ops: LineOps = {}
        self._ops_of: Hashable = None
        self._ops_at: int | None = None

    def row_state(self, row: int) -> Hashable:
        """See `VirtualList`."""
        beside = self._ops_at, self._ops_of_line(row + 1)
        colours = self._file, self._file in self._coloured
        return *colours, self._column, row == self.cursor, self._ran(row), beside

    @property
    def _file(self) -> tuple[str, str] | None:
        place = self.session.focus.place
        return (place.host, place.path) if place else None

    def row(self, row: int, width: int) -> DrawnRow:
        """See `VirtualList`."""
        focused = row == self.cursor
        digits = max(3, len(str(self.row_count)))
        mark = self.charset.focus if focused else " "
        number: Cell = (f"{mark}{row + 1:>{digits}}", "" if focused else "faint")
        bad = self._bad_line(row + 1)
        sign = " " if bad is None else self.charset.root if bad.is_root else self.charset.bad
        margin: Cell = (sign + " ", "bad-mark")
        text, room = self._text(row), width - digits - 3
        if bad is not None and bad.is_root:
            text = _cut(text, room - len(_ROOT) - 3, self.charset.ellipsis)
        chip = self._chip(bad, room - width_of(text))
        text = (*text, *self._ops_beside(row + 1, width_of(text), room - len(chip)))
        gap = " " * max(0, room - width_of(text) - len(chip))
        told = ((gap, ""), (chip, "chip-bad")) if chip else ()
        return DrawnRow((number, margin, *text, *told), "focus" if focused else "")

    def fit_columns(self, rows: range, width: int) -> None:
        """See `VirtualList`: op types begin behind the lines of text, if there is room."""
        self._ops_at = None
        if width >= _WIDE:
            longest = max(width_of(self._text(row)) for row in rows)
            self._ops_at = -(-(min(longest, width - _OPS) + 2) // _STEP) * _STEP

    def _ops_of_line(self, number: int) -> tuple[str, ...]:
        place = self.session.focus.place
        return self._ops.get(place.path, {}).get(number, ()) if place else ()

    def _ops_beside(self, number: int, start: int, end: int) -> Line:
        """Return the types of the ops that a line runs, where they have room.

        They begin before their column where that shows more of them.

        Args:
            number: The line.
            start: Where its text ends.
            end: Where something else begins.
        """
        op_types = self._ops_of_line(number)
        if self._ops_at is None or not op_types:
            return ()
        words = self.charset.safe(", ".join(op_types))
        begin = max(start + 2, min(self._ops_at, end - 1 - cell_len(words)))
        room = end - begin - 1
        if room < min(cell_len(words), _LEAST_OPS):
            return ()
        words = self.charset.fit(words, min(cell_len(words), room))
        return (" " * (begin - start), ""), (words, "faint")

    def _bad_line(self, number: int) -> BadLine | None:
        snapshot, place = self.session.snapshot, self.session.focus.place
        if snapshot is None or snapshot.explanation is None or place is None:
            return None
        return snapshot.explanation.report.bad_lines.get(place.path, {}).get(number)

    def _chip(self, bad: BadLine | None, room: int) -> str:
        """Return what stands at the end of a line whose ops made bad tensors, if it fits."""
        if bad is None:
            return ""
        root = _ROOT if bad.is_root else ""
        count = f"{compact(bad.tensors)} bad" if bad.tensors else ""
        for words in ((root, count), (root or count,)):
            text = f" {', '.join(filter(None, words))} "
            if len(text) < room:
                return text
        return ""

    def _text(self, row: int) -> Line:
        file = self._file
        if file is not None and file in self._coloured and row < len(self._coloured[file]):
            line = self._coloured[file][row]
        else:
            line = ((ROWS.lines(self.snapshot, self.session.focus)[row], ""),)
        if (ran := self._ran(row)) is not None:
            line = underlined(line, *ran)
        return _scrolled([(self._safe(text), style) for text, style in line], self._column)

    def _ran(self, row: int) -> tuple[int, int] | None:
        """Return which characters of a line the focused frame runs, where the line does more."""
        snapshot, focus = self.session.snapshot, self.session.focus
        if row != self.cursor or snapshot is None or focus.frame is None or focus.place is None:
            return None
        for frame in snapshot.frames(focus)[focus.frame : focus.frame + 1]:
            if (frame.host, frame.path, frame.line) == astuple(focus.place):
                return columns_of(frame, ROWS.lines(snapshot, focus))
        return None

    def _safe(self, text: str) -> str:
        return self.charset.safe(with_blanks(text))

    def scroll_columns(self, columns: int) -> None:
        """Scroll sideways."""
        self._column = max(0, self._column + columns)
        self.update()

    def update(self) -> None:
        """See `VirtualList`."""
        if self._file != self._wanted:
            self._wanted = self._file
            self._column = 0
            self._colour()
        if self.line_width >= _WIDE:
            self._find_ops()
        super().update()

    def reveal(self, row: int, *, centre: bool = True) -> None:
        """See `VirtualList`: a line out of view comes to the middle."""
        super().reveal(row, centre=centre)

    def _colour(self) -> None:
        """Find the colours of the focused file in a thread; plain text is shown meanwhile."""
        file, snapshot = self._file, self.session.snapshot
        if file is None or file in self._coloured or snapshot is None:
            return
        lines = ROWS.lines(snapshot, self.session.focus)
        if not lines or sum(map(len, lines)) > _LONGEST:
            return

        def work() -> None:
            from tfdbg_tui.tui.panes.syntax import coloured_lines

            coloured = coloured_lines(lines)
            if len(self._coloured) >= _FILES:
                self._coloured.clear()
            self._coloured[file] = coloured
            self.post_message(self.Coloured())

        self.run_worker(work, thread=True, exit_on_error=False, group="syntax")

    def _find_ops(self) -> None:
        """Find the ops of all lines in a thread, again when there are new ones."""
        snapshot = self.session.snapshot
        if snapshot is None:
            return
        run = snapshot.run
        known = run.files.label, run.graph_executions.num_sites, len(run.executions.distinct_kinds)
        if known == self._ops_of:
            return
        self._ops_of = known

        def work() -> None:
            self._ops = find_line_ops(run)
            self.post_message(self.OpsFound())

        self.run_worker(work, thread=True, exit_on_error=False, group="ops")

    def on_source_code_ops_found(self) -> None:
        """Draw the lines again, now with their ops."""
        self.update()

    def on_source_code_coloured(self) -> None:
        """Draw the lines again, now in colour."""
        self.update()

    def head(self, width: int, height: int) -> tuple[Line, ...]:
        """See `VirtualList`: the path, and why there is no text where there is none."""
        place = self.session.focus.place
        if place is None or self.session.snapshot is None:
            return super().head(width, height)
        path = self.charset.fit_path(place.path, width - 2)
        title: Line = ((" " + path, "dim"),)
        if self.row_count:
            return (title,) if height > 4 else ()
        source = self.session.snapshot.source(place.host, place.path)
        lost = source.unreadable if source else None
        missing = f"has lost its text ({lost})" if lost else "does not hold its text"
        reason = (
            f"The dump names this file but {missing}. The line is {place.line}. "
            "Press e to open the path on this machine in your editor; "
            "it may differ from what was recorded."
        )
        return (title, *self._sentence(reason, width, height - 1))

    def summary(self) -> str:
        """See `Pane`."""
        place = self.session.focus.place
        if place is None:
            return ""
        name = file_name(place.path)
        return f"{name}:{place.line}"


def _cut(line: Line, width: int, ellipsis: str) -> Line:
    """Return what fits into a width, so that there is room for what is said at the end."""
    if width_of(line) <= width:
        return line
    cut: list[Cell] = []
    room = width - len(ellipsis)
    for text, style in line:
        cut.append((set_cell_size(text, min(cell_len(text), max(0, room))), style))
        room -= cell_len(text)
    return (*cut, (ellipsis, "dim"))


def _scrolled(cells: Sequence[Cell], columns: int) -> Line:
    """Return cells without their first `columns` characters."""
    if not columns:
        return tuple(cells)
    kept: list[Cell] = []
    for text, style in cells:
        cut = min(columns, len(text))
        columns -= cut
        kept.append((text[cut:], style))
    return tuple(kept)


SPEC = PaneSpec(
    name="source_code",
    title="Source Code",
    short_title="Src",
    rows=ROWS,
    view=SourceCode,
    tile=5,
    companions=("stack_trace",),
    keys=("frame_up", "frame_down", "edit", "tensors_of_line"),
    beside_why=frozenset({"wide", "normal"}),
)
