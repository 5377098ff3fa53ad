"""Going somewhere: by a key, a click, a typed destination, or as the command line says."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.control.marks import Marks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfdbg_tui.logdir import RunFiles
    from tfdbg_tui.tui.actions.registry import Navigate
    from tfdbg_tui.tui.background.tasks import TaskDone
    from tfdbg_tui.tui.control.parts import Parts
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.widgets.prompt import Prompt, Purpose

_ANSWERS = 100  # remembered of each prompt
_ANY = ("", "")  # in place of a run: before any has been read


class Navigator:
    """Moves the focus, and says so where there is nothing to go to.

    Args:
        parts: The app.
        target: Where the command line says to go, as typed after ``:``; None for nowhere.

    Attributes:
        answers: What has been typed, of each prompt, the newest last.
        marks: The marks of the run.
    """

    def __init__(self, parts: Parts, target: str | None) -> None:
        self._parts = parts
        self._session = parts.session
        self._target = None if target is None else _going_to(target)
        self._target_run = _ANY
        self._touched: tuple[str, str] | None = None if target is None else _ANY
        self._waits_for_root: Callable[[Snapshot], None] | None = None
        self._is_new_pane = False  # whether the mouse was pressed last on a pane without the keys
        self.marks = Marks(parts)
        self.answers: dict[Purpose, list[str]] = {
            "search": [],
            "goto": [],
            "filter": [],
            "sort": [],
            "mark": [],
            "to_mark": [],
        }

    @contextlib.contextmanager
    def acting(self, *, by_moving: bool = True) -> Iterator[None]:
        """Do something for the user: say so where it leads nowhere.

        Args:
            by_moving: Whether that ends following, where it has led elsewhere.
        """
        before = self._session.focus
        try:
            yield
        except navigation.NowhereError as nowhere:
            self._parts.say(str(nowhere))
        session, keys = self._session, self._parts.main.keys
        if by_moving and session.following and self._looks_elsewhere(before):
            session.follow(False)
        keys.searching = self._parts.search.text if self._parts.search.under_way else ""
        keys.show()

    def _looks_elsewhere(self, before: Focus) -> bool:
        snapshot, focus = self._session.snapshot, self._session.focus
        return snapshot is not None and navigation.looks_elsewhere(snapshot, before, focus)

    def tell_unseen(self, before: Focus) -> None:
        """Say what has changed since where that is not on screen."""
        snapshot, focus = self._session.snapshot, self._session.focus
        if snapshot is not None:
            told = navigation.unseen_change(snapshot, before, focus, self._parts.main.shows)
            if told:
                self._parts.say(self._parts.charset.safe(told))

    def go(self, navigate: Navigate, *, jump: bool) -> None:
        """Go where a function of navigation says.

        Args:
            navigate: The function, of a snapshot and a focus.
            jump: Whether `back` shall return from there.

        Raises:
            NowhereError: There is nothing to go to.
        """
        snapshot = self._session.snapshot
        if snapshot is None:
            return
        focus = navigate(snapshot, self._session.focus)
        if jump:
            self._session.jump(focus)
        else:
            self._session.focus = focus

    def go_to_target(self, *, complete: bool) -> bool:
        """Go to what the command line names, as soon as it has been read.

        And again when all has been read: what caused a tensor may be known only then.

        Args:
            complete: Whether all has been read.

        Returns:
            Whether the command line names anything that has not been gone to before.
        """
        if self._target is None or self._target_run not in (_ANY, self._run()):
            return False
        target = self._target
        with self.acting():
            try:
                self.go(target, jump=True)
            except navigation.NowhereError:
                if not complete:
                    return True
                self._target = None
                raise
            if complete:
                self._target = None
        return True

    def drop_target(self) -> None:
        """Stay: the user goes somewhere else."""
        self._target = None
        self._touched = self._run()
        self._waits_for_root = None

    def wait_for_root(self) -> None:
        """Go on to the first root when it is known, unless the user goes somewhere else."""
        self._target = self._touched = None
        self._waits_for_root = self._say_what_it_is
        self._parts.say("the first alert in time: the run is being diagnosed, its root follows")

    def ask_why_of_root(self) -> None:
        """Show why the first root is bad when it is known, unless the user goes somewhere else."""
        self._touched = None
        self._waits_for_root = self._ask_why
        self._parts.say("the run is being diagnosed: why its first root is bad follows")

    @property
    def is_untouched(self) -> bool:
        """Whether the user has gone nowhere in this run, and follows nothing."""
        return self._touched not in (_ANY, self._run()) and not self._session.following

    def open_on_root(self) -> None:
        """Go to the first root of a run, where the user has gone nowhere, and follows nothing."""
        if not self.is_untouched:
            return
        self.go(navigation.open_on_root, jump=False)
        waits, self._waits_for_root = self._waits_for_root, None
        snapshot = self._session.snapshot
        if waits is not None and snapshot is not None:
            waits(snapshot)

    def _say_what_it_is(self, snapshot: Snapshot) -> None:
        """Say what the diagnosis has led to."""
        report = snapshot.explanation.report if snapshot.explanation else None
        if report is not None and report.roots:
            self._parts.say("diagnosed: this is the first root")
        elif report is not None and report.suspects:
            self._parts.say("diagnosed: nothing is bad, this is the first suspect")
        else:
            self._parts.say("diagnosed: no tensor with NaN or ∞ has been recorded")

    def _ask_why(self, snapshot: Snapshot) -> None:
        """Show why the root is bad, and stay there; or say that there is none."""
        if snapshot.explanation is None or snapshot.explanation.first is None:
            self._say_what_it_is(snapshot)
            return
        self._parts.main.keys.hush()
        self.drop_target()
        self.go(navigation.why, jump=True)

    def aim(self, navigate: Navigate, files: RunFiles) -> None:
        """Go where a function of navigation says in a run, as soon as that has been read."""
        self._target, self._target_run, self._touched = navigate, files.identity, _ANY

    def _run(self) -> tuple[str, str]:
        snapshot = self._session.snapshot
        return snapshot.run.files.identity if snapshot else _ANY

    def show_pane(self, pane: str) -> None:
        """Go to a pane."""
        with self.acting():
            self.go(partial(navigation.show_pane, pane=pane), jump=False)

    def touch(self, pane: str) -> None:
        """Go to a pane on which the mouse is pressed."""
        self._is_new_pane = pane != self._session.focus.pane
        self.show_pane(pane)

    def click(self, pane: str, row: int) -> None:
        """Focus a row of a pane; a second click on it drills in, but none that chooses the pane."""
        click = navigation.move_to if self._is_new_pane else navigation.click

        def focus_row(snapshot: Snapshot, focus: Focus) -> Focus:
            return click(snapshot, replace(focus, pane=pane), row)

        self.drop_target()
        self._parts.search.stop()
        with self.acting():
            self.go(focus_row, jump=True)

    def click_title(self, pane: str, title: str) -> None:
        """Do what a click on a title of a pane does."""
        self.drop_target()
        self.show_pane(pane)
        with self.acting():
            self.go(partial(navigation.click_title, title=title), jump=False)

    def begin_filter(self) -> str:
        """Note the filter that there is, for who gives up typing another; return it."""
        self._session.keep()
        focus = self._session.focus
        return focus.filter_of(navigation.pane_to_filter(focus))

    def typed(self, typed: Prompt.Typed) -> None:
        """Show what a filter selects, or a search finds, as it is typed."""
        if typed.purpose == "search":
            self._parts.search.typed(typed.text)
        elif typed.purpose == "filter":
            with contextlib.suppress(navigation.NowhereError):
                self._session.focus = navigation.set_filter(self._session.focus, typed.text)

    def answer(self, answered: Prompt.Answered) -> bool:
        """Search for what has been typed, list only that, or go there.

        Returns:
            Whether nothing more is asked for: False for a text that has to be corrected.
        """
        if answered.text:
            self._remember(answered.purpose, answered.text)
        with self.acting():
            self._do_answer(answered)
            return True
        return answered.purpose == "to_mark"  # of a letter there is nothing to correct

    def _do_answer(self, answered: Prompt.Answered) -> None:
        text, command = answered.text, answered.text.split(maxsplit=1)[:1]
        if answered.purpose == "filter":
            self._end_filter(answered)
        elif answered.purpose == "sort":
            if not answered.given_up:
                self.go(partial(navigation.sort_by, column=text), jump=False)
        elif answered.purpose == "mark":
            self.marks.set(text)
        elif answered.purpose == "to_mark":
            if text:
                self.go(_going_to(self.marks.place(text[0])), jump=True)
        elif answered.purpose == "search":
            self._parts.search.answered(text)
        elif command == ["filter"]:
            text = text.strip().removeprefix("filter")
            self.go(lambda _, focus: navigation.set_filter(focus, text), jump=True)
        elif text:
            self.go(_going_to(text), jump=True)

    def _remember(self, purpose: Purpose, text: str) -> None:
        others = [answer for answer in self.answers[purpose] if answer != text]
        self.answers[purpose] = [*others[-_ANSWERS:], text]

    def _end_filter(self, answered: Prompt.Answered) -> None:
        self._session.focus = self._session.kept
        if not answered.given_up:
            self.go(lambda _, focus: navigation.set_filter(focus, answered.text), jump=True)

    def find_filtered(self) -> None:
        """Have what filters select found, before anything shows the session."""
        try:
            self._parts.filtering.look()
        except navigation.NowhereError as nowhere:
            self._parts.say(str(nowhere))

    def sort_lists(self) -> None:
        """Have lists sorted, before anything shows the session."""
        try:
            self._parts.sorting.look()
        except navigation.NowhereError as nowhere:
            self._parts.say(str(nowhere))

    def choose_listed(self) -> None:
        """Choose a row of a list that has been filtered or sorted, before anything shows it."""
        if self._session.snapshot is not None:
            chosen = navigation.choose_listed(self._session.snapshot, self._session.focus)
            self._session.refine(chosen)

    def find_chain(self) -> None:
        """Have the chain found that Why is to show, before anything shows the session."""
        try:
            self._parts.chain_finder.look()
        except navigation.NowhereError as nowhere:
            self._parts.say(str(nowhere))

    def find_tree(self) -> None:
        """Have the tree found that is to be shown, before anything shows the session."""
        try:
            self._parts.tree_finder.look()
        except navigation.NowhereError as nowhere:
            self._parts.say(str(nowhere))

    def count_matches(self) -> None:
        """Have counted what a search finds, before anything shows the session."""
        try:
            self._parts.search.look()
        except navigation.NowhereError as nowhere:
            self._parts.say(str(nowhere))

    def task_done(self, message: TaskDone) -> None:
        """Show what has been found meanwhile."""
        with self.acting():
            if self._parts.search.task_done(message.task):
                self._session.notify()
            if self._parts.filtering.task_done(message.task):
                self._session.notify()
            if self._parts.sorting.task_done(message.task):
                self._session.notify()
            if self._parts.chain_finder.task_done(message.task):
                self._session.notify()
            if self._parts.tree_finder.task_done(message.task):
                self._session.notify()


def _going_to(target: str) -> Navigate:
    """Return a function that goes to what has been typed after ``:``."""
    return partial(navigation.goto, target=target)
