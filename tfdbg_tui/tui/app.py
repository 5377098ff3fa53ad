"""The app: it wires what reads, shows and acts together, and has no logic of its own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import SystemCommand
from textual.await_complete import AwaitComplete
from textual.events import Key
from textual.filter import ANSIToTruecolor

from tfdbg_tui.logdir.several import common_path
from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.actions.keymap import Keymap
from tfdbg_tui.tui.actions.keys import shown_key
from tfdbg_tui.tui.actions.registry import ACTIONS, BY_ID
from tfdbg_tui.tui.background.chain_finder import ChainFinder
from tfdbg_tui.tui.background.diagnoser import Diagnosed, Diagnoser
from tfdbg_tui.tui.background.filtering import Filtering
from tfdbg_tui.tui.background.job_reader import JobReader, JobsRead
from tfdbg_tui.tui.background.loader import (
    FAST,
    SLOW,
    Loaded,
    Loader,
    NewRun,
    ProcessesFound,
    RunsFound,
    Waiting,
)
from tfdbg_tui.tui.background.search import Search
from tfdbg_tui.tui.background.sorting import Sorting
from tfdbg_tui.tui.background.tree_finder import TreeFinder
from tfdbg_tui.tui.control.actor import Actor
from tfdbg_tui.tui.control.arrivals import Arrivals
from tfdbg_tui.tui.control.commands import Commands
from tfdbg_tui.tui.control.jobs import Jobs
from tfdbg_tui.tui.control.last_views import LastViews
from tfdbg_tui.tui.control.navigator import Navigator
from tfdbg_tui.tui.control.parts import Parts
from tfdbg_tui.tui.control.runs import Runs
from tfdbg_tui.tui.panes import PANES, graph_structure, timeline
from tfdbg_tui.tui.panes.base import Pane
from tfdbg_tui.tui.screens.main import MainScreen
from tfdbg_tui.tui.session.session import OPENING, Session
from tfdbg_tui.tui.terminal import theme
from tfdbg_tui.tui.terminal.animator import AtOnce
from tfdbg_tui.tui.terminal.garbage import PAUSE_SECONDS, Garbage
from tfdbg_tui.tui.terminal.pace import PacedApp
from tfdbg_tui.tui.terminal.signals import end_on_signals
from tfdbg_tui.tui.terminal.text import UNICODE, Charset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from textual.events import Event
    from textual.filter import LineFilter
    from textual.screen import Screen

    from tfdbg_tui.program import Program
    from tfdbg_tui.tui.background.tasks import TaskDone
    from tfdbg_tui.tui.bars.key_bar import KeyBar
    from tfdbg_tui.tui.bars.overview_bar import OverviewBar
    from tfdbg_tui.tui.bars.pane_bar import PaneBar
    from tfdbg_tui.tui.widgets.prompt import Prompt
    from tfdbg_tui.tui.widgets.virtual_list import VirtualList

_TICK_SECONDS = 1.0  # between two looks at the clock: how long nothing has come
_WITHOUT_RUN = ("quit", "suspend", "help", "palette", "redraw")
"""Actions that do not wait until it is known what there is to show."""


class TfdbgApp(PacedApp):
    """The debugger on one logdir, or several.

    Args:
        logdirs: The directories.
        run: Label of the run to open; None to choose where there are several.
        at: What to go to first, as typed after ``:``.
        fresh: Whether to open on the first root, rather than where the run was left.
        follow: Whether to stay on the newest event, and to go to newer runs.
        until_bad: Whether to stop following, and go to the root, when something is bad.
        bell: Whether to ring the terminal's bell when something is bad for the first time.
        slow: Whether the terminal is far away, or slow: fewer updates then.
        program: The program that writes the logdir, where this debugger starts it.
        charset: The characters to draw with.
        keymap: The keys; None for those of the actions themselves.
        theme_name: The theme to start with.
        digit_seconds: How long a digit waits for a motion, before it chooses a pane.
        pane_sizes: The usual sizes of panes; see `Grid`.
    """

    CSS_PATH = "app.tcss"
    TITLE = "tfdbg-tui"
    ESCAPE_TO_MINIMIZE = False
    ALLOW_SELECT = False  # there is no key to copy a selection; c copies what is focused

    def __init__(
        self,
        *logdirs: str,
        run: str | None = None,
        at: str | None = None,
        fresh: bool = False,
        follow: bool = False,
        until_bad: bool = False,
        bell: bool = False,
        slow: bool = False,
        program: Program | None = None,
        charset: Charset = UNICODE,
        keymap: Keymap | None = None,
        theme_name: str = theme.DARK.name,
        digit_seconds: float = 0.0,
        pane_sizes: Mapping[str, tuple[int, ...]] | None = None,
    ) -> None:
        # Textual decides how to leave out colours (NO_COLOR) before it knows the theme.
        super().__init__(ansi_color=True if theme_name == theme.WITHOUT_COLOR else None)
        for known in theme.THEMES:
            self.register_theme(known)
        self.theme = theme_name
        self.animation_level = "none"
        self._animator = AtOnce(self)
        self.session = Session(navigation.settle, PANES[0].name)
        if follow:
            self.session.follow(True)
        self.session.recording.program = program
        keymap = keymap or Keymap()
        self.set_keymap(keymap.for_textual())
        self._at_once = {key for name in _WITHOUT_RUN for key in keymap.keys(BY_ID[name])}
        self._garbage = Garbage()
        self._early: list[Key] = []  # keys that wait until it is known what there is to show
        loader = Loader(
            logdirs,
            run,
            self.post_message,
            newest=follow,
            interval=SLOW if slow else FAST,
            ready=self.pace.is_ready,
        )
        self.parts = Parts(
            app=self,
            logdirs=logdirs,
            charset=charset,
            keymap=keymap,
            session=self.session,
            main=MainScreen(self.session, charset, keymap, common_path(logdirs), pane_sizes),
            loader=loader,
            diagnoser=Diagnoser(self.post_message),
            job_reader=JobReader(self.post_message),
            search=Search(self.session, self.post_message),
            chain_finder=ChainFinder(self.session, self.post_message),
            tree_finder=TreeFinder(self.session, self._shows_tree, self.post_message),
            filtering=Filtering(self.session, self.post_message),
            sorting=Sorting(self.session, self.post_message),
        )
        self._navigator = Navigator(self.parts, at)
        self._runs = Runs(self.parts, run)
        self._jobs = Jobs(self.parts, self._navigator)
        self._commands = Commands(self.parts, self._navigator, self._runs)
        self._actor = Actor(self.parts, self._navigator, self._commands, digit_seconds)
        self.parts.main.digit_typed = self._actor.counts.typed
        self._last_views = LastViews(self.parts, self._navigator, fresh=fresh)
        self._arrivals = Arrivals(
            self.parts, self._navigator, self._last_views, until_bad=until_bad, bell=bell
        )
        self.session.listen(self._jobs.look)
        self.session.listen(self._navigator.find_chain)
        self.session.listen(self._navigator.find_filtered)
        self.session.listen(self._navigator.sort_lists)
        self.session.listen(self._navigator.choose_listed)
        self.session.listen(self._navigator.find_tree)
        self.session.listen(self._navigator.count_matches)

    def _shows_tree(self) -> bool:
        return self.parts.main.shows(graph_structure.SPEC.name)

    def get_default_screen(self) -> Screen[Any]:
        """See Textual."""
        return self.parts.main

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
            self.set_interval(_TICK_SECONDS, self._garbage.look)
        self.set_class(self.parts.charset.ascii_only, "-ascii")
        self.set_class(self.theme == theme.WITHOUT_COLOR, "-without-color")
        self.set_interval(_TICK_SECONDS, self._arrivals.tick)
        self.parts.loader.start()
        self.parts.diagnoser.start()
        self.parts.job_reader.start()

    def on_unmount(self) -> None:
        """Stop reading, and remember where the user was, unless that is where a defect is."""
        if self.defect is None:
            self._last_views.keep()
        self.parts.loader.stop()
        self.parts.diagnoser.stop()
        self.parts.job_reader.stop()
        self.parts.search.close()
        self.parts.chain_finder.close()
        self.parts.tree_finder.close()
        self.parts.filtering.close()
        self.parts.sorting.close()

    @property
    def defect(self) -> Exception | None:
        """The error that has ended the app, where one has."""
        return self._exception

    def _fatal_error(self) -> None:
        """See Textual, which shows what the methods around an error hold: that may be gigabytes."""
        self._close_messages_no_wait()

    # ---- Messages

    async def on_event(self, event: Event) -> None:
        """See Textual; what a key does is done before the next key is looked at.

        That one may be for the line to type into, or the box, that this one opens.  Where such a
        line has the keyboard, keys wait for one another there.
        """
        if isinstance(event, Key) and not self.is_headless:
            self._garbage.touched()
            self.set_timer(PAUSE_SECONDS, self._garbage.look)
        if isinstance(event, Key) and self._is_escape_and_key(event):
            await self.on_event(Key("escape", None))
            await self.on_event(Key(event.character or "", event.character))
        elif isinstance(event, Key) and self._is_opening() and event.key not in self._at_once:
            self._early.append(event)
        elif isinstance(event, Key) and not event.is_forwarded and self._has_keys_itself():
            if self.screen is self.parts.main and self.parts.main.takes(event):
                return
            done = await self._check_bindings(event.key, priority=True)
            if not (done or await self._check_bindings(event.key)):
                await super().on_event(event)  # the screen may say that the key does nothing there
        else:
            await super().on_event(event)

    def _is_escape_and_key(self, event: Key) -> bool:
        """Whether an Alt key that has no action may be Escape and a key typed soon after it.

        A terminal sends the same for both; tmux takes half a second for soon, where it is not told
        otherwise, and a slow line sends both at once.
        """
        return (
            event.key.startswith("alt+")
            and event.is_printable
            and not event.is_forwarded
            and bool(self.screen_stack)
            and event.key not in self.screen.active_bindings
        )

    def _is_opening(self) -> bool:
        """Whether it is not known yet what there is to show: a run, several, or none."""
        session = self.session
        is_unknown = session.snapshot is None and session.waiting == OPENING
        return is_unknown and self.screen_stack[-1:] == [self.parts.main]

    async def _do_early_keys(self) -> None:
        """Do what has been typed before it was known what there is to show."""
        early, self._early = self._early, []
        for key in early:
            await self.on_event(key)

    def _has_keys_itself(self) -> bool:
        """Whether keys are for the screen, and not for a widget on it."""
        (screen,) = self.screen_stack[-1:] or (None,)
        return screen is not None and screen.is_mounted and screen.focused is None

    async def on_loaded(self, message: Loaded) -> None:
        """See `Arrivals`."""
        self.pace.grow()
        self._arrivals.loaded(message.snapshot)
        await self._do_early_keys()

    def on_diagnosed(self, message: Diagnosed) -> None:
        """See `Arrivals`."""
        self._arrivals.diagnosed(message)

    async def on_waiting(self, message: Waiting) -> None:
        """See `Arrivals`."""
        self._arrivals.waiting(message.reason)
        await self._do_early_keys()

    def on_new_run(self, message: NewRun) -> None:
        """See `Runs`."""
        self._runs.begun(message.files)

    async def on_runs_found(self, message: RunsFound) -> None:
        """See `Runs`."""
        await self._runs.choose(message.runs)
        await self._do_early_keys()

    def on_processes_found(self, message: ProcessesFound) -> None:
        """See `Jobs`."""
        self._jobs.found(message.processes, message.unlisted)

    def on_jobs_read(self, message: JobsRead) -> None:
        """See `Jobs`."""
        self._jobs.read(message)

    def on_task_done(self, message: TaskDone) -> None:
        """See `Navigator`; a search that nothing matches is asked for again, to be corrected.

        What is found as the app ends is not asked for any more.
        """
        if not self.parts.main.is_attached:
            return
        self._navigator.task_done(message)
        if self.parts.search.is_asked_for:
            self._commands.correct_search()

    def on_virtual_list_touched(self, message: VirtualList.Touched) -> None:
        """Go to a pane that was clicked on; lists in boxes over the panes are none."""
        if isinstance(message.control, Pane):
            self._navigator.touch(message.control.spec.name)

    def on_virtual_list_row_clicked(self, message: VirtualList.RowClicked) -> None:
        """See `Navigator`."""
        if isinstance(message.pane, Pane):
            self._navigator.click(message.pane.spec.name, message.row)

    def on_virtual_list_title_clicked(self, message: VirtualList.TitleClicked) -> None:
        """See `Navigator`."""
        if isinstance(message.pane, Pane):
            self._navigator.click_title(message.pane.spec.name, message.title)

    def on_pane_bar_chosen(self, message: PaneBar.Chosen) -> None:
        """Go to the pane of a tab."""
        self._navigator.show_pane(message.pane)

    def on_overview_bar_chosen(self, message: OverviewBar.Chosen) -> None:
        """Go to the execution."""
        self._navigator.click(timeline.SPEC.name, message.row)

    def on_key_bar_pressed(self, message: KeyBar.Pressed) -> None:
        """Do what the label says."""
        self.action_act(message.action_id)

    async def on_prompt_answered(self, message: Prompt.Answered) -> None:
        """Search, filter, or go there; what cannot be done stays there, to be corrected."""
        from tfdbg_tui.tui.widgets.prompt import Prompt

        if self._navigator.answer(message):
            await self.query("Prompt, Candidates").remove()
            self.parts.main.keys.ask("")
        else:
            for prompt in self.query(Prompt):  # none where the app ends
                prompt.ask_again()

    async def on_prompt_key_after_answer(self, message: Prompt.KeyAfterAnswer) -> None:
        """Do what the key does in the panes."""
        await self.on_event(Key(message.key, message.character))

    def on_prompt_typed(self, message: Prompt.Typed) -> None:
        """See `Navigator`."""
        self.parts.main.keys.hush()
        self._navigator.typed(message)

    # ---- Actions

    def action_act(self, action_id: str) -> None:
        """Do an action of the registry; keys that still come as the app ends do nothing."""
        if self.parts.main.is_attached:
            self._actor.act(action_id)

    def pop_screen(self) -> AwaitComplete:
        """See Textual; a second key or click that reaches a screen as it closes does nothing."""
        return super().pop_screen() if len(self.screen_stack) > 1 else AwaitComplete()

    def action_command_palette(self) -> None:
        """See Textual; without its id, which a palette has until it has closed."""
        from tfdbg_tui.tui.screens.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(placeholder="a part of a name"))

    def search_themes(self) -> None:
        """See Textual."""
        from textual.theme import ThemeProvider

        from tfdbg_tui.tui.screens.palette import Palette

        self.push_screen(Palette(providers=[ThemeProvider], placeholder="a part of a name"))

    async def action_quit(self) -> None:
        """See Textual: Ctrl+Q, and q where runs are chosen."""
        self._commands.do_quit()

    def action_help_quit(self) -> None:
        """See Textual: Ctrl+C on a screen that covers the panes."""
        self._commands.do_quit()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Offer all actions, and the themes, in the command palette."""
        safe = self.parts.charset.safe
        for action in ACTIONS:
            keys = "  ".join(map(shown_key, self.parts.keymap.keys(action)))
            told = f"{keys}: {action.help}" if keys else action.help
            label, told = safe(action.label), safe(told)
            yield SystemCommand(label, told, partial(self.action_act, action.id))
        yield SystemCommand("theme", "change the colours", self.action_change_theme)
