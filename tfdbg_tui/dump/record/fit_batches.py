"""Records which batch of which epoch of Keras' `fit` each step is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.dump.keras_steps import next_batch
from tfdbg_tui.dump.steps import NO_BATCH
from tfdbg_tui.wire import events, filesets

if TYPE_CHECKING:
    from tfdbg_tui.dump.record.recorder import Recorder
    from tfdbg_tui.dump.steps import FitBatch


class FitBatches:
    """Records a batch where it does not follow from the one before: once an epoch, as a rule."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._known = NO_BATCH  # epoch, what the next batch follows from, and batches of a step

    def step_changes(self, number: int | None, batch: FitBatch | None) -> None:
        """Note that a step begins or ends; see `steps.listeners`."""
        if number is None and batch is None:
            return
        number = next_batch() if number is None else number
        epoch, number_in_epoch, together = batch or NO_BATCH
        known = (epoch, number * together - number_in_epoch, together) if epoch else NO_BATCH
        if known == self._known:
            return
        self._known = known
        payload = events.FitBatch(number, epoch, number_in_epoch, together).encode()
        self._recorder.define(filesets.GRAPHS, events.DebugEvent(fit_batch=payload))
