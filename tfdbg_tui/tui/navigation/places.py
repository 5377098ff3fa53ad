"""What is focused as a place that can be gone to later: as typed, as a command, or as left."""

from __future__ import annotations

import contextlib
import os
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation.asking_why import close_why
from tfdbg_tui.tui.navigation.finding import goto
from tfdbg_tui.tui.panes import pane_named
from tfdbg_tui.tui.panes.rows import place_of_event
from tfdbg_tui.tui.session.focusing import focused_event
from tfdbg_tui.tui.session.last_view import LastView
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def place_of(snapshot: Snapshot, focus: Focus) -> str:
    """Return the focused place, as it is typed after ``:``.

    Raises:
        NowhereError: Nothing is focused.
    """
    place = pane_named(focus.pane).rows.place(snapshot, focus)
    if not place:
        raise NowhereError("nothing is focused here")
    return place


def link_to(snapshot: Snapshot, focus: Focus) -> str:
    """Return the command that opens the app on the focused place.

    Raises:
        NowhereError: Nothing is focused.
    """
    files = snapshot.run.files
    directory = files.directory
    if "://" not in directory:
        directory = os.path.abspath(directory)
    place = place_of(snapshot, focus)
    return shlex.join(["tfdbg-tui", directory, "--run", files.label, "--at", place])


def view_of(snapshot: Snapshot, focus: Focus) -> LastView:
    """Return what there is to remember of what is shown, Why and its panes apart."""
    focus = close_why(snapshot, focus)
    event = focused_event(snapshot, focus)
    places = [place_of_event(event)] if event else []
    with contextlib.suppress(NowhereError):  # an op without a tensor on record
        places.append(place_of(snapshot, focus))
    return LastView(
        pane=focus.pane,
        places=tuple(dict.fromkeys(places)),
        filters=focus.filters,
        sorts=focus.sorts,
        in_time=focus.in_time,
    )


def restored(snapshot: Snapshot, focus: Focus, view: LastView) -> Focus:
    """Return the focus on what was shown last.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        view: What was shown.

    Raises:
        NowhereError: It is not there, or not yet.
    """
    for place in view.places:
        focus = goto(snapshot, focus, place)
    event = focused_event(snapshot, focus)
    if event is not None and snapshot.is_bad(event):
        focus = replace(focus, alert=event)
    focus = replace(focus, filters=view.filters, sorts=view.sorts, in_time=view.in_time)
    return replace(focus, pane=view.pane)
