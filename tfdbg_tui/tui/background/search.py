"""A search: it goes on in a thread while the panes stay alive, and ends where the user moves on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from tfdbg_tui.query import searched
from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.background.tasks import Tasks
from tfdbg_tui.tui.panes import pane_named
from tfdbg_tui.tui.session.remap import is_same_run, remapped
from tfdbg_tui.tui.session.searched import Searched

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from textual.message import Message

    from tfdbg_tui.logdir import Run
    from tfdbg_tui.query import TextTerm
    from tfdbg_tui.tui.background.tasks import Task
    from tfdbg_tui.tui.panes.matching import Matches
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.session.snapshot import Snapshot

Outcome = tuple["Snapshot", "Focus"]
Counts = tuple[int, "int | None"]

T = TypeVar("T")


class Search:
    """Searches the focused pane's list, and counts what there is to be found.

    Args:
        session: Where to search from; the focus goes to what is found.
        post: Called from another thread with a message when something has been found.

    Attributes:
        text: What is searched for; "" before the first search.
    """

    def __init__(self, session: Session, post: Callable[[Message], object]) -> None:
        self.text = ""
        self._session = session
        self._tasks = Tasks(post)
        self._finding: Task[Outcome] | None = None
        self._counting: Task[Counts] | None = None
        self._counted: object = None  # what the counts that are shown, or on their way, are of
        self._known: _Known | None = None
        self._steps: list[int] = []
        self._before_typing: str | None = None
        self._before_answer: str | None = None  # as long as what was typed is being searched for

    @property
    def is_asked_for(self) -> bool:
        """Whether a text is being typed, or has to be corrected as nothing matches it."""
        return self._before_typing is not None

    @property
    def under_way(self) -> bool:
        """Whether something is being searched for."""
        return self._finding is not None

    def stop(self) -> None:
        """Give up what is being searched for."""
        self._finding = self._before_answer = None
        self._steps.clear()

    def close(self) -> None:
        """End the thread soon."""
        self._tasks.stop()

    def end(self) -> bool:
        """Show no longer what was found in the focused pane; False where nothing is shown."""
        shown = self._session.searched
        if shown is None or shown.pane != self._session.focus.pane:
            return False
        self._show_nothing()
        return True

    # ---- What is typed

    def begin_typing(self) -> None:
        """Note where the search begins."""
        self._session.keep()
        self._before_typing = self.text

    def typed(self, text: str) -> None:
        """Go to the first match of what has been typed so far, or back where there is none."""
        self._return()
        if text:
            self._look_for(text)
            self._send(1, inclusive=True)
        else:
            self._show_nothing()

    def answered(self, text: str) -> None:
        """Search for what has been typed; "" for giving up.

        Raises:
            NowhereError: No row matches: another text may follow.
        """
        self._return()
        before, self._before_typing = self._before_typing, None
        if not text:
            self.text = before or ""
            self._show_nothing()
            return
        self._look_for(text)
        self._before_answer = before
        self._send(1, inclusive=True)

    def _return(self) -> None:
        """Go back to where the search began, for all that was found while typing."""
        self.stop()
        if self._before_typing is not None:
            self._session.refine(self._session.kept)

    def _look_for(self, text: str) -> None:
        self.text = text
        self._session.searched = Searched(self._session.focus.pane, text, searched(text))

    def _show_nothing(self) -> None:
        self._session.searched = None
        self._session.notify()

    # ---- From match to match

    def go_on(self, step: int) -> None:
        """Go to the next (1) or previous (-1) match, or do so after the search under way.

        Raises:
            NowhereError: No row matches, or nothing has been searched for yet.
        """
        if not self.text:
            raise navigation.NowhereError("search with / first")
        shown = self._session.searched
        if shown is None or (shown.pane, shown.text) != (self._session.focus.pane, self.text):
            self._look_for(self.text)
        if self.under_way:
            self._steps.append(step)
        else:
            self._send(step, inclusive=False)

    def task_done(self, task: Task[Any]) -> bool:
        """Go to what has been found, or show how much there is, unless it is not wanted any more.

        Returns:
            Whether counts have been shown.

        Raises:
            NowhereError: No row matches.
        """
        if task is self._counting:
            self._take_counts(self._counting)
            return True
        if task is not self._finding:
            return False
        self._take_found(self._finding)
        return False

    def _take_found(self, task: Task[Outcome]) -> None:
        self._finding, before = None, self._session.focus
        before_answer, self._before_answer = self._before_answer, None
        try:
            self._arrive(*_result(task))
        except navigation.NowhereError as nowhere:
            self._steps.clear()
            if self._before_typing is None:
                self._before_typing = before_answer
                raise navigation.NowhereError(f"{nowhere}: {self.text}") from None
        finally:
            if self._session.focus == before:
                self._session.notify()  # of what is searched for now
        if self._steps:
            self._send(self._steps.pop(0), inclusive=False)

    def _send(self, step: int, *, inclusive: bool) -> None:
        snapshot, focus, shown = self._session.snapshot, self._session.focus, self._session.searched
        if snapshot is None or shown is None:
            return

        def find() -> Outcome:
            matches = self._matches(snapshot, focus, shown.term)
            return snapshot, navigation.search(
                snapshot, focus, matches, step=step, inclusive=inclusive
            )

        self._counted = self._counting = None  # finding goes first
        self._finding = self._tasks.start_work(find)
        if self._finding.done.is_set():
            self._take_found(self._finding)

    def _arrive(self, snapshot: Snapshot, focus: Focus) -> None:
        """Focus what was found in a snapshot, which may be an older state of the run."""
        now = self._session.snapshot
        if now is None or not is_same_run(snapshot.run, now.run):
            return
        focus = remapped(focus, snapshot.run, now.run)
        if self._before_typing is None:
            self._session.jump(focus)
        else:
            self._session.focus = focus

    def _matches(self, snapshot: Snapshot, focus: Focus, term: TextTerm) -> Matches:
        """Return the matches; called in the thread, which looks at a list once."""
        rows = pane_named(focus.pane).rows
        seen = rows.for_search(snapshot, focus)
        listing = focus.pane, rows.listing(snapshot, seen)
        known = self._known
        if known is None or not known.fits(snapshot.run, listing, term):
            known = _Known(snapshot.run, listing, term, rows.matches(snapshot, seen, term))
            self._known = known
        return known.matches

    # ---- How much there is

    def look(self) -> None:
        """Have counted what the search finds in the list as it is now."""
        snapshot, focus, shown = self._session.snapshot, self._session.focus, self._session.searched
        if snapshot is None or shown is None or self.under_way:
            return
        rows = pane_named(shown.pane).rows
        focus = replace(rows.for_search(snapshot, focus), pane=shown.pane)
        row = rows.position(snapshot, focus)
        wanted = snapshot.run, rows.listing(snapshot, focus), shown.term, row
        if self._counted is not None and self._counted == wanted:
            return
        self._counted = wanted

        def count() -> Counts:
            matches = self._matches(snapshot, focus, shown.term)
            return matches.total(), None if row is None else matches.number(row)

        self._counting = self._tasks.start_work(count)
        if self._counting.done.is_set():
            self._take_counts(self._counting)

    def _take_counts(self, task: Task[Counts]) -> None:
        self._counting = None
        total, number = _result(task)
        shown = self._session.searched
        if shown is not None:
            self._session.searched = replace(shown, total=total, number=number)


@dataclass(frozen=True, slots=True)
class _Known:
    """The matches of a search in a list of a run."""

    run: Run
    listing: Hashable
    term: TextTerm
    matches: Matches

    def fits(self, run: Run, listing: Hashable, term: TextTerm) -> bool:
        return self.run is run and (self.listing, self.term) == (listing, term)


def _result(task: Task[T]) -> T:
    """Return what came of a task.

    Raises:
        NowhereError: Nothing; the message says why.
    """
    try:
        return task.result()
    except navigation.NowhereError:
        raise
    except Exception as error:  # a file that cannot be read any more, for example
        raise navigation.NowhereError(f"the search cannot go on: {error}") from error
