"""Stack Trace: the Python frames that led to the focused execution or to its op's creation."""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.locations import is_library_frame
from tfdbg_tui.tui.panes.base import Pane
from tfdbg_tui.tui.panes.lists import FRAMES

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from tfdbg_tui.logdir import StackFrame
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_TALL = 6


class StackTrace(Pane):
    """The Stack Trace pane."""

    NAME = "stack_trace"
    TITLE = "Stack Trace"
    EMPTY = "Choose an execution or a graph op to see where the program made it."

    def row_state(self, row: int) -> Hashable:
        """See `VirtualList`."""
        focus = self.session.focus
        state = focus.subject, focus.execution, focus.op, focus.library_frames, focus.sticky
        return *state, row == self.cursor, self._file_of_focus()

    def row(self, row: int, width: int) -> tuple[Line, str]:
        """See `VirtualList`."""
        snapshot = self.snapshot
        frames = snapshot.frames(self.session.focus)
        frame_row = FRAMES.rows(snapshot, self.session.focus)[row]
        selected = row == self.cursor
        mark = self.charset.focus if selected else " "
        behind = "focus" if selected else ""
        if frame_row.folded:
            inside = frames[frame_row.first : frame_row.last + 1]
            text = f"{self.charset.folded} {frame_row.folded} library frames"
            rest = f" {_packages(inside)}"
            return ((mark + " ", ""), (text, "dim"), (self.charset.safe(rest), "faint")), behind
        frame = frames[frame_row.first]
        return self._frame(frame, mark, selected=selected, width=width), behind

    def _frame(self, frame: StackFrame, mark: str, *, selected: bool, width: int) -> Line:
        place = os.path.basename(frame.path) if frame.path else "not read yet"
        where = f"{place}:{frame.line}"
        if selected and self.session.focus.sticky:
            where += f" {self.charset.sticky}"
        function_width = max(8, (width - 3) * 2 // 5)
        style = "dim" if is_library_frame(frame) else ""
        if (frame.host, frame.path) == self._file_of_focus():
            style = "bold"
        cells: list[Cell] = [
            (mark + " ", ""),
            (self.charset.fit(frame.function, function_width), style or "call"),
            (" " + self.charset.fit_path(where, width - 3 - function_width), style),
        ]
        return tuple(cells)

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
            start, name = f" Execution {focus.execution:,} ", kind.op_type
        else:
            start, name = " Creation of ", focus.op.name if focus.op else ""
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


def _packages(frames: Sequence[StackFrame]) -> str:
    """Name the packages that library frames are in, as far as their paths tell."""
    names: dict[str, None] = {}
    for frame in frames:
        path = (frame.path or "").replace("\\", "/")
        for parent in ("/site-packages/", "/dist-packages/"):
            if parent in path:
                names[path.partition(parent)[2].partition("/")[0]] = None
    return ", ".join(names)
