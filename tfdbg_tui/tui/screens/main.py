"""The screen with the panes: what is on it, how it is arranged, and that it shows the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Static

from tfdbg_tui.tui.actions.registry import ACTIONS
from tfdbg_tui.tui.bars.key_bar import KeyBar
from tfdbg_tui.tui.bars.live_line import LiveLine
from tfdbg_tui.tui.bars.overview_bar import OverviewBar
from tfdbg_tui.tui.bars.pane_bar import PaneBar
from tfdbg_tui.tui.bars.status_line import StatusLine
from tfdbg_tui.tui.panes.alerts import Alerts
from tfdbg_tui.tui.panes.base import Pane
from tfdbg_tui.tui.panes.cause import Cause
from tfdbg_tui.tui.panes.graph_execution import GraphExecutionPane
from tfdbg_tui.tui.panes.graph_structure import GraphStructure
from tfdbg_tui.tui.panes.source_code import SourceCode
from tfdbg_tui.tui.panes.stack_trace import StackTrace
from tfdbg_tui.tui.panes.timeline import Timeline
from tfdbg_tui.tui.panes.why import Why
from tfdbg_tui.tui.screens.layout import BESIDE_WHY, COMPANIONS, LAYOUTS, layout_for
from tfdbg_tui.tui.session.focus import WHY_PANES
from tfdbg_tui.tui.widgets.cells import Bar

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.geometry import Size

    from tfdbg_tui.tui.actions.keymap import Keymap
    from tfdbg_tui.tui.screens.layout import Layout
    from tfdbg_tui.tui.session.focus import PaneName
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.terminal.text import Charset

_TOO_SMALL = "The terminal is too small.\nMake it 60 x 15 or more, or run tfdbg-tui diagnose."


class MainScreen(Screen[None], inherit_bindings=False):
    """The screen with the panes.

    Which pane has the focus is the session's to say, so none ever has Textual's: all keys come
    here.

    Args:
        session: What is shown.
        charset: The characters to draw with.
        keymap: The keys to name.
        logdir: The directory, for the status line.

    Attributes:
        panes: The panes by name.
        keys: The line that names keys, and tells what there is to say.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(action.keys), f"app.act('{action.id}')", action.label, id=action.id)
        for action in ACTIONS
    ]

    def __init__(self, session: Session, charset: Charset, keymap: Keymap, logdir: str) -> None:
        super().__init__(id="main")
        self._session = session
        self._charset = charset
        self._logdir = logdir
        self.panes: dict[PaneName, Pane] = {}
        self.keys = KeyBar(session, charset, keymap, id="keys")
        self._live_line = LiveLine(session, charset, id="live")
        self._why_view = Container(id="why_view")
        self._bars: list[Bar] = []
        self._layout: Layout = "normal"

    def compose(self) -> ComposeResult:
        """See Textual."""
        session, charset = self._session, self._charset
        yield StatusLine(session, charset, self._logdir, id="status")
        yield self._live_line
        yield PaneBar(session, charset, id="pane_bar")
        yield OverviewBar(session, charset, id="overview")
        with Container(id="body"):
            yield Alerts(session, charset)
            yield Timeline(session, charset)
            yield GraphExecutionPane(session, charset)
            yield GraphStructure(session, charset)
            yield SourceCode(session, charset)
            yield StackTrace(session, charset)
            with self._why_view:
                yield Why(session, charset)
                yield Cause(session, charset)
        yield Static(_TOO_SMALL, id="notice", markup=False)
        yield self.keys

    def on_mount(self) -> None:
        """Show the session from now on."""
        self.panes = {pane.NAME: pane for pane in self.query(Pane)}
        self._bars = list(self.query(Bar))
        self._lay_out(self.app.size)
        self._session.listen(self.show)
        self.show()

    def show(self) -> None:
        """Make everything on screen show the session."""
        focused = self._session.focus.pane
        for name, pane in self.panes.items():
            pane.set_class(name == focused, "-active")
            pane.set_class(name == COMPANIONS[focused], "-companion")
        self._show_why()
        for pane in self.panes.values():
            pane.show()
        for bar in self._bars:
            bar.show()

    def show_time(self) -> None:
        """Show what only time changes."""
        self._live_line.show()

    def _show_why(self) -> None:
        """Show Why and Cause if they are open, and there is room beside the focused pane."""
        focus = self._session.focus
        beside = BESIDE_WHY.get(self._layout, WHY_PANES)
        self.set_class(focus.why is not None and focus.pane in beside, "-why")
        self._why_view.set_class(focus.pane in WHY_PANES, "-in-use")

    def on_resize(self, event: events.Resize) -> None:
        """Choose the arrangement that fits."""
        if self.panes:
            self._lay_out(event.size)

    def _lay_out(self, size: Size) -> None:
        fitting = self._layout = layout_for(*size)
        self.update_classes({f"-{name}": name == fitting for name in LAYOUTS}, animate=False)
        self._show_why()
