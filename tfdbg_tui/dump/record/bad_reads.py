"""Records what Python has read that holds NaN or ∞."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.wire import events, filesets

if TYPE_CHECKING:
    from tfdbg_tui.dump.record.recorder import Recorder

_MOST = 100_000
"""A program may print NaN in every step."""


class BadReads:
    """Records each tensor once.

    Args:
        recorder: Takes the records.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._known: set[int] = set()

    def add(self, number: int) -> None:
        """Note that Python has read a tensor.

        Args:
            number: Its number.
        """
        if number not in self._known and len(self._known) < _MOST:
            self._known.add(number)
            self._recorder.define(filesets.GRAPHS, events.DebugEvent(read_tensor_id=number))
