"""The line that tells how the recording is doing; there only while there is something to tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.bars.session_bar import SessionBar
from tfdbg_tui.tui.widgets.cells import joined, width_of

if TYPE_CHECKING:
    from tfdbg_tui.tui.widgets.cells import Cell, Line


class RecordingLine(SessionBar):
    """Events a second, lag, silence; what is new; what has happened."""

    def show(self) -> None:
        """Draw the line again if it has changed; take no room if there is none."""
        self.set_class(bool(self._facts()), "-telling")
        super().show()

    def line(self, width: int) -> Line:
        """See `Bar`."""
        facts, separator = self._facts(), f" {self.charset.dot} "
        if width_of(joined(facts, separator)) > width - 2:
            facts = self._facts(brief=True)
        while len(facts) > 1 and width_of(joined(facts, separator)) > width - 2:
            del facts[-2 if len(facts) > 2 else 0]
        return ((" ", ""), *joined(facts, separator))

    def _facts(self, *, brief: bool = False) -> list[Cell]:
        session = self.session
        shown = session.snapshot.run.num_events if session.paused and session.snapshot else None
        following = session.following and shown is None
        facts = session.recording.facts(following=following, shown=shown, brief=brief)
        return [(self.charset.safe(text), style) for text, style in facts]
