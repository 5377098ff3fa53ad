"""The lines above a prompt: what may be meant by what has been typed so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

from tfdbg_tui.tui.widgets.names import least_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.tui.terminal.text import Charset

_LINES = 8
_TOLD = 24  # cells that are told of what is too long for a line


class Candidate(NamedTuple):
    """What a line may become.

    Attributes:
        text: The whole line.
        told: What there is to say of it; "" for nothing.
    """

    text: str
    told: str = ""


class Candidates(Static):
    """The candidates for what is being typed; Tab goes through them.

    Args:
        charset: The characters to draw with.
    """

    def __init__(self, charset: Charset) -> None:
        super().__init__(id="candidates")
        self._charset = charset
        self._listed: Sequence[Candidate] = ()
        self._chosen: int | None = None

    def offer(self, listed: Sequence[Candidate]) -> None:
        """Show some candidates, none of them chosen."""
        if listed != self._listed or self._chosen is not None:
            self._listed, self._chosen = listed, None
            self._draw()

    def choose(self, step: int) -> str | None:
        """Choose the next (1) or previous (-1) candidate; return its text, or None for none."""
        if not self._listed:
            return None
        first = 0 if step > 0 else -1
        number = first if self._chosen is None else self._chosen + step
        self._chosen = number % len(self._listed)
        self._draw()
        return self._listed[self._chosen].text

    def _draw(self) -> None:
        self.display = bool(self._listed)
        top = max(0, (self._chosen or 0) - _LINES + 1)
        shown = self._listed[top : top + _LINES]
        more = len(self._listed) - top - len(shown)
        room = self.screen.size.width - 4
        names = [self._charset.safe(one.text) for one in shown]
        widest = max(map(cell_len, names), default=0)
        width = min(widest, room, max(room // 2, room - _TOLD, least_of(names)))
        lines = []
        for number, one in enumerate(shown, top):
            mark = self._charset.focus if number == self._chosen else " "
            text = self._charset.fit(self._charset.fit_name(one.text, width), width)
            counted = f"and {more:,} more" if more and one is shown[-1] else ""
            told = ", ".join(filter(None, (one.told, counted)))
            lines.append(
                Content.assemble(
                    (f"{mark} {text}  ", "bold" if number == self._chosen else ""),
                    (self._charset.fit(told, max(0, room - width)), "$dim"),
                )
            )
        self.update(Content("\n").join(lines))
