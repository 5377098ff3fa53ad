"""One enabled dump: its files, from when to when it records, and what is asked of it meanwhile."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from tfdbg_tui.dump.observe import row_queue
from tfdbg_tui.dump.program_listener import ProgramListener
from tfdbg_tui.dump.record.control_file import ControlFile
from tfdbg_tui.dump.record.recorder import Recorder
from tfdbg_tui.dump.tensorflow import eager_hooks
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfdbg_tui.dump.options import Options

_log = logging.getLogger("tfdbg_tui")


class DumpWriter:
    """The handle that `enable_dump_debug_info` returns.

    Attributes:
        options: What the user asked for.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._recorder = Recorder(options)
        self._listener = ProgramListener(options, self._recorder)
        self._held = contextlib.ExitStack()  # while the process forks
        self._control_file = ControlFile(options.dump_root, self.run_id)
        self._recorder.each_round = self._look_around
        self._listener.listen()

    @property
    def active(self) -> bool:
        """Whether it still records."""
        return self._listener.active

    @property
    def dump_root(self) -> str:
        """The directory that the files are in."""
        return self.options.dump_root

    @property
    def run_id(self) -> str:
        """Identifies the run; the same for all processes and file sets that belong to it."""
        return self._recorder.run_id

    @property
    def num_executions(self) -> int:
        """How many executions were recorded."""
        return self._recorder.num_executions

    @property
    def usable(self) -> bool:
        """Whether `start` can go on: not after a failure, a fork, or the loss of the files."""
        return self._recorder.intact()

    @property
    def failure(self) -> str:
        """What could not be written, so that recording is off until the dump is disabled."""
        return self._recorder.failure

    def flush(self) -> None:
        """Write everything recorded so far to the files.

        With a circular buffer, what it holds becomes permanent, and an empty one is started.
        """
        row_queue.drain()
        self._recorder.flush()

    def FlushNonExecutionFiles(self) -> None:  # noqa: N802 - TensorFlow's name
        """Do what `flush` does, by the name that TensorFlow's writer has for a part of it."""
        self.flush()

    def FlushExecutionFiles(self) -> None:  # noqa: N802 - TensorFlow's name
        """Do what `flush` does, by the name that TensorFlow's writer has for a part of it."""
        self.flush()

    def rest(self) -> None:
        """Write everything, and say whether it is all: the process may be ended now."""
        row_queue.drain()
        self._recorder.rest(is_idle=not self._listener.calls)

    def stop(self) -> None:
        """Stop recording and write everything.  `start` goes on in the same files."""
        try:
            row_queue.drain()
        except Exception as error:
            self.hook_failed(error, "graph executions")
        was_active = self.active
        self._listener.stop()
        if was_active:
            self._recorder.stop()
            self._tell_unknown_tensors()
        self._listener.give_back()

    def tell_what_comes(self) -> None:
        """Say in the logdir if this thread computes more after `stop`, at the program's end."""
        eager_hooks.call_after_next_op(self._recorder.tell_late_op)

    def close(self) -> None:
        """Close the files after `stop`; there is no going on after that."""
        self._recorder.close()

    def start(self) -> None:
        """Go on recording after `stop`; the metadata tells that there was a pause."""
        self._recorder.start()
        self._listener.switch.tell_disabled()
        self._listener.listen()

    def before_fork(self) -> None:
        """Let the files rest while the process forks."""
        with contextlib.ExitStack() as held:  # A signal's handler may raise meanwhile.
            held.enter_context(row_queue.held())
            held.enter_context(self._recorder.held())
            self._held = held.pop_all()

    def after_fork_in_parent(self) -> None:
        """Go on."""
        self._release()

    def _release(self) -> None:
        held, self._held = self._held, contextlib.ExitStack()  # Another thread may fork next.
        held.close()

    def after_fork_in_child(self) -> None:
        """Record nothing: the files are the parent's.  The hooks stay, to tell if it computes."""
        self._recorder.abandon()
        self._listener.active = False
        self._release()

    def program_failed(self, reason: str) -> None:
        """Say in the logdir that the program ends with an error."""
        self._recorder.omit(omissions.FAILED, "the rest of the program", reason)

    def hook_failed(self, error: BaseException, what: str) -> None:
        """See `ProgramListener.hook_failed`."""
        self._listener.hook_failed(error, what)

    def skip(self, what: str, reason: str) -> None:
        """See `ProgramListener.skip`."""
        self._listener.skip(what, reason)

    def set_recording(self, on: bool, reason: str = omissions.BY_THE_USER) -> None:
        """Switch recording off, or on again; the metadata tells from when to when it was off.

        Args:
            on: Whether to record.
            reason: Why, in one sentence.
        """
        self._listener.switch.set_recording(on, reason)

    def record_values(self, names: Iterable[str]) -> None:
        """Record the elements of some tensors from now on; see `dump.record_values`.

        Functions that were called before get another copy, which records them.
        """
        wanted = tuple(dict.fromkeys(names))
        if wanted != self._listener.whole_tensors.names:
            self._tell_unknown_tensors()
            self._listener.whole_tensors.choose(wanted)

    def _tell_unknown_tensors(self) -> None:
        if self._listener.whole_tensors.unknown:
            names = ", ".join(self._listener.whole_tensors.unknown)
            _log.warning("tfdbg-tui: nothing was computed that record_values(%s) means", names)

    def measure_next_step(self) -> None:
        """Record the extremes of the next step, or of the next calls where no steps are known."""
        self._listener.measured.measure_next()

    def _look_around(self) -> None:
        """Do what somebody beside the program asks for, within the limit of the dump's size.

        Called by the recorder's thread.
        """
        if not self.active:
            return
        try:
            control = self._control_file.changed()
            if control is not None:
                self.set_recording(control.recording)
                self.record_values(control.values_of)
            self._listener.switch.limit_size()
        except Exception as error:
            self.hook_failed(error, "what was asked for in the app")
