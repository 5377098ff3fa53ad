"""The app: it wires loader, session, panes and keys together, and has no logic of its own."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Static

from tfdbg_tui.diagnosis.events import name_of
from tfdbg_tui.tui import navigation, theme
from tfdbg_tui.tui.actions import ACTIONS, BY_ID, Action
from tfdbg_tui.tui.explainer import Explained, Explainer
from tfdbg_tui.tui.focus import WHY_PANES
from tfdbg_tui.tui.layout import BESIDE_WHY, COMPANIONS, LAYOUTS, layout_for
from tfdbg_tui.tui.loader import FAST, SLOW, Loaded, Loader, NewRun, RunsFound, Waiting
from tfdbg_tui.tui.panes.alerts import Alerts
from tfdbg_tui.tui.panes.base import Pane
from tfdbg_tui.tui.panes.cause import Cause
from tfdbg_tui.tui.panes.graph_execution import GraphExecutionPane
from tfdbg_tui.tui.panes.graph_structure import GraphStructure
from tfdbg_tui.tui.panes.source_code import SourceCode
from tfdbg_tui.tui.panes.stack_trace import StackTrace
from tfdbg_tui.tui.panes.timeline import Timeline
from tfdbg_tui.tui.panes.why import Why
from tfdbg_tui.tui.session import Session
from tfdbg_tui.tui.text import UNICODE, Charset
from tfdbg_tui.tui.widgets.bars import KeyBar, OverviewBar, PaneBar, StatusLine
from tfdbg_tui.tui.widgets.cells import Bar
from tfdbg_tui.tui.widgets.liveline import LiveLine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.geometry import Size

    from tfdbg_tui.diagnosis.pulse import Phase
    from tfdbg_tui.program import Program
    from tfdbg_tui.tui.focus import Focus, PaneName
    from tfdbg_tui.tui.layout import Layout
    from tfdbg_tui.tui.prompt import Prompt, Purpose
    from tfdbg_tui.tui.screens.leaving import Answer
    from tfdbg_tui.tui.snapshot import Snapshot
    from tfdbg_tui.tui.widgets.virtual_list import VirtualList

_TOO_SMALL = "The terminal is too small.\nMake it 60 x 15 or more, or run tfdbg-tui diagnose."
_TICK_SECONDS = 1.0  # between two looks at the clock: how long nothing has come
_NAME_WIDTH = 20  # of a name in the line that tells how the recording is doing
_SHOW_THE_BAD = ("first_alert", "next_alert", "previous_alert", "why")
_COLUMNS = 8  # that left and right scroll the source text


class MainScreen(Screen[None], inherit_bindings=False):
    """The screen with the panes.

    Which pane has the focus is the session's to say, so none ever has Textual's: all keys come
    here.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(action.keys), f"app.act('{action.id}')", action.label, id=action.id)
        for action in ACTIONS
    ]


