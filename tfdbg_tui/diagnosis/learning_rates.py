"""The learning rates of Keras' optimizers: how large they are, and which lines made them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.events import graph_op_of, op_type_of, size_of, stack_id_of
from tfdbg_tui.diagnosis.history import measured_tensors
from tfdbg_tui.diagnosis.locations import in_optimizer, location_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.locations import Location
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_READ = "ReadVariableOp"
_STEP = "update_step"
"""The function of Keras' optimizers that is given the learning rate."""


class LearningRate(NamedTuple):
    """The learning rate of an optimizer, where it is a variable.

    Attributes:
        first: What it was when it was measured first.
        last: What it was when it was measured last.
        line: The line that made the optimizer; None where that is not on record.
        stack_id: The stack that leads to it.
    """

    first: float
    last: float
    line: Location | None
    stack_id: int | None

    def __str__(self) -> str:
        value = f"{self.first:.3g}"
        if self.last != self.first:
            value += f" at first and {self.last:.3g} at last"
        return value + (
            f" (of the optimizer made at {self.line.short})" if self.line is not None else ""
        )


def learning_rates(dataflow: Dataflow) -> list[LearningRate]:
    """Return the learning rates of all optimizers; none of one that reads other numbers as well.

    What an optimizer keeps of each variable is known by name.
    """
    kept = {variable.key for variable in dataflow.run.variables}
    found: dict[tuple[int, int], tuple[float, float]] = {}
    for event, measured in measured_tensors(dataflow.run):
        if not _is_read_by_step(dataflow, event):
            continue
        for key, mine in _by_variable(dataflow, event, measured):
            if key not in kept and len(mine):
                found.setdefault(key, (float(mine.largest[0]), float(mine.largest[-1])))
    rates = []
    for key, ends in found.items():
        made = dataflow.timeline.maker_in(*key)
        stack_id = stack_id_of(dataflow.run, made) if made is not None else None
        rates.append(LearningRate(*ends, location_of(dataflow.run, stack_id), stack_id))
    lines = [rate.line for rate in rates]
    return rates if len({*lines}) == len(lines) else []


def _is_read_by_step(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether a tensor is a number that the step of an optimizer of Keras reads."""
    run, stack_id = dataflow.run, stack_id_of(dataflow.run, event)
    if op_type_of(run, event) != _READ or stack_id is None or not in_optimizer(run, stack_id):
        return False
    is_step = any(frame.function == _STEP for frame in run.stack(stack_id))
    return is_step and size_of(run, event) == 1


def _by_variable(
    dataflow: Dataflow, event: TensorEvent, measured: Magnitudes
) -> Iterator[tuple[tuple[int, int], Magnitudes]]:
    """Yield the variables that a line or an op reads, by file set and handle, and what they held.

    Args:
        dataflow: Of the run.
        event: A value that it read.
        measured: The magnitudes of all of them.
    """
    op = graph_op_of(dataflow.run, event)
    if op is not None:
        handle = dataflow.variables.handle(op)
        if handle:
            yield (dataflow.run.graphs[op.graph_id].file_set, handle), measured
        return
    file_set = dataflow.run.executions.kind(event.index).file_set
    handles = [next(iter(dataflow.timeline.input_ids(row)), 0) for row in measured.rows.tolist()]
    for handle in dict.fromkeys(handles):
        mine = [place for place, one in enumerate(handles) if one == handle]
        yield (file_set, handle), measured.some(np.array(mine))
