"""Stack Trace: the Python frames that led to the focused execution or to its op's creation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tfdbg_tui.diagnosis import file_name, is_library_frame, readable_function, user_frame
from tfdbg_tui.logdir.text import with_blanks
from tfdbg_tui.tui.panes.base import Pane, PaneSpec
from tfdbg_tui.tui.panes.rows import Rows
from tfdbg_tui.tui.session.focusing import focus_frame
from tfdbg_tui.tui.session.folding import FoldedRow
from tfdbg_tui.tui.widgets.virtual_list import DrawnRow

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from tfdbg_tui.logdir import StackFrame
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_TALL = 6
_LEAST_CODE = 16  # less of a line of code tells nothing
_INDENT = 6  # of code below its frame


class FrameRows(Rows):
    """The frames of a stack trace, outermost first."""

    def rows(self, snapshot: Snapshot, focus: Focus) -> Sequence[FoldedRow]:
        """Return the rows; runs of library frames are one row unless they are unfolded."""
        if focus.library_frames:
            return [FoldedRow(i, i) for i in range(len(snapshot.frames(focus)))]
        return snapshot.folded_frames(focus)

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`."""
        return len(self.rows(snapshot, focus))

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `Rows`."""
        if focus.frame is None:
            return None
        rows = self.rows(snapshot, focus)
        return next((i for i, r in enumerate(rows) if r.first <= focus.frame <= r.last), None)

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `Rows`: of library frames the innermost, of those of a gradient the user's."""
        chosen = self.rows(snapshot, focus)[row]
        own = user_frame(snapshot.frames(focus)[chosen.first : chosen.last + 1])
        return focus_frame(snapshot, focus, chosen.last if own is None else chosen.first + own)

    def texts(self, snapshot: Snapshot, focus: Focus) -> Sequence[str]:
        """See `Rows`."""
        names = [f"{frame.path} {frame.function}" for frame in snapshot.frames(focus)]
        return [" ".join(names[r.first : r.last + 1]) for r in self.rows(snapshot, focus)]

    def enter(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: unfold library frames, or go to the source line."""
        row = self.position(snapshot, focus)
        if row is not None and self.rows(snapshot, focus)[row].folded:
            return replace(focus, library_frames=True)
        return replace(focus, pane="source_code")

    def text(self, snapshot: Snapshot, focus: Focus) -> str:
        """See `Rows`."""
        return focus.place.text if focus.place else ""

    def place(self, snapshot: Snapshot, focus: Focus) -> str:
        """See `Rows`: the line."""
        return self.text(snapshot, focus)


FRAMES = FrameRows()


@dataclass(frozen=True, slots=True)
class StackLine:
    """A line of the pane.

    Attributes:
        row: Which row it is, or is below.
        code: What of the code of that row's frame stands on this line below it, as it is shown; ""
            for the row itself.
    """

    row: int
    code: str = ""


class StackTrace(Pane):
    """The Stack Trace pane."""

    EMPTY = "Choose an execution or a graph op to see where the program made it."
    _columns = (8, 8)  # widths of the function and of the place, with the space in front
    _lines: Sequence[StackLine] = ()

    def count_rows(self) -> int:
        """See `VirtualList`: where code has no room beside its frame, it stands below."""
        snapshot, focus = self.session.snapshot, self.session.focus
        rows = FRAMES.rows(snapshot, focus) if snapshot else ()
        below = self._told_below(rows)
        self._lines = []
        for number in range(len(rows)):
            self._lines.append(StackLine(number))
            self._lines += [StackLine(number, code) for code in below.get(number, ())]
        return len(self._lines)

    def _told_below(self, rows: Sequence[FoldedRow]) -> dict[int, list[str]]:
        """Return the lines of code to show below frames, by their rows.

        Code stands beside them where all of it fits there; below where it fits there; else some of
        it, cut beside them, or of the innermost below. Where lines are left it is on several.
        """
        height = self.size.height
        lines = height - (height >= _TALL) - len(rows)
        told = ((number, self.charset.safe(self._code(row))) for number, row in enumerate(rows))
        codes = [(number, code) for number, code in told if code]
        if lines <= 0 or not codes:
            return {}
        self._fit(rows, self.line_width)
        beside = self._room_for_code(self.line_width)
        if all(cell_len(code) <= beside for _, code in codes):
            return {}
        if len(codes) > lines and beside >= _LEAST_CODE:
            return {}
        return self._in_lines(codes[-lines:], lines)

    def _in_lines(self, codes: Sequence[tuple[int, str]], lines: int) -> dict[int, list[str]]:
        """Return codes on at most so many lines: what is left of them is for the innermost first.

        Args:
            codes: Codes by their rows.
            lines: How many lines there are; at least one a code.
        """
        width, left = max(1, self.line_width - _INDENT), lines - len(codes)
        told = {}
        for number, code in reversed(codes):
            as_it_is = not left or cell_len(code) <= width
            told[number] = [code] if as_it_is else self.charset.wrapped(code, width, 1 + left)
            left -= len(told[number]) - 1
        return told

    def find_cursor(self) -> int | None:
        """See `VirtualList`."""
        chosen = super().find_cursor()
        return next((i for i, line in enumerate(self._lines) if line.row == chosen), None)

    def row_clicked(self, row: int) -> int:
        """See `VirtualList`."""
        return self._lines[row].row

    def row_state(self, row: int) -> Hashable:
        """See `VirtualList`."""
        focus = self.session.focus
        frames = focus.library_frames, focus.sticky, self.snapshot.own_frames(focus), self._below
        state = focus.subject, focus.execution, focus.op, *frames, self._lines[row]
        return *state, row == self.cursor, self._file_of_focus(), self._columns

    def row(self, row: int, width: int) -> DrawnRow:
        """See `VirtualList`."""
        line = self._lines[row]
        if line.code:
            return DrawnRow(((" " * _INDENT + line.code, "dim"),))
        frame_row = self._rows[line.row]
        selected = row == self.cursor
        mark = self.charset.focus if selected else " "
        behind = "focus" if selected else ""
        if frame_row.folded:
            return DrawnRow(((mark + " ", ""), *self._folded(frame_row)), behind)
        return DrawnRow(self._frame(frame_row, mark, selected=selected, width=width), behind)

    @property
    def _below(self) -> bool:
        """Whether code stands below frames, instead of beside them."""
        return any(line.code for line in self._lines)

    @property
    def _rows(self) -> Sequence[FoldedRow]:
        return FRAMES.rows(self.snapshot, self.session.focus)

    def _folded(self, row: FoldedRow) -> Line:
        snapshot, focus = self.snapshot, self.session.focus
        inside = snapshot.frames(focus)[row.first : row.last + 1]
        what, where = "library frames", _packages(inside)
        if row.first == snapshot.own_frames(focus) > 0:
            what, where = "frames of the gradient", _users_place(inside)
        text = f"{self.charset.folded} {row.folded} {what}"
        return (text, "dim"), (self.charset.safe(f" {where}"), "faint")

    def _frame(self, row: FoldedRow, mark: str, *, selected: bool, width: int) -> Line:
        frame = self.snapshot.frames(self.session.focus)[row.first]
        style = "dim" if is_library_frame(frame) else ""
        if (frame.host, frame.path) == self._file_of_focus():
            style = "bold"
        function_width, place_width = self._columns
        sticky = f" {self.charset.sticky}" if selected and self.session.focus.sticky else ""
        place = self.charset.fit_path(_place(frame), place_width - 1 - len(sticky)) + sticky
        spare = place_width - 1 - cell_len(place)  # for a function that is too long for its column
        lent = min(spare, max(0, cell_len(self.charset.safe(frame.function)) - function_width))
        cells: list[Cell] = [
            (mark + " ", ""),
            (self.charset.fit(frame.function, function_width + lent), style or "call"),
            (" " + self.charset.fit(place, place_width - 1 - lent), style),
        ]
        if not self._below and self._room_for_code(width) >= _LEAST_CODE:
            cells.append((" " + self.charset.safe(self._code(row)), "dim"))
        return tuple(cells)

    def _room_for_code(self, width: int) -> int:
        return width - 3 - sum(self._columns)

    def fit_columns(self, rows: range, width: int) -> None:
        """See `VirtualList`."""
        listed = {self._lines[line].row for line in rows}
        self._fit([self._rows[row] for row in listed], width)

    def _fit(self, rows: Sequence[FoldedRow], width: int) -> None:
        """Make functions and places as wide as they need; code gets the rest."""
        frames = self.snapshot.frames(self.session.focus) if rows else ()
        alone = [frames[row.first] for row in rows if not row.folded]
        room = width - 2
        place = max((cell_len(self.charset.safe(_place(frame))) + 3 for frame in alone), default=8)
        place = min(place, room * 3 // 5)
        functions = (cell_len(self.charset.safe(frame.function)) for frame in alone)
        self._columns = min(max(functions, default=8), max(8, room - place)), place

    def _code(self, row: FoldedRow) -> str:
        """Return the text of a frame's line, where the dump holds it; "" of several frames."""
        if row.folded:
            return ""
        frame = self.snapshot.frames(self.session.focus)[row.first]
        source = self.snapshot.source(frame.host, frame.path) if frame.path else None
        lines = source.lines if source else ()
        return with_blanks(lines[frame.line - 1].strip()) if 0 < frame.line <= len(lines) else ""

    def _file_of_focus(self) -> tuple[str, str] | None:
        place = self.session.focus.place
        return (place.host, place.path) if place else None

    def title_lines(self, width: int, height: int) -> tuple[Line, ...]:
        """See `Pane`: whose stack trace it is."""
        if height < _TALL:
            return ()
        snapshot, focus = self.snapshot, self.session.focus
        frames = snapshot.frames(focus)
        host = f" on {frames[0].host}" if frames and frames[0].host else ""
        if focus.subject == "execution" and focus.execution is not None:
            kind = snapshot.run.executions.kind(focus.execution)
            start, name = f" Execution {focus.execution:,} ", readable_function(kind.op_type)
        else:
            start, name = " Creation of ", focus.op.name if focus.op else ""
        if snapshot.own_frames(focus):
            start = " Op of the gradient "
        room = width - len(start) - len(host)
        return (
            (
                (start, "dim"),
                (self.charset.fit_name(name, min(room, len(name))), "strong"),
                (self.charset.safe(host), "faint"),
            ),
        )

    def summary(self) -> str:
        """See `Pane`."""
        snapshot = self.session.snapshot
        count = len(snapshot.frames(self.session.focus)) if snapshot else 0
        if not count or self.session.focus.frame is None:
            return ""
        return f"frame {self.session.focus.frame + 1} of {count}"


def _place(frame: StackFrame) -> str:
    name = file_name(frame.path) if frame.path else "not read yet"
    return f"{name}:{frame.line}"


def _users_place(frames: Sequence[StackFrame]) -> str:
    """Name the innermost line of the user's program."""
    position = user_frame(frames)
    return "" if position is None else _place(frames[position])


def _packages(frames: Sequence[StackFrame]) -> str:
    """Name the packages that library frames are in, as far as their paths tell."""
    names: dict[str, None] = {}
    for frame in frames:
        path = (frame.path or "").replace("\\", "/")
        for parent in ("/site-packages/", "/dist-packages/"):
            if parent in path:
                names[path.partition(parent)[2].partition("/")[0]] = None
    return ", ".join(names)


SPEC = PaneSpec(
    name="stack_trace",
    title="Stack Trace",
    short_title="Stk",
    rows=FRAMES,
    view=StackTrace,
    tile=6,
    companions=("source_code",),
    keys=("frame_up", "frame_down", "edit", "library_frames"),
)
