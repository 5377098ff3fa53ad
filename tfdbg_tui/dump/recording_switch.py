"""Whether a dump records now: not in steps that are left out, while paused, or once too large."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from tfdbg_tui.dump import locks
from tfdbg_tui.dump.observe import row_queue
from tfdbg_tui.dump.record.size_limit import SizeLimit
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.dump.options import Options
    from tfdbg_tui.dump.record.recorder import Recorder

_log = logging.getLogger("tfdbg_tui")
_DISABLED = "the program disabled the dump, and enabled it again later"


class RecordingSwitch:
    """Switches recording off and on while a dump is enabled; the metadata tells of each pause.

    Args:
        options: The user's.
        recorder: Takes the records.
        is_listening: Tells whether the hooks are installed.
        watch_eager_ops: Lets the hooks tell of eager ops, or not.

    Attributes:
        is_on: Whether what runs now is recorded.
    """

    def __init__(
        self,
        options: Options,
        recorder: Recorder,
        is_listening: Callable[[], bool],
        watch_eager_ops: Callable[[bool], None],
    ) -> None:
        self._options = options
        self._recorder = recorder
        self._is_listening = is_listening
        self._watch_eager_ops = watch_eager_ops
        self.is_on = True
        self._lock = locks.new()
        self._is_step_recorded = True
        self._is_paused = False
        self._pauses = 0
        self._was_full = False
        self._size_limit = SizeLimit(options.dump_root, options.max_gigabytes)

    def step_changes(self, number: int | None) -> bool:
        """Note that a step begins, or ends; return whether it is recorded.

        What runs between steps is recorded like the step before, if only some are wanted.

        Args:
            number: The step; None for what is in none.
        """
        if number is not None or self._options.steps is None:
            self._is_step_recorded = number is None or self._options.records_step(number)
        return self._is_step_recorded

    def set_recording(self, on: bool, reason: str) -> None:
        """Pause, or go on; the metadata tells from when to when it was off.

        Args:
            on: Whether to record.
            reason: Why, in one sentence.
        """
        if self._recorder.broken or on is not self._is_paused:
            return
        row_queue.drain()  # So that it tells after which executions it was.
        self._is_paused = not on
        self._pauses += not on
        self._tell(omissions.RESUMED if on else omissions.PAUSED, reason)
        self.apply()

    def tell_disabled(self) -> None:
        """Tell that the dump was disabled until now, unless it was paused all the time."""
        if not self._is_paused:
            self._pauses += 1
            self._tell(omissions.PAUSED, _DISABLED)
            self._tell(omissions.RESUMED, _DISABLED)

    def _tell(self, kind: str, reason: str) -> None:
        self._recorder.omit(kind, f"pause {self._pauses}", reason)

    def apply(self) -> None:
        """Record, or not, as things are now."""
        with self._lock:
            is_on = self._is_step_recorded and not self._is_paused
            if is_on != self.is_on and self._is_listening():
                self.is_on = is_on
                self._watch_eager_ops(is_on)

    def limit_size(self) -> None:
        """Where the files are as large as they may be, record no more than what is bad.

        Once that has made them larger, switch recording off, for good.  Called by the recorder's
        thread.
        """
        if self._was_full or self._is_paused or self._recorder.waits_for_bad:
            return
        size, limit = self._recorder.num_bytes, self._size_limit
        reason = limit.reached_by(size)
        if reason and self._options.watches_health and not limit.is_raised:
            limit.raise_beyond(size)
            _log.warning("tfdbg-tui: only what is bad is recorded from now on, as %s", reason)
            self._recorder.wait_for_bad(reason)
        elif reason:
            self._was_full = True
            _log.warning("tfdbg-tui: recording is off, as %s; the program goes on", reason)
            self.set_recording(False, reason)
