"""The app: it wires loader, session, panes and keys together, and has no logic of its own."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import SystemCommand
from textual.await_complete import AwaitComplete
from textual.filter import ANSIToTruecolor

from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.actions.keymap import Keymap
from tfdbg_tui.tui.actions.keys import shown_key
from tfdbg_tui.tui.actions.registry import ACTIONS, BY_ID, Action
from tfdbg_tui.tui.background.chain_finder import ChainFinder
from tfdbg_tui.tui.background.diagnoser import Explained, Explainer
from tfdbg_tui.tui.background.loader import FAST, SLOW, Loaded, Loader, NewRun, RunsFound, Waiting
from tfdbg_tui.tui.background.search import Searching
from tfdbg_tui.tui.commands import Commands
from tfdbg_tui.tui.panes.base import Pane
from tfdbg_tui.tui.screens.main import MainScreen
from tfdbg_tui.tui.session.announcements import News
from tfdbg_tui.tui.session.session import Session
from tfdbg_tui.tui.terminal import theme
from tfdbg_tui.tui.terminal.pace import PacedApp
from tfdbg_tui.tui.terminal.signals import end_on_signals
from tfdbg_tui.tui.terminal.text import UNICODE, Charset

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from textual.filter import LineFilter
    from textual.screen import Screen

    from tfdbg_tui.diagnosis.recording import Phase
    from tfdbg_tui.logdir import RunFiles
    from tfdbg_tui.program import Program
    from tfdbg_tui.tui.actions.registry import Navigate
    from tfdbg_tui.tui.background.tasks import Returned
    from tfdbg_tui.tui.bars.key_bar import KeyBar
    from tfdbg_tui.tui.bars.pane_bar import PaneBar
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.widgets.prompt import Prompt
    from tfdbg_tui.tui.widgets.virtual_list import VirtualList

_TICK_SECONDS = 1.0  # between two looks at the clock: how long nothing has come
_SEARCHES = ("search_next", "search_previous")
_SHOW_THE_BAD = ("first_alert", "next_alert", "previous_alert", "why")


class TfdbgApp(PacedApp):
    """The debugger on one logdir.

    Args:
        logdir: The directory.
        run: Label of the run to open; None to choose where there are several.
        at: What to go to first, as typed after ``:``.
        follow: Whether to stay on the newest event, and to go to newer runs.
        until_bad: Whether to stop following, and go to the root, when something is bad.
        bell: Whether to ring the terminal's bell when something is bad for the first time.
        slow: Whether the terminal is far away, or slow: fewer updates then.
        program: The program that writes the logdir, where this debugger starts it.
        charset: The characters to draw with.
        keymap: The keys; None for those of the actions themselves.
        theme_name: The theme to start with.
    """

    CSS_PATH = "app.tcss"
    TITLE = "tfdbg-tui"
    ESCAPE_TO_MINIMIZE = False
    ALLOW_SELECT = False  # there is no key to copy a selection; y copies what is focused

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
        keymap: Keymap | None = None,
        theme_name: str = theme.DARK.name,
    ) -> None:
        # Textual decides how to leave out colours (NO_COLOR) before it knows the theme.
        super().__init__(ansi_color=True if theme_name == theme.WITHOUT_COLOR else None)
        for known in theme.THEMES:
            self.register_theme(known)
        self.theme = theme_name
        self.animation_level = "none"
        self.session = Session(navigation.settle)
        if follow:
            self.session.follow(True)
        self.session.live.program = program
        self.charset = charset
        self.keymap = keymap or Keymap()
        self.set_keymap(self.keymap.for_textual())
        self.loader = Loader(
            logdir,
            run,
            self.post_message,
            newest=follow,
            interval=SLOW if slow else FAST,
            ready=self.pace.is_ready,
        )
        self.explainer = Explainer(self.post_message)
        self.searching = Searching(self.session, self.post_message)
        self.logdir = logdir
        self._chosen_run = run
        self._until_bad = until_bad
        self._bell = bell
        self._phase: Phase | None = None
        self._at = at
        self._commands = Commands(self)
        self._news = News(self.session, charset)
        self._chain_finder = ChainFinder(self.session, self.post_message)
        self.session.listen(self._find_chain)
        self.main = MainScreen(self.session, charset, self.keymap, logdir)

    def get_default_screen(self) -> Screen[Any]:
        """See Textual."""
        return self.main

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Leave out what makes terminal colours true ones where all are: it takes time."""
        filters = super().get_line_filters()
        if self.current_theme.ansi:
            return filters
        return [kept for kept in filters if not isinstance(kept, ANSIToTruecolor)]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give themes that are not ours the colours that our CSS names."""
        return theme.variables_for(self.current_theme)

    def on_mount(self) -> None:
        """Start reading."""
        if not self.is_headless:
            end_on_signals(self)
        self.set_class(self.charset.ascii_only, "-ascii")
        self.set_interval(_TICK_SECONDS, self._tick)
        self.loader.start()
        self.explainer.start()

    def _tick(self) -> None:
        """Show what changes without anything being recorded: how long, and no longer."""
        phase = self.session.live.phase
        if phase == self._phase:
            self.main.show_time()
        else:
            self._phase = phase
            self.session.notify()

    def on_unmount(self) -> None:
        """Stop reading."""
        self.loader.stop()
        self.explainer.stop()
        self.searching.close()
        self._chain_finder.close()

    def _find_chain(self) -> None:
        """Have the chain found that Why is to show, before anything shows the session."""
        try:
            self._chain_finder.look()
        except navigation.NowhereError as nowhere:
            self.say(str(nowhere))

    def say(self, message: str) -> None:
        """Show a message in place of the keys for some seconds."""
        self.main.keys.say(message)

    @contextlib.contextmanager
    def _acting(self, *, by_moving: bool = True) -> Iterator[None]:
        """Do something for the user: say so where it leads nowhere.

        Args:
            by_moving: Whether that ends following, where it has led elsewhere.
        """
        before = self.session.focus
        try:
            yield
        except navigation.NowhereError as nowhere:
            self.say(str(nowhere))
        session = self.session
        if by_moving and session.following and navigation.looks_elsewhere(before, session.focus):
            session.follow(False)
        self.main.keys.searching = self.searching.text if self.searching.under_way else ""
        self.main.keys.show()

    # ---- Messages

    def on_loaded(self, message: Loaded) -> None:
        """Show what has been read."""
        self.pace.grow()
        self.session.load(message.snapshot)
        self.explainer.explain(message.snapshot)
        if self._at is not None:
            self._go_where_told(self._at, complete=message.snapshot.run.progress.complete)
        elif self.session.following and not self.session.paused:
            self.go(navigation.latest, jump=False)

    def _go_where_told(self, target: str, *, complete: bool) -> None:
        """Go to what the command line names, as soon as it has been read."""
        with self._acting():
            try:
                self.go(partial(navigation.goto, target=target), jump=True)
            except navigation.NowhereError:
                if not complete:
                    return
                self._at = None
                raise
            self._at = None

    def on_explained(self, message: Explained) -> None:
        """Show what diagnosis says."""
        if message.explanation is not None:
            self.session.explain(message.explanation)
            self._tell_news()
        else:
            self.session.unexplained = message.reason
            self.say(message.reason)

    def _tell_news(self) -> None:
        """Announce the first bad tensor; stop there if asked to."""
        if not self._news.first_bad():
            return
        if self._bell:
            self.bell()
        if self._until_bad:
            self.session.follow(False)
            self.action_act("first_alert")
        self.session.notify()

    def on_new_run(self, message: NewRun) -> None:
        """Go to a run that has begun, if the view stands at the newest event; else offer it."""
        session = self.session
        at_newest = session.following and not session.paused and self._chosen_run is None
        if at_newest or (session.snapshot is None and self._chosen_run is None):
            self._open_run(message.files.label)
            self.say(f"a new run has begun: {message.files.label}")
        else:
            session.live.newer_run = message.files.label
            session.notify()

    def _open_run(self, label: str) -> None:
        self._news.forget()
        self.session.live.newer_run = ""
        self.loader.choose(label)

    def on_waiting(self, message: Waiting) -> None:
        """Say why there is nothing to show yet."""
        self.session.waiting = message.reason
        self.session.notify()

    def on_runs_found(self, message: RunsFound) -> None:
        """Let the user choose a run."""
        self.choose_run(message.runs)

    def choose_run(self, runs: list[RunFiles]) -> None:
        """Show some runs and open the one that the user chooses."""
        from tfdbg_tui.tui.screens.runs import RunsScreen

        def chosen(label: str | None) -> None:
            if label is not None:
                self._open_run(label)

        if isinstance(self.screen, RunsScreen):
            return
        can_close = self.session.snapshot is not None
        self.push_screen(RunsScreen(runs, self.charset, can_close=can_close), chosen)

    def on_virtual_list_touched(self, message: VirtualList.Touched) -> None:
        """Go to a pane that was clicked on."""
        assert isinstance(message.control, Pane)
        self.session.focus = replace(self.session.focus, pane=message.control.spec.name)

    def on_virtual_list_row_clicked(self, message: VirtualList.RowClicked) -> None:
        """Focus the row; a second click on it drills in."""
        pane = message.pane
        assert isinstance(pane, Pane)
        name, row = pane.spec.name, message.row

        def focus_row(snapshot: Snapshot, focus: Focus) -> Focus:
            return navigation.click(snapshot, replace(focus, pane=name), row)

        self.searching.stop()
        with self._acting():
            self.go(focus_row, jump=True)

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
        with self._acting():
            if message.purpose == "goto":
                self.go(partial(navigation.goto, target=message.text), jump=True)
            else:
                self.searching.begin(message.text)

    def on_returned(self, message: Returned) -> None:
        """Show what has been found meanwhile."""
        with self._acting():
            self.searching.returned(message.errand)
            if self._chain_finder.returned(message.errand):
                self.session.notify()

    # ---- Actions

    def action_act(self, action_id: str) -> None:
        """Do an action of the registry."""
        self.main.keys.hush()
        self._at = None  # whoever goes somewhere is not taken elsewhere
        if action_id in _SHOW_THE_BAD:
            self.session.live.announcement = ""
        if self.searching.under_way and action_id not in _SEARCHES:
            self.searching.stop()
            if action_id == "close_why":  # Escape ends the search alone
                self.main.keys.searching = ""
                self.main.keys.show()
                return
        with self._acting(by_moving=action_id not in ("follow", "pause")):
            self._do(BY_ID[action_id])

    def _do(self, action: Action) -> None:
        if action.rows is not None or action.pages is not None:
            self.go(partial(navigation.move, by=self._distance(action)), jump=False)
        elif action.navigate is not None:
            self.go(action.navigate, jump=action.jump)
        else:
            getattr(self._commands, f"do_{action.id}")()

    def _distance(self, action: Action) -> int:
        pane = self.main.panes[self.session.focus.pane]
        if action.rows is not None:
            return action.rows * pane.stride
        assert action.pages is not None
        return int(action.pages * max(1, pane.page_rows)) * pane.stride

    def go(self, navigate: Navigate, *, jump: bool) -> None:
        """Go where a function of navigation says.

        Args:
            navigate: The function, of a snapshot and a focus.
            jump: Whether `back` shall return from there.

        Raises:
            NowhereError: There is nothing to go to.
        """
        snapshot = self.session.snapshot
        if snapshot is None:
            return
        focus = navigate(snapshot, self.session.focus)
        if jump:
            self.session.jump(focus)
        else:
            self.session.focus = focus

    def pop_screen(self) -> AwaitComplete:
        """See Textual; a second key or click that reaches a screen as it closes does nothing."""
        return super().pop_screen() if len(self.screen_stack) > 1 else AwaitComplete()

    def action_command_palette(self) -> None:
        """See Textual."""
        from tfdbg_tui.tui.screens.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    async def action_quit(self) -> None:
        """See Textual: Ctrl+Q, and q where runs are chosen."""
        self._commands.do_quit()

    def action_help_quit(self) -> None:
        """See Textual: Ctrl+C on a screen that covers the panes."""
        self._commands.do_quit()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Offer all actions, and the themes, in the command palette."""
        for action in ACTIONS:
            keys = "  ".join(map(shown_key, self.keymap.keys(action)))
            told = f"{keys}: {action.help}" if keys else action.help
            label, told = self.charset.safe(action.label), self.charset.safe(told)
            yield SystemCommand(label, told, partial(self.action_act, action.id))
        yield SystemCommand("theme", "change the colours", self.action_change_theme)
