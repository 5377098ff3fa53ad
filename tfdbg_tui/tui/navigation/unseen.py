"""What an action has changed in panes that are not on screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import file_name, name_of
from tfdbg_tui.tui.panes import pane_named
from tfdbg_tui.tui.panes.listing import pane_of_subject
from tfdbg_tui.tui.session.focusing import focused_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

_WITH_LINES = ("source_code", "stack_trace")


def unseen_change(
    snapshot: Snapshot, before: Focus, after: Focus, is_shown: Callable[[str], bool]
) -> str:
    """Say what has changed where it is not seen; "" for nothing.

    Args:
        snapshot: What is shown.
        before: What was focused.
        after: What is focused.
        is_shown: Whether a pane is on screen, by its name.
    """
    for pane, change in _changes_of_lists(before, after):
        if not is_shown(pane):
            return f"{pane_named(pane).title}: {change}"
    if focused_event(snapshot, after) != focused_event(snapshot, before):
        return "" if _shows_tensor(snapshot, after, is_shown) else _in_words(snapshot, after)
    if after.place != before.place and after.place and not any(map(is_shown, _WITH_LINES)):
        return f"{file_name(after.place.path)}:{after.place.line}"
    return ""


def _shows_tensor(snapshot: Snapshot, focus: Focus, is_shown: Callable[[str], bool]) -> bool:
    """Whether the focused tensor is on screen: see `in_view`."""
    spec = pane_named(focus.pane)
    if spec.answers_why or (spec.rows.LISTS_EVENTS and spec.rows.count(snapshot, focus)):
        return True
    return any(map(is_shown, (pane_of_subject(focus), "graph_structure")))


def _in_words(snapshot: Snapshot, focus: Focus) -> str:
    event = focused_event(snapshot, focus)
    if event is None:
        return ""
    step = snapshot.step_text(event)
    return f"{name_of(snapshot.run, event)}, {step}" if step else name_of(snapshot.run, event)


def _changes_of_lists(before: Focus, after: Focus) -> Iterator[tuple[str, str]]:
    """Yield the panes that list something else now, and what."""
    if after.library_frames != before.library_frames:
        frames = "unfolded" if after.library_frames else "folded"
        yield "stack_trace", f"library frames are {frames}"
    if after.in_time != before.in_time:
        yield "alerts", "in order of time" if after.in_time else "by root"
    if after.bad_branches != before.bad_branches:
        kept = "only what leads to NaN and ∞" if after.bad_branches else "all branches"
        yield "graph_structure", kept
    for pane in {pane for pane, _ in (*before.filters, *after.filters)}:
        text = after.filter_of(pane)
        if text != before.filter_of(pane):
            yield pane, f"only {text}" if text else "all rows"
