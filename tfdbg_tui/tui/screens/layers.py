"""Layers: how large the numbers of each were in each step, forward and in gradients, or NaN."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from textual.binding import Binding

from tfdbg_tui.diagnosis import TensorEvent, heat_of
from tfdbg_tui.tui.screens.heat_strips import HeatStrips
from tfdbg_tui.tui.screens.list_keys import ListKey
from tfdbg_tui.tui.screens.list_screen import ListScreen
from tfdbg_tui.tui.session.focusing import focused_event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.binding import BindingType

    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.virtual_list import VirtualList

_SECONDS = 0.5  # between two looks at a run that grows
_NOTHING_THERE = "no tensor of the cell is on record"
_NO_OUTPUT = "no result of the layer is on record"
_KEYS = (
    ListKey("Enter", "goes there", "go to the tensor that is looked at"),
    ListKey("V", "history", "show what became of the layer's result"),
    ListKey("v", "variables", "show variables and what optimizers keep of them, or leave them out"),
    ListKey("n", "bad", "go to the next NaN or infinity: in another row of the step, then later"),
    ListKey("Tab", "gradients", "go to the gradients, or back to the forward pass"),
    ListKey("Left Right", "", "go to another step"),
)


class Choice(NamedTuple):
    """What is to be shown next.

    Attributes:
        event: The tensor to go to.
        history: Whether to show what became of it.
    """

    event: TensorEvent
    history: bool


class LayersScreen(ListScreen[Choice | None]):
    """One row a layer, and of what is in none one a function; steps across.

    It returns where to go, or None.

    Args:
        session: The run as it is at any time.
        charset: The characters to draw with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("M", "leave", show=False),
        Binding("enter", "go(False)", show=False),
        Binding("V", "go(True)", show=False),
        Binding("v", "variables", show=False),
        Binding("up,k", "move(-1, 0)", show=False),
        Binding("down,j", "move(1, 0)", show=False),
        Binding("left,h", "move(0, -1)", show=False),
        Binding("right,l", "move(0, 1)", show=False),
        Binding("g,home", "ends(0)", show=False),
        Binding("G,end", "ends(-1)", show=False),
        Binding("tab,shift+tab", "other_side", show=False),
    ]

    def __init__(self, session: Session, charset: Charset) -> None:
        self._session = session
        self._strips = HeatStrips(charset)
        self._looked_at: Snapshot | None = None
        super().__init__(self._strips, _KEYS, charset)

    def on_mount(self) -> None:
        """Show it, now and whenever the run has grown."""
        self.look()
        self.set_interval(_SECONDS, self.look)

    def look(self) -> None:
        """Look at the run as it is now; that may take a second, in a thread."""
        snapshot = self._session.snapshot
        if snapshot is None:
            self.dismiss(None)
        elif snapshot is not self._looked_at:
            self._looked_at = snapshot
            self.run_worker(self._load(snapshot), exclusive=True)

    async def _load(self, snapshot: Snapshot) -> None:
        explanation = snapshot.explanation
        harmless = explanation.harmless if explanation else []
        heat = await asyncio.to_thread(heat_of, snapshot.run, harmless)
        self._strips.load(snapshot, heat, focused_event(snapshot, self._session.focus))
        self.show()

    def title_text(self) -> str:
        """See `ListScreen`."""
        return f"Layers  {self._strips.counts}"

    def idle_keys(self) -> Mapping[str, str]:
        """See `ListScreen`."""
        return self._strips.idle_keys()

    async def action_go(self, history: bool) -> None:
        """Close, and go to the tensor that is looked at, or to the history of the row's output."""
        event = self._strips.output if history else self._strips.event
        if event is not None:
            self.dismiss(Choice(event, history))
        elif not self.tell_idle("V" if history else "Enter"):
            self.show(_NO_OUTPUT if history else _NOTHING_THERE)

    def action_variables(self) -> None:
        """Show the variables of layers and what optimizers keep of them, or leave them out."""
        if not self.tell_idle("v"):
            self._strips.toggle_variables()
            self.show()

    def action_to_bad(self, step: int) -> None:
        """Go to the next bad cell, or to the one before."""
        if not self.tell_idle("n"):
            self.show_moved(self._strips.to_bad(step), step)

    def action_move(self, rows: int, bins: int) -> None:
        """Go to another row or step."""
        self._strips.move(rows, bins)
        self.show()

    def action_page(self, pages: int) -> None:
        """Go a page up or down."""
        self.action_move(pages * max(1, self._strips.page_rows - 1), 0)

    def action_ends(self, row: Literal[0, -1]) -> None:
        """Go to the first row, or to the last one."""
        count = self._strips.row_count
        self.action_move(-count if row == 0 else count, 0)

    def action_other_side(self) -> None:
        """Go from forward to gradient, or back."""
        if not self.tell_idle("Tab"):
            self._strips.other_side()
            self.show()

    async def on_virtual_list_row_clicked(self, event: VirtualList.RowClicked) -> None:
        """Look at a cell of a row; at the second click, go there."""
        if self._strips.click(event.row, event.column):
            await self.action_go(history=False)
        self.show()
