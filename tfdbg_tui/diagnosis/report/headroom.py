"""How far a run without NaN and ∞ is from them: its number that is closest to its type's limit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdbg_tui.diagnosis.events import (
    TensorEvent,
    graph_id_of,
    graph_op_of,
    is_constant_or_count,
    name_of,
    op_type_of,
    stack_id_of,
)
from tfdbg_tui.diagnosis.function_names import INITIALIZER, readable_function
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import assumed_dtype, dtype_of, measured_tensors
from tfdbg_tui.diagnosis.locations import (
    Location,
    in_optimizer,
    is_of_metric,
    location_json,
    location_of,
)
from tfdbg_tui.diagnosis.op_traits import SELECTS_ELEMENTS, value_inputs
from tfdbg_tui.diagnosis.report.when import in_words, step_before, step_of, when_text
from tfdbg_tui.diagnosis.values import told_apart
from tfdbg_tui.logdir.index.training_calls import is_backward_stack
from tfdbg_tui.wire.dtypes import MAX_FINITE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.logdir import Run, StackFrame

_ALL_BUT = 0.999  # of the limit is the limit itself, as masks and the beginnings of minima use it


@dataclass(frozen=True, slots=True)
class Headroom:
    """The number of a run that is closest to the largest one of its type.

    Attributes:
        event: The tensor that holds it.
        name: The tensor's name.
        largest: Its magnitude.
        dtype: Name of its type; None where that is not on record.
        location: The user's line that made the tensor; None where the stack has none.
        step: Training step, recorded or counted; None where it is in none.
        when: The step among all there are, in words; "" where there is none.
    """

    event: TensorEvent
    name: str
    largest: float
    dtype: str | None
    location: Location | None
    step: int | None
    when: str

    @property
    def _compared_dtype(self) -> str:
        return self.dtype or assumed_dtype(self.largest)

    @property
    def _told(self) -> tuple[str, str]:
        """The number, and the largest of its type, as numerals."""
        return told_apart(self.largest, MAX_FINITE[self._compared_dtype], 3)

    @property
    def left_out(self) -> str:
        """What is not looked at; see `headroom_of`."""
        return "constants, masks, counts, first values, gradients, metrics"

    @property
    def number(self) -> str:
        """The number, the largest one of its type, and when it was computed."""
        number, limit = self._told
        dtype = self._compared_dtype + ("" if self.dtype else ", type not on record")
        return f"{number} of {limit} ({dtype})" + (f" {in_words(self.when)}" if self.when else "")

    def to_json(self) -> dict[str, Any]:
        """Return it in the form of ``diagnose --json``."""
        return {
            "kind": self.event.kind,
            "index": self.event.index,
            "name": self.name,
            "largest": self.largest,
            "dtype": self.dtype,
            "limit": MAX_FINITE[self._compared_dtype],
            "step": self.step,
            "location": location_json(self.location),
        }


def headroom_of(dataflow: Dataflow) -> Headroom | None:
    """Return the number that is closest to the limit of its type; None where none is on record.

    Constants are left out, as they stay what they are, and what is selected of them, as by a mask:
    the other values are measured where they are made; counts, on which no training depends; what
    variables begin with is computed of; gradients, as a loss scale makes them as large as they can
    be, on purpose; and what Keras' metrics add up, as that tells how many examples there were.
    """
    run = dataflow.run
    for _, event, largest, dtype in sorted(_largest(run), key=lambda found: found[0]):
        if not _is_left_out(run, event):
            step = step_of(dataflow, event)
            location = location_of(run, stack_id_of(run, event))
            after = step_before(dataflow, event)
            name, when = name_of(run, event), when_text(run, step, after)
            return Headroom(event, name, largest, dtype, location, step, when)
    return None


def _is_left_out(run: Run, event: TensorEvent) -> bool:
    stack_id = stack_id_of(run, event)
    frames = run.stack(stack_id) if stack_id is not None else ()
    return (
        is_constant_or_count(run, graph_op_of(run, event))
        or _is_masked(run, event)
        or _is_count_of_steps(run, event)
        or _is_gradient(run, event, frames)
        or is_of_metric(frames)
        or _is_initial(run, event)
    )


def _is_masked(run: Run, event: TensorEvent) -> bool:
    """Whether an op of a graph selects among the elements of some tensor and a constant."""
    op = graph_op_of(run, event)
    if op is None or op.op_type not in SELECTS_ELEMENTS:
        return False
    chosen = (run.op(op.graph_id, op.inputs[slot].op_name) for slot in value_inputs(op.op_type, 3))
    return any(maker is not None and is_constant_or_count(run, maker) for maker in chosen)


def _is_count_of_steps(run: Run, event: TensorEvent) -> bool:
    """Whether an eager cast is an optimizer's: of the number of its step.

    What type it was given is not on record.
    """
    is_cast = event.kind == "execution" and op_type_of(run, event) == "Cast"
    return is_cast and in_optimizer(run, stack_id_of(run, event))


def _is_gradient(run: Run, event: TensorEvent, frames: Iterable[StackFrame]) -> bool:
    """Whether a tensor is a gradient; of the sum of several (AddN) only the stack tells."""
    return is_backward(run, event) or is_backward_stack(frames)


def _is_initial(run: Run, event: TensorEvent) -> bool:
    """Whether a tensor is part of how variables get their first values."""
    graph = run.graphs.get(graph_id_of(run, event) or "")
    return graph is not None and readable_function(graph.name) == INITIALIZER


def _largest(run: Run) -> Iterator[tuple[float, TensorEvent, float, str | None]]:
    """Yield the largest number of each tensor that has any but 0 and the limit.

    Yields:
        How many powers of ten it is below the limit, the tensor, the number, its type
        where that is on record.
    """
    for event, measured in measured_tensors(run):
        dtype = dtype_of(run, event)
        limit = MAX_FINITE.get(dtype or assumed_dtype(float(measured.largest.max())), 0.0)
        below = np.where(measured.largest < _ALL_BUT * limit, measured.largest, 0.0)
        place = int(below.argmax())
        if largest := float(below[place]):
            row = int(measured.rows[place])
            yield math.log10(limit / largest), replace(event, index=row), largest, dtype
