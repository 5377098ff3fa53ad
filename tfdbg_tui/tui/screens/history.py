"""What became of a tensor: all its computations, as curves and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from textual.binding import Binding

from tfdbg_tui.diagnosis import TensorEvent
from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.screens.history_table import HistoryTable
from tfdbg_tui.tui.screens.list_keys import ListKey
from tfdbg_tui.tui.screens.list_screen import ListScreen
from tfdbg_tui.tui.session.remap import is_same_run, remapped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.binding import BindingType

    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.virtual_list import VirtualList

_SECONDS = 0.5  # between two looks at a run that grows
_KEYS = (
    ListKey("Enter", "goes there", "go to the computation"),
    ListKey("n", "bad", "go to the next computation with NaN or infinities"),
    ListKey("c", "curves", "draw min and max; shares of NaN, infinities and zeros; |max| again"),
    ListKey("m", "measured", "go to the next one with numbers on record; M to the one before"),
    ListKey("[ ]", "tensors", "go to another tensor of the op or the line"),
)


class HistoryScreen(ListScreen[TensorEvent | None]):
    """The computations of the focused tensor, and of those made with it.

    It returns the computation that is to be gone to, or None.

    Args:
        session: What is focused, and the run as it is at any time.
        charset: The characters to draw with.

    Raises:
        NowhereError: No tensor is focused.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("V", "leave", show=False),
        Binding("enter", "go", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("g,home", "to(0)", show=False),
        Binding("G,end", "to(-1)", show=False),
        Binding("m", "to_measured(1)", show=False),
        Binding("M", "to_measured(-1)", show=False),
        Binding("c", "curves", show=False),
        Binding("left_square_bracket", "tensor(-1)", show=False),
        Binding("right_square_bracket", "tensor(1)", show=False),
    ]

    def __init__(self, session: Session, charset: Charset) -> None:
        self._session = session
        snapshot = session.snapshot
        assert snapshot is not None
        self._focus = session.focus  # that of the session follows a run that goes on
        tensors, chosen = navigation.tensors_together(snapshot, self._focus)
        self._table = HistoryTable(snapshot, tensors, chosen, charset)
        super().__init__(self._table, _KEYS, charset)

    def on_mount(self) -> None:
        """Show it, now and whenever the run has grown."""
        self.show()
        self.set_interval(_SECONDS, self.look)

    def look(self) -> None:
        """Show the run as it is now."""
        before, snapshot = self._table.snapshot, self._session.snapshot
        if snapshot is before:
            return
        try:
            if snapshot is None or not is_same_run(before.run, snapshot.run):
                raise navigation.NowhereError("another run has begun")
            self._focus = remapped(self._focus, before.run, snapshot.run)
            tensors, _ = navigation.tensors_together(snapshot, self._focus)
        except navigation.NowhereError:
            self.dismiss(None)
            return
        self._table.load(snapshot, tensors)
        self.show(self._told)

    def title_name(self) -> str:
        """See `ListScreen`."""
        return self._table.tensor_name

    def title_text(self) -> str:
        """See `ListScreen`."""
        return self._table.title()

    def idle_keys(self) -> Mapping[str, str]:
        """See `ListScreen`."""
        history = self._table.history
        idle = {
            "n": "" if history.bad.any() else "no computation of it holds NaN or ∞",
            "m": "no numbers of it are on record" if np.isnan(history.largest).all() else "",
            "[ ]": "there is no other tensor of the op or the line" if self._table.is_alone else "",
        }
        return {key: why for key, why in idle.items() if why}

    async def action_go(self) -> None:
        """Close, and go to the computation that is looked at."""
        self.look()
        self.dismiss(self._table.event)

    def action_to_bad(self, step: int) -> None:
        """Go to the next computation that is bad, or to the one before."""
        if not self.tell_idle("n"):
            self.show_moved(self._table.to_next(self._table.history.bad, step), step)

    def action_to_measured(self, step: int) -> None:
        """Go to the next computation with numbers on record, or to the one before."""
        if not self.tell_idle("m"):
            measured = ~np.isnan(self._table.history.largest)
            self.show_moved(self._table.to_next(measured, step), step)

    def action_curves(self) -> None:
        """Draw the next kind of curves."""
        self._table.draw_next()
        self.show()

    def action_move(self, rows: int) -> None:
        """Go to another computation."""
        self._table.to(self._table.position + rows)
        self.show()

    def action_page(self, pages: int) -> None:
        """Go a page up or down."""
        self._table.to(self._table.position + pages * max(1, self._table.page_rows - 1))
        self.show()

    def action_to(self, position: int) -> None:
        """Go to the first computation, or to the last one."""
        self._table.to(position % len(self._table.history))
        self.show()

    def action_tensor(self, step: int) -> None:
        """Go to the next tensor, or to the one before."""
        if not self.tell_idle("[ ]"):
            self._table.choose(step)
            self.show()

    def on_virtual_list_row_clicked(self, event: VirtualList.RowClicked) -> None:
        """Look at a computation; at the second click, go there."""
        self._click(event.row)

    def on_virtual_list_title_clicked(self, event: VirtualList.TitleClicked) -> None:
        """Look at the computation that the curves show there; at the second click, go there."""
        found = self._table.computation_at(event.line, event.column)
        if found is not None:
            self._click(found)

    def _click(self, position: int) -> None:
        if position == self._table.position:
            self.dismiss(self._table.event)
        self._table.to(position)
        self.show()
