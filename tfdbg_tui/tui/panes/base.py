"""What all panes have in common: they draw a list of the session, and have a numbered title."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.content import Content
from textual.scrollbar import ScrollBarRender

from tfdbg_tui.diagnosis.recording import BUFFERING
from tfdbg_tui.tui.panes.lists import LISTS
from tfdbg_tui.tui.session.focus import PANES, PaneName
from tfdbg_tui.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Line

_CENTRED = 2  # lines of a sentence; more of them begin below each other


class AsciiScrollBar(ScrollBarRender):
    """A scrollbar without fractions of a cell."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8


class Pane(VirtualList):
    """A pane; subclasses say what its rows look like.

    Args:
        session: What is shown.
        charset: The characters to draw with.
    """

    NAME: ClassVar[PaneName]
    KEY: ClassVar[str] = ""
    """The key in the title of a pane without a number."""
    TITLE: ClassVar[str]
    EMPTY: ClassVar[str]
    """Said in the middle of the pane when it has nothing to show."""

    def __init__(self, session: Session, charset: Charset) -> None:
        super().__init__(id=self.NAME)
        self.session = session
        self.charset = charset
        if charset.ascii_only:
            self.vertical_scrollbar.renderer = AsciiScrollBar  # type: ignore[misc]  # as documented
        self._shown: Snapshot | None = None
        self._title = Content()

    @property
    def key(self) -> str:
        """The key that goes to this pane."""
        return str(PANES.index(self.NAME) + 1) if self.NAME in PANES else self.KEY

    @property
    def snapshot(self) -> Snapshot:
        """What is shown, where there are rows: without a snapshot there are none."""
        assert self.session.snapshot is not None
        return self.session.snapshot

    @property
    def stride(self) -> int:
        """How many events one row stands for."""
        return 1

    def count_rows(self) -> int:
        """See `VirtualList`."""
        snapshot = self.session.snapshot
        return LISTS[self.NAME].count(snapshot, self.session.focus) if snapshot else 0

    def find_cursor(self) -> int | None:
        """See `VirtualList`: the focused row."""
        snapshot = self.session.snapshot
        return LISTS[self.NAME].position(snapshot, self.session.focus) if snapshot else None

    def summary(self) -> str:
        """Return what stands behind the title: position, counts."""
        count = self.row_count
        if not count:
            return ""
        cursor = self.cursor
        return f"{count:,}" if cursor is None else f"{cursor:,} of {count:,}"

    def show(self) -> None:
        """Show the session's present state; called after each change of it."""
        snapshot = self.session.snapshot
        if snapshot is not self._shown:
            self._shown = snapshot
            self.forget_rows()
        self.update()

    def update(self) -> None:
        """See `VirtualList`; a pane out of sight waits until it is shown."""
        if self.display and self.size.width:
            super().update()
            self._show_title()
        else:
            self.row_count = 0  # the rows that it had may be gone by the time it is shown

    def _show_title(self) -> None:
        summary = self.charset.safe(self.summary())
        title = Content.assemble(
            (f" {self.key} " if self.key else " ", "bold $rule-active"),
            (f"{self.TITLE} ", "bold $foreground"),
            (f" {summary} " if summary else "", "$dim"),
        )
        if title != self._title:
            self._title = title
            self.border_title = title

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
        if self.session.live.phase == "buffering":
            return BUFFERING
        if not snapshot.run.progress.complete:
            return f"Reading{self.charset.ellipsis}"
        return self.EMPTY

    def title_lines(self, width: int, height: int) -> tuple[Line, ...]:
        """Return the lines above the rows, where there are rows."""
        return ()

    def _sentence(self, text: str, width: int, height: int) -> tuple[Line, ...]:
        """Return a sentence wrapped and centred in the pane."""
        lines = _wrap(self.charset.safe(text), max(10, width - 4))
        above = max(0, (height - len(lines)) // 2)
        blank: tuple[Line, ...] = ((),) * above
        if len(lines) <= _CENTRED:
            starts = [(width - cell_len(line)) // 2 for line in lines]
        else:
            starts = [(width - max(map(cell_len, lines))) // 2] * len(lines)
        shown = tuple(((" " * n + line, "dim"),) for n, line in zip(starts, lines, strict=True))
        return (blank + shown)[:height]


def _wrap(text: str, width: int) -> list[str]:
    lines: list[str] = [""]
    for word in text.split():
        if lines[-1] and cell_len(lines[-1]) + 1 + cell_len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines
