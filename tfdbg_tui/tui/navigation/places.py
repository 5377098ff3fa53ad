"""What is focused as a place that can be gone to later: as typed after ``:``, or as a command."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from tfdbg_tui.tui.panes import pane_named
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
