"""A Keras callback that puts bad and large numbers beside the loss, for TensorBoard and logs."""

from __future__ import annotations

import functools
import logging
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfdbg_tui import dump
from tfdbg_tui.diagnosis.events import graph_op_of, is_constant_or_count, stack_id_of
from tfdbg_tui.diagnosis.history import assumed_dtype, dtype_of, measured_tensors
from tfdbg_tui.diagnosis.locations import is_of_metric
from tfdbg_tui.dump.keras_steps import program_keras
from tfdbg_tui.logdir import RunReader, list_runs
from tfdbg_tui.wire.dtypes import MAX_FINITE

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run

_log = logging.getLogger("tfdbg_tui")


class Numbers(NamedTuple):
    """What a part of a run comes to.

    Attributes:
        bad_tensors: How many tensors with NaN or infinity were recorded.
        largest: The largest magnitude of a finite number that was measured, but for constants,
            counts, and what metrics of Keras compute, as their sums grow with the
            examples; where none was, as before that; None where none ever was.
        headroom: How many powers of ten the number that is closest to the limit of its type is
            away from it; None like ``largest``.  Healthy eager tensors have no type on record: they
            are taken for float32, or float64 where they are beyond that.
    """

    bad_tensors: int
    largest: float | None
    headroom: float | None


class Watched:
    """Reads the dump of this program as it grows."""

    def __init__(self) -> None:
        self._reader: RunReader | None = None
        self._alerts = self._executions = self._traces = 0
        self._largest: float | None = None
        self._headroom: float | None = None
        self._of_metrics: dict[int | None, bool] = {}  # by stack id

    def numbers(self) -> Numbers | None:
        """Return what has been recorded since the last call; None while no dump is on."""
        writer = dump.current()
        if writer is None:
            return None
        writer.flush()
        if self._reader is None:
            own = [run for run in list_runs(writer.dump_root) if run.run_id == writer.run_id]
            self._reader = RunReader(own[-1])
        run = self._reader.read_all()
        bad, self._alerts = run.num_alerts - self._alerts, run.num_alerts
        found = self._measured(run)
        self._executions, self._traces = len(run.executions), len(run.graph_executions)
        self._largest = max((number for number, _ in found), default=self._largest)
        distances = (math.log10(limit / number) for number, limit in found if number)
        self._headroom = min(distances, default=self._headroom)
        return Numbers(bad, self._largest, self._headroom)

    def _measured(self, run: Run) -> list[tuple[float, float]]:
        """Return the largest magnitude of each tensor, and the limit of its type."""
        found = []
        for event, measured in measured_tensors(run):
            first = self._executions if event.kind == "execution" else self._traces
            new = measured.largest[np.searchsorted(measured.rows, first) :]
            if new.size and not self._is_left_out(run, event):
                largest = float(new.max())
                dtype = dtype_of(run, event) or assumed_dtype(largest)
                found.append((largest, MAX_FINITE.get(dtype, math.inf)))
        return found

    def _is_left_out(self, run: Run, event: TensorEvent) -> bool:
        is_fixed = is_constant_or_count(run, graph_op_of(run, event))
        return is_fixed or self._is_of_metric(run, event)

    def _is_of_metric(self, run: Run, event: TensorEvent) -> bool:
        stack_id = stack_id_of(run, event)
        if stack_id not in self._of_metrics:
            frames = run.stack(stack_id) if stack_id is not None else ()
            self._of_metrics[stack_id] = is_of_metric(frames)
        return self._of_metrics[stack_id]


@functools.cache
def make_watch_callback() -> Any:
    """Return the class `WatchCallback`; made on demand, as it needs Keras."""
    keras = program_keras()

    class WatchCallback(keras.callbacks.Callback):  # type: ignore[name-defined, misc]
        """Adds ``bad_tensors``, ``largest`` and ``headroom`` to the logs of each epoch.

        Keras' own callbacks that come after it, `TensorBoard` and `CSVLogger`, and the history of
        `fit` have them beside the loss.  What they mean: see `Numbers`.  Of each epoch the first
        step at least is measured; what was never measured is left out.
        """

        def __init__(self) -> None:
            super().__init__()
            self._watched = Watched()

        def on_train_begin(self, logs: Any = None) -> None:
            """Begin with what is recorded from now on."""
            if self._watched.numbers() is None:
                _log.warning("tfdbg-tui: WatchCallback has nothing to tell, as no dump is on")

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            """Have the first step of the epoch measured."""
            if (writer := dump.current()) is not None:
                writer.measure_next_step()

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            """Add the numbers of the epoch."""
            numbers = self._watched.numbers()
            if logs is not None and numbers is not None:
                known = numbers._asdict().items()
                logs.update({name: number for name, number in known if number is not None})

    return WatchCallback


def __getattr__(name: str) -> Any:
    if name == "WatchCallback":
        return make_watch_callback()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
