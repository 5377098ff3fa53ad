"""Asks the dump writer of a running program to record otherwise: by a small file in its logdir."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import location_of, name_of
from tfdbg_tui.storage import urls
from tfdbg_tui.tui.navigation import chosen_tensor
from tfdbg_tui.user_files import write_whole
from tfdbg_tui.wire import omissions
from tfdbg_tui.wire.control import Control, control_path, decode, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis import TensorEvent
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.tui.session.session import Session


_RECORD_AGAIN = "record again with --tensor-debug-mode FULL_TENSOR"


class CannotAskError(Exception):
    """Nobody would do what is asked for; the message says why in one sentence."""


class ProgramRecording:
    """How the program of the run that is shown is asked to record.

    Args:
        session: What is shown.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def about_missing_values(self, event: TensorEvent) -> str:
        """Return that the elements of a tensor are not on record, and what to do about it."""
        try:
            run = self._run()
            is_asked_for = _name(run, event) in _asked(run).values_of
        except CannotAskError:
            return f"values not recorded: {_RECORD_AGAIN}"
        if is_asked_for:
            return "values recorded since X was pressed: V, G and Enter go to the newest"
        return f"values not recorded: X records them from now on, or {_RECORD_AGAIN}"

    def switch(self) -> str:
        """Switch recording off, or on again; return what has been done.

        Raises:
            CannotAskError: No program would do so.
        """
        run = self._run()
        wanted = _asked(run)
        # It may be off though nobody beside the program has asked for it.
        wanted = replace(wanted, recording=run.is_paused or not wanted.recording)
        _ask(run, wanted)
        if not wanted.recording:
            return "recording is off, until you switch it"
        if run.pause_reason in ("", omissions.BY_THE_USER):
            return "recording goes on"
        return f"recording goes on, without a limit, though {run.pause_reason}"

    def switch_values(self) -> str:
        """Have the elements of the focused tensor recorded, or no longer; return what was done.

        Raises:
            CannotAskError: No tensor is focused, or no program would do so.
        """
        run = self._run()
        snapshot = self._session.snapshot
        event = chosen_tensor(snapshot, self._session.focus) if snapshot else None
        if event is None:
            raise CannotAskError("no tensor is focused")
        wanted, name = _asked(run), _name(run, event)
        is_on = name not in wanted.values_of
        others = tuple(other for other in wanted.values_of if other != name)
        _ask(run, replace(wanted, values_of=(*others, name) if is_on else others))
        recorded = "recorded from now on" if is_on else "no longer recorded"
        return f"{name}: its elements are {recorded}"

    def _run(self) -> Run:
        if self._session.snapshot is None:
            raise CannotAskError("no run is shown")
        run = self._session.snapshot.run
        if not run.files.is_of_our_writer or urls.is_known(run.files.directory):
            raise CannotAskError("only a program that tfdbg-tui records on this machine can do so")
        if run.state.ended or run.state.writing is False:
            raise CannotAskError("the program has ended")
        return run


def _directories(run: Run) -> Sequence[str]:
    """Return where the processes of a run write."""
    return list(dict.fromkeys(os.path.dirname(files.prefix) for files in run.files.file_sets))


def _asked(run: Run) -> Control:
    """Return what the program was asked for last."""
    with contextlib.suppress(OSError, ValueError), open(control_path(_directories(run)[0])) as file:
        return decode(file.read(), run.files.run_id or "") or Control()
    return Control()


def _ask(run: Run, wanted: Control) -> None:
    for directory in _directories(run):
        try:
            if os.stat(directory).st_uid != os.getuid():
                raise CannotAskError(f"{directory} belongs to another user, as the program may")
            write_whole(control_path(directory), encode(wanted, run.files.run_id or ""))
        except OSError as error:
            raise CannotAskError(f"{directory}: {error.strerror}") from None


def _name(run: Run, event: TensorEvent) -> str:
    """Return how the writer knows a tensor again: of an eager op, the line that runs it."""
    if event.kind == "graph_execution":
        return name_of(run, event)
    location = location_of(run, int(run.executions.stack_ids[event.index]))
    if location is None:
        raise CannotAskError("which line has made that tensor is not on record")
    return f"{location.file}:{location.line}"
