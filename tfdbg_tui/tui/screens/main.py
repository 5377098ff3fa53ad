"""The screen with the panes: what is on it, how it is arranged, and that it shows the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import Binding
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Static

from tfdbg_tui.tui.actions.keys import bound_keys, pressed_key
from tfdbg_tui.tui.actions.registry import ACTIONS
from tfdbg_tui.tui.bars.key_bar import KeyBar
from tfdbg_tui.tui.bars.overview_bar import OverviewBar
from tfdbg_tui.tui.bars.pane_bar import PaneBar
from tfdbg_tui.tui.bars.recording_line import RecordingLine
from tfdbg_tui.tui.bars.status_line import StatusLine
from tfdbg_tui.tui.panes import PANES, key_of, pane_named
from tfdbg_tui.tui.screens.grid import Grid
from tfdbg_tui.tui.screens.layout import LAYOUTS, has_no_alerts, layout_for, shown_panes
from tfdbg_tui.tui.session.session import OPENING
from tfdbg_tui.tui.widgets.cells import Bar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.geometry import Size

    from tfdbg_tui.tui.actions.keymap import Keymap
    from tfdbg_tui.tui.panes.base import Layout, Pane
    from tfdbg_tui.tui.screens.grid import Axis
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.terminal.text import Charset

_TILE_OF_GRAPHS = 3
_LAST_LINES = 8
_OUTPUT = "O shows what it has printed, which ends so:"
_TOO_SMALL = "The terminal is too small.\nMake it 60 x 15 or more, or run tfdbg-tui diagnose."


class MainScreen(Screen[None], inherit_bindings=False):
    """The screen with the panes.

    Which pane has the focus is the session's to say, so none ever has Textual's: all keys come
    from the app, one after the other.

    Args:
        session: What is shown.
        charset: The characters to draw with.
        keymap: The keys to name.
        logdir: The directory, for the status line.
        pane_sizes: The usual sizes of panes; see `Grid`.

    Attributes:
        panes: The panes by name.
        keys: The line that names keys, and tells what there is to say.
        digit_typed: Takes a key in; returns whether it is a digit of a number.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            ",".join(bound_keys(action.keys)), f"app.act('{action.id}')", action.label, id=action.id
        )
        for action in ACTIONS
    ]

    def __init__(
        self,
        session: Session,
        charset: Charset,
        keymap: Keymap,
        logdir: str,
        pane_sizes: Mapping[str, tuple[int, ...]] | None = None,
    ) -> None:
        super().__init__(id="main")
        self._session = session
        self._charset = charset
        self._logdir = logdir
        self.panes: dict[str, Pane] = {}
        self.digit_typed: Callable[[str], bool] = lambda key: False
        self.keys = KeyBar(session, charset, keymap, id="keys")
        self._recording_line = RecordingLine(session, charset, id="live")
        self._grid = Grid(pane_sizes or {}, id="body")
        self._why_view = Container(id="why_view")
        self._notice = Static(_TOO_SMALL, id="notice", markup=False)
        self._noticed = _TOO_SMALL
        self._bars: list[Bar] = []
        self._known_keys = {key for action in ACTIONS for key in bound_keys(keymap.keys(action))}
        self._layout: Layout = "normal"
        self._zoomed = False

    def compose(self) -> ComposeResult:
        """See Textual."""
        session, charset = self._session, self._charset
        yield StatusLine(session, charset, self._logdir, id="status")
        yield self._recording_line
        yield PaneBar(session, charset, id="pane_bar")
        yield OverviewBar(session, charset, id="overview")
        for spec in sorted(PANES, key=lambda spec: spec.tile):
            self.panes[spec.name] = spec.view(spec, key_of(spec), session, charset)
        with self._grid:
            yield from (pane for pane in self.panes.values() if not pane.spec.answers_why)
            with self._why_view:
                yield from (pane for pane in self.panes.values() if pane.spec.answers_why)
        yield self._notice
        yield self.keys

    def on_mount(self) -> None:
        """Show the session from now on."""
        self._bars = list(self.query(Bar))
        self._lay_out(self.app.size)
        self._session.listen(self.show)
        self.show()

    def show(self) -> None:
        """Make everything on screen show the session."""
        self._show_notice()
        self._arrange()
        for pane in self.panes.values():
            pane.show()
        for bar in self._bars:
            bar.show()

    def _show_notice(self) -> None:
        """In place of the panes say why there is nothing to show, where that takes longer."""
        waits = self._session.snapshot is None and self._session.waiting != OPENING
        self.set_class(waits, "-waiting")
        fits = self._layout != "nothing"
        text = self._charset.safe_lines(self._reason_to_wait()) if waits and fits else _TOO_SMALL
        if text != self._noticed:
            self._noticed = text
            self._notice.update(text)

    def _reason_to_wait(self) -> str:
        program = self._session.recording.program
        if program is None or program.exit_code is None:
            return self._session.waiting
        lines = [self._charset.safe(line) for line in _last_lines(program.log_path)]
        width = min(self.app.size.width - 2, max(map(cell_len, lines)))
        block = "\n".join(self._charset.fit(line, width) for line in lines)  # centred as a whole
        return f"The program {program.outcome} before anything was recorded.\n{_OUTPUT}\n\n{block}"

    def shows(self, pane: str) -> bool:
        """Whether there is room for a pane, given what is focused."""
        return pane in self._shown()

    def _shown(self) -> frozenset[str]:
        session = self._session
        return shown_panes(self._layout, session.snapshot, session.focus, zoomed=self._zoomed)

    def show_time(self) -> None:
        """Show what only time changes."""
        self._show_notice()
        self._recording_line.show()

    def toggle_zoom(self) -> None:
        """Give the focused pane the whole screen, or take it back."""
        self._zoomed = self.keys.zoomed = not self._zoomed
        self.set_class(self._zoomed, "-zoomed")
        self._arrange()
        self.keys.show()

    def resize(self, axis: Axis, by: int) -> bool:
        """Make the focused pane wider or higher by some cells; return whether it can be."""
        return self._grid.resize(pane_named(self._session.focus.pane).tile, axis, by)

    def forget_sizes(self) -> None:
        """Give the panes their usual sizes."""
        self._grid.forget_sizes()

    def on_unmount(self) -> None:
        """Remember what the user has chosen."""
        self._grid.keep_sizes()

    def takes(self, event: events.Key) -> bool:
        """Take in the digits of a number; return whether it was one. Say so of unknown keys."""
        if self.digit_typed(event.key):
            return True
        if self._known_keys.isdisjoint(event.aliases):
            self.keys.say(f"no action has the key {pressed_key(event)}: ? shows all keys")
        return False

    def on_resize(self, event: events.Resize) -> None:
        """Choose the arrangement that fits."""
        if self._bars:
            self._lay_out(event.size)

    def _lay_out(self, size: Size) -> None:
        fitting = self._layout = layout_for(*size)
        self._show_notice()
        self.update_classes({f"-{name}": name == fitting for name in LAYOUTS}, animate=False)
        self._arrange()

    def _arrange(self) -> None:
        """Show the panes that there is room for."""
        focus = self._session.focus
        shown = self._shown()
        for name, pane in self.panes.items():
            pane.set_class(name == focus.pane, "-active")
            pane.set_class(name in shown, "-shown")
        asked = any(spec.answers_why for spec in PANES if spec.name in shown)
        self.set_class(asked, "-why")
        whole = not asked and not self._zoomed
        no_alerts = whole and self._layout == "wide" and has_no_alerts(self._session.snapshot)
        self.set_class(no_alerts, "-no-alerts")
        no_graphs = not any(pane_named(name).tile == _TILE_OF_GRAPHS for name in shown)
        self.set_class(no_graphs, "-no-graphs")
        left_out = [" without alerts"] * no_alerts + [" without graphs"] * no_graphs
        self._grid.lay_out("".join([self._layout, *left_out]) if whole else "")


def _last_lines(path: str) -> list[str]:
    """Return the last lines that a program has printed."""
    from tfdbg_tui.tui.screens.output import tail

    try:
        return tail(path).rstrip().split("\n")[-_LAST_LINES:]
    except OSError as error:
        return [f"{path}: cannot be read: {error.strerror}"]