class TfdbgApp(App[int]):
    """The debugger on one logdir.

    Args:
        logdir: The directory.
        run: Label of the run to open; None to choose where there are several.
        at: What to go to first, as typed after ``:``.
        follow: Whether to stay on the newest event, and to go to newer runs.
        until_bad: Whether to stop following, and go to the root, when something is bad.
        bell: Whether to ring the terminal's bell when something is bad for the first time.
        slow: Whether the way to the terminal is slow: fewer updates then.
        program: The program that writes the logdir, where this debugger starts it.
        charset: The characters to draw with.
        theme_name: The theme to start with.
    """

    CSS_PATH = "app.tcss"
    TITLE = "tfdbg-tui"
    ESCAPE_TO_MINIMIZE = False

    def __init__(
        self,
        logdir: str,
        *,
        run: str | None = None,
        at: str | None = None,
        follow: bool = False,
        until_bad: bool = False,
        bell: bool = False,
        slow: bool = False,
        program: Program | None = None,
        charset: Charset = UNICODE,
        theme_name: str = theme.DARK.name,
    ) -> None:
        # Textual decides how to leave out colours (NO_COLOR) before it knows the theme.
        super().__init__(ansi_color=True if theme_name == theme.WITHOUT_COLOR else None)
        for known in theme.THEMES:
            self.register_theme(known)
        self.theme = theme_name
        self.animation_level = "none"
        self.session = Session()
        if follow:
            self.session.follow(True)
        self.session.live.program = program
        self.charset = charset
        self.loader = Loader(
            logdir,
            run,
            self.post_message,
            newest=follow,
            interval=SLOW if slow else FAST,
        )
        self.explainer = Explainer(self.post_message)
        self._logdir = logdir
        self._chosen_run = run
        self._until_bad = until_bad
        self._bell = bell
        self._was_bad = False
        self._phase: Phase | None = None
        self._at = at
        self._search = ""
        self._panes: dict[PaneName, Pane] = {}
        self._bars: list[Bar] = []
        self._layout: Layout = "normal"

    def get_default_screen(self) -> Screen[Any]:
        """See Textual."""
        return MainScreen(id="main")

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give themes that are not ours the colours that our CSS names."""
        return theme.variables_for(self.current_theme)

    def compose(self) -> ComposeResult:
        """See Textual."""
        session, charset = self.session, self.charset
        status = StatusLine(session, charset, id="status")
        status.logdir = self._logdir
        yield status
        yield LiveLine(session, charset, id="live")
        yield PaneBar(session, charset, id="pane_bar")
        yield OverviewBar(session, charset, id="overview")
        with Container(id="body"):
            yield Alerts(session, charset)
            yield Timeline(session, charset)
            yield GraphExecutionPane(session, charset)
            yield GraphStructure(session, charset)
            yield SourceCode(session, charset)
            yield StackTrace(session, charset)
            with Container(id="why_view"):
                yield Why(session, charset)
                yield Cause(session, charset)
        yield Static(_TOO_SMALL, id="notice", markup=False)
        yield KeyBar(session, charset, id="keys")

    def on_mount(self) -> None:
        """Start reading."""
        self._main = self.screen
        self._panes = {pane.NAME: pane for pane in self.query(Pane)}
        self._bars = list(self.query(Bar))
        self._keys = self.query_one(KeyBar)
        self._why_view = self.query_one("#why_view")
        self.set_class(self.charset.ascii_only, "-ascii")
        self._lay_out(self.size)
        self.session.listen(self._show)
        self._show()
        self._live_line = self.query_one(LiveLine)
        self.set_interval(_TICK_SECONDS, self._tick)
        self.loader.start()
        self.explainer.start()

    def _tick(self) -> None:
        """Show what changes without anything being recorded: how long, and no longer."""
        phase = self.session.live.phase
        if phase == self._phase:
            self._live_line.show()
        else:
            self._phase = phase
            self.session.notify()

    def on_unmount(self) -> None:
        """Stop reading."""
        self.loader.stop()
        self.explainer.stop()

    # ---- Showing the session

    def _show(self) -> None:
        """Make everything on screen show the session."""
        focused = self.session.focus.pane
        for name, pane in self._panes.items():
            pane.set_class(name == focused, "-active")
            pane.set_class(name == COMPANIONS[focused], "-companion")
        self._show_why()
        for pane in self._panes.values():
            pane.show()
        for bar in self._bars:
            bar.show()

    def _show_why(self) -> None:
        """Show Why and Cause if they are open, and there is room beside the focused pane."""
        focus = self.session.focus
        beside = BESIDE_WHY.get(self._layout, WHY_PANES)
        self._main.set_class(focus.why is not None and focus.pane in beside, "-why")
        self._why_view.set_class(focus.pane in WHY_PANES, "-in-use")

    def on_resize(self, event: events.Resize) -> None:
        """Choose the arrangement that fits."""
        if self._panes:
            self._lay_out(event.size)

    def _lay_out(self, size: Size) -> None:
        fitting = self._layout = layout_for(*size)
        self._main.update_classes({f"-{name}": name == fitting for name in LAYOUTS}, animate=False)
        self._show_why()

    # ---- Messages

    def on_loaded(self, message: Loaded) -> None:
        """Show what has been read."""
        self.session.load(message.snapshot)
        self.explainer.explain(message.snapshot)
        if self._at is not None:
            before = self.session.focus
            self._go(partial(navigation.goto, target=self._at), jump=True)
            self._notice_moves(before)
            self._at = None
        elif self.session.following and not self.session.paused:
            self._go(navigation.latest, jump=False)

    def on_explained(self, message: Explained) -> None:
        """Show what diagnosis says."""
        if message.explanation is not None:
            self.session.explain(message.explanation)
            self._tell_if_bad()
        else:
            self.session.unexplained = message.reason
            self._keys.say(message.reason)

    def _tell_if_bad(self) -> None:
        """Announce the first bad tensor of a run that is being recorded; stop there if asked to."""
        session = self.session
        snapshot = session.held or session.snapshot
        explanation = snapshot.explanation if snapshot else None
        bad = explanation is not None and explanation.root is not None
        news, self._was_bad = bad and not self._was_bad, bad
        if not news or not (session.live.attached or session.live.growing):
            return
        assert snapshot is not None
        assert explanation is not None
        assert explanation.root is not None
        name = self.charset.fit_name(name_of(snapshot.run, explanation.root), _NAME_WIDTH)
        session.live.announcement = f" first bad tensor {name.rstrip()}: a "
        if self._bell:
            self.bell()
        if self._until_bad:
            session.follow(False)
            self.action_act("first_alert")
        session.notify()

    def on_new_run(self, message: NewRun) -> None:
        """Go to a run that has begun, if the view stands at the newest event; else offer it."""
        session = self.session
        at_newest = session.following and not session.paused and self._chosen_run is None
        if at_newest or (session.snapshot is None and self._chosen_run is None):
            self._open_run(message.files.label)
            self._keys.say(f"a new run has begun: {message.files.label}")
        else:
            session.live.newer_run = message.files.label
            session.notify()

    def _open_run(self, label: str) -> None:
        self._was_bad = False
        self.session.live.newer_run = ""
        self.loader.choose(label)

    def on_waiting(self, message: Waiting) -> None:
        """Say why there is nothing to show yet."""
        self.session.waiting = message.reason
        self.session.notify()

    def on_runs_found(self, message: RunsFound) -> None:
        """Let the user choose a run."""
        from tfdbg_tui.tui.screens.runs import RunsScreen

        def chosen(label: str | None) -> None:
            if label is not None:
                self._open_run(label)

        can_close = self.session.snapshot is not None
        self.push_screen(RunsScreen(message.runs, self.charset, can_close=can_close), chosen)

    def on_virtual_list_touched(self, message: VirtualList.Touched) -> None:
        """Go to a pane that was clicked on."""
        assert isinstance(message.control, Pane)
        self.session.focus = replace(self.session.focus, pane=message.control.NAME)

    def on_virtual_list_row_clicked(self, message: VirtualList.RowClicked) -> None:
        """Focus the row; a second click on it drills in."""
        pane = message.pane
        assert isinstance(pane, Pane)
        name, row = pane.NAME, message.row

        def focus_row(snapshot: Snapshot, focus: Focus) -> Focus:
            return navigation.click(snapshot, replace(focus, pane=name), row)

        before = self.session.focus
        self._go(focus_row, jump=True)
        self._notice_moves(before)

    def on_pane_bar_chosen(self, message: PaneBar.Chosen) -> None:
        """Go to the pane of a tab."""
        self.session.focus = replace(self.session.focus, pane=message.pane)

    def on_key_bar_pressed(self, message: KeyBar.Pressed) -> None:
        """Do what the label says."""
        self.action_act(message.action_id)

    def on_prompt_answered(self, message: Prompt.Answered) -> None:
        """Search, or go there."""
        self.query("Prompt").remove()
        if not message.text:
            return
        before = self.session.focus
        if message.purpose == "goto":
            self._go(partial(navigation.goto, target=message.text), jump=True)
        else:
            self._search = message.text
            self._find(1, inclusive=True)
        self._notice_moves(before)

    # ---- Actions

    def action_act(self, action_id: str) -> None:
        """Do an action of the registry."""
        action = BY_ID[action_id]
        self._keys.hush()
        if action_id in _SHOW_THE_BAD:
            self.session.live.announcement = ""
        before = self.session.focus
        self._do(action)
        if action_id not in ("follow", "pause"):
            self._notice_moves(before)

    def _notice_moves(self, before: Focus) -> None:
        """Stop following when the user has looked elsewhere."""
        session = self.session
        if session.following and navigation.looks_elsewhere(before, session.focus):
            session.follow(False)

    def _do(self, action: Action) -> None:
        if action.rows is not None or action.pages is not None:
            self._go(partial(navigation.move, rows=self._distance(action)), jump=False)
        elif action.navigate is not None:
            self._go(action.navigate, jump=action.jump)
        else:
            getattr(self, f"do_{action.id}")()

    def _distance(self, action: Action) -> int:
        pane = self._panes[self.session.focus.pane]
        if action.rows is not None:
            return action.rows * pane.stride
        assert action.pages is not None
        return int(action.pages * max(1, pane.page_rows)) * pane.stride

    def _go(self, navigate: Any, *, jump: bool) -> None:
        snapshot = self.session.snapshot
        if snapshot is None:
            return
        try:
            focus = navigate(snapshot, self.session.focus)
        except navigation.NowhereError as nowhere:
            self._keys.say(str(nowhere))
            return
        if jump:
            self.session.jump(focus)
        else:
            self.session.focus = focus

    def do_left(self) -> None:
        """Go left: what that means depends on the pane."""
        self._sideways(-1)

    def do_right(self) -> None:
        """Go right."""
        self._sideways(1)

    def _sideways(self, step: int) -> None:
        pane = self.session.focus.pane
        if pane == "timeline":
            self._go(partial(navigation.move, rows=step), jump=False)
        elif pane == "graph_structure":
            self._go(navigation.to_producer if step < 0 else navigation.to_consumer, jump=True)
        elif pane in ("alerts", "why"):
            self._go(partial(navigation.unfold, unfolded=step > 0), jump=False)
        elif pane == "source_code":
            self.query_one(SourceCode).scroll_columns(step * _COLUMNS)

    def do_back(self) -> None:
        """Return to the focus before the last jump."""
        if not self.session.back():
            self._keys.say("nothing to go back to")

    def do_forward(self) -> None:
        """Undo going back."""
        if not self.session.forward():
            self._keys.say("nothing to go forward to")

    def do_zoom(self) -> None:
        """Give the focused pane the whole screen, or take it back."""
        self._main.toggle_class("-zoomed")

    def do_search(self) -> None:
        """Ask what to search for."""
        self._ask("search")

    def do_goto(self) -> None:
        """Ask where to go."""
        self._ask("goto")

    def _ask(self, purpose: Purpose) -> None:
        from tfdbg_tui.tui.prompt import Prompt

        if not self.query("Prompt"):
            prompt = Prompt(purpose)
            self._main.mount(prompt)
            prompt.focus()

    def do_search_next(self) -> None:
        """Go to the next match."""
        self._find(1, inclusive=False)

    def do_search_previous(self) -> None:
        """Go to the previous match."""
        self._find(-1, inclusive=False)

    def _find(self, step: int, *, inclusive: bool) -> None:
        if not self._search:
            self._keys.say("search with / first")
            return
        search = partial(navigation.search, text=self._search, step=step, inclusive=inclusive)
        self._go(search, jump=True)

    def do_copy(self) -> None:
        """Copy what is focused."""
        snapshot = self.session.snapshot
        text = navigation.copy_text(snapshot, self.session.focus) if snapshot else ""
        if text:
            self.copy_to_clipboard(self.charset.safe(text))
            self._keys.say(f"copied {text}")

    def do_edit(self) -> None:
        """Open the focused line in the user's editor: the file of that path on this machine."""
        place = self.session.focus.place
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if place is None or not os.path.isfile(place.path):
            self._keys.say("no such file on this machine" if place else "no line is focused")
        elif not editor:
            self._keys.say("set EDITOR to the editor to open the file with")
        else:
            with contextlib.suppress(OSError), self.suspend():
                subprocess.run([*shlex.split(editor), f"+{place.line}", place.path], check=False)
            self.refresh()

    def do_follow(self) -> None:
        """Stay on the newest event, or stop."""
        self.session.follow(not self.session.following)
        if self.session.following:
            self._go(navigation.latest, jump=True)

    def do_pause(self) -> None:
        """Stop showing what is new, or go on."""
        self.session.set_paused(not self.session.paused)

    def do_help(self) -> None:
        """Show all keys."""
        from tfdbg_tui.tui.screens.help import HelpScreen

        self.push_screen(HelpScreen())

    def do_output(self) -> None:
        """Show what the program has printed."""
        from tfdbg_tui.tui.screens.output import OutputScreen

        if self.session.live.program is None:
            self._keys.say("tfdbg-tui run keeps the output of the program it starts; this is none")
        else:
            self.push_screen(OutputScreen(self.session.live.program, self.charset))

    def do_runs(self) -> None:
        """Let the user choose another run."""
        from tfdbg_tui.logdir import LogdirError, list_runs

        try:
            self.on_runs_found(RunsFound(list_runs(self._logdir)))
        except LogdirError as error:
            self._keys.say(str(error))

    def do_quit(self) -> None:
        """Leave; ask first what to do with a program that runs."""
        from tfdbg_tui.tui.screens.leaving import LeavingScreen

        program = self.session.live.program
        if program is None or not program.running:
            self.exit(0)
        elif not isinstance(self.screen, LeavingScreen):
            self.push_screen(LeavingScreen(program.outcome, self.charset), self._leave)

    def _leave(self, answer: Answer | None) -> None:
        """Quit, with or without the program."""
        program = self.session.live.program
        if answer == "stop" and program is not None:
            self._keys.say("stopping the program")
            self.run_worker(partial(self._stop_and_exit, program), thread=True)
        elif answer == "leave":
            self.exit(0)

    def _stop_and_exit(self, program: Program) -> None:
        program.stop()
        self.call_from_thread(self.exit, 0)

    async def action_quit(self) -> None:
        """See Textual: Ctrl+Q, and q where runs are chosen."""
        self.do_quit()

    def action_help_quit(self) -> None:
        """See Textual: Ctrl+C on a screen that covers the panes."""
        self.do_quit()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Offer all actions, and the themes, in the command palette."""
        for action in ACTIONS:
            yield SystemCommand(action.label, action.help, partial(self.action_act, action.id))
        yield SystemCommand("theme", "change the colours", self.action_change_theme)
