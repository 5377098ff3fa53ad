"""Where numbers that overflowed had become so large: in other lines, or before they came in."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.events import UNKNOWN_OP, name_of, op_type_of, summary_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import dtype_of, magnitudes_of
from tfdbg_tui.diagnosis.op_traits import ARGUMENTS, DIVISIONS, EXPONENTIALS
from tfdbg_tui.diagnosis.rules import exponentials, overflow
from tfdbg_tui.diagnosis.rules.model import Outlier
from tfdbg_tui.wire.dtypes import MAX_FINITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.locations import Location
    from tfdbg_tui.diagnosis.roots import Root
    from tfdbg_tui.diagnosis.rules.model import Case, Defect

_FACTORS = 4  # of a square of a gradient, which is a product of two numbers of the forward pass
_SUMMED = 16.0  # times that a product of matrices may be larger than its largest factors tell
_WIDEST = 1e38  # a type with a smaller limit overflows by what is not large
_LONGEST = 400  # tensors
_MANY = 3  # measured steps before that data are compared with
_HUGE = 1e15  # that no data are: one step before is enough to tell such apart
_FAR = 1e3  # times as large are those of a batch that is far from all others
_FROM_SMALL = DIVISIONS | EXPONENTIALS | {"Pow", "Reciprocal", "Rsqrt"}
"""Ops that make large numbers of small ones."""


class FirstLarge(NamedTuple):
    """The tensor that was large first, of those that led to one that overflowed.

    Attributes:
        event: The tensor.
        op_type: Type of the op that made it.
        largest: Its largest magnitude; None where it was not measured.
        given: The largest of what it was made of; None where nothing of that was measured.
    """

    event: TensorEvent
    op_type: str
    largest: float | None
    given: float | None

    def at(self, line: Location) -> str:
        """Say what it is.

        Args:
            line: That which it is of.
        """
        given = f"at most {self.given:.3g} in" if self.given is not None else ""
        made = f"up to {self.largest:.3g} out" if self.largest is not None else ""
        numbers = f" ({' → '.join(filter(None, (given, made)))})" if made else ""
        is_given = self.op_type in ARGUMENTS
        what = "are the data that came in" if is_given else f"is {self.op_type}"
        return f"what was large first {what} at {line.short}{numbers}"


def first_large(dataflow: Dataflow, root: Root, rule: Defect, case: Case) -> FirstLarge | None:
    """Return what was large first; None where nothing was before the root, or it tells no more.

    A training that diverges makes weights larger in each step, and then the products of layers: no
    line is to blame for that.

    Args:
        dataflow: Of the run.
        root: The root.
        rule: What explains it.
        case: What the rule was asked about.
    """
    if rule not in (*exponentials.RULES, *overflow.RULES):
        return None
    events = _large(dataflow, root.event)
    first = events[-1]
    if first == root.event or not (case.outlier or _in_gradient(dataflow, events)):
        return None
    is_updated = case.in_earlier_step or case.healthy_before > 0
    if is_updated and not (case.outlier or op_type_of(dataflow.run, first) in _FROM_SMALL):
        return None
    op_type = op_type_of(dataflow.run, first) or UNKNOWN_OP
    return FirstLarge(first, op_type, _largest(dataflow, first), _given(dataflow, first, op_type))


def _given(dataflow: Dataflow, event: TensorEvent, op_type: str) -> float | None:
    """Return the largest number that an op was given, by its magnitude; None if none is known.

    Of an exponential that is by its value: of a number far below 0 it makes 0.

    Args:
        dataflow: Of the run.
        event: What the op made.
        op_type: Its type.
    """
    inputs = list(_inputs(dataflow, event))
    given = [size for _, size in inputs]
    if op_type in EXPONENTIALS:
        summaries = (summary_of(dataflow.run, made) for made, _ in inputs)
        given = [summary.maximum for summary in summaries if summary is not None]
    return max((size for size in given if size is not None), default=None)


def outlier_of(dataflow: Dataflow, event: TensorEvent) -> Outlier | None:
    """Return the data that a tensor was made of, if they are far from those of the steps before.

    Args:
        dataflow: Of the run.
        event: The tensor.
    """
    *after, data = _large(dataflow, event)
    if op_type_of(dataflow.run, data) not in ARGUMENTS:
        return None
    for made in (data, *after[:0:-1]):
        largest, found = _largest(dataflow, made), magnitudes_of(dataflow, made)
        if largest is None:
            continue
        before = found.largest[found.rows < made.index]
        others = float(before.max(initial=0.0))
        # Of batches that were all 0 nothing is known of how large others are.
        is_known = len(before) >= _MANY or largest >= _HUGE
        is_far = is_known and others and largest > _FAR * others
        return Outlier(name_of(dataflow.run, made), largest, others) if is_far else None
    return None


def _in_gradient(dataflow: Dataflow, events: list[TensorEvent]) -> bool:
    return any(is_backward(dataflow.run, one) for one in events)


def _large(dataflow: Dataflow, event: TensorEvent) -> list[TensorEvent]:
    """Return what is large of what a tensor was made of, back to what was so first.

    Args:
        dataflow: Of the run.
        event: The tensor.
    """
    found = [event]
    limit = MAX_FINITE.get(dtype_of(dataflow.run, event) or "", 0.0)
    bound = limit ** (1 / _FACTORS) / _SUMMED if limit >= _WIDEST else math.inf
    while len(found) < _LONGEST and op_type_of(dataflow.run, found[-1]) not in ARGUMENTS:
        source = _source(dataflow, found[-1], bound)
        if source is None or source in found:
            break
        found.append(source)
    return found


def _source(dataflow: Dataflow, event: TensorEvent, bound: float) -> TensorEvent | None:
    """Return what a tensor was made of that is large, or the only one that may be.

    Args:
        dataflow: Of the run.
        event: The tensor.
        bound: What is larger is large.
    """
    given = dict(_inputs(dataflow, event))
    sizes = {one: size for one, size in given.items() if size is not None and size >= bound}
    if sizes:
        return max(sizes, key=lambda one: sizes[one])
    unknown = [one for one, size in given.items() if size is None]
    is_large = (_largest(dataflow, event) or 0.0) >= bound
    return unknown[0] if len(unknown) == 1 and is_large else None


def _inputs(dataflow: Dataflow, event: TensorEvent) -> Iterator[tuple[TensorEvent, float | None]]:
    """Yield what a tensor was made of, with the largest magnitude of each, where it is known."""
    for producer in dataflow.producers(event):
        if producer.event is not None and producer.op_type != "Const":
            source = dataflow.origin(producer.event)
            yield source, _largest(dataflow, source)


def _largest(dataflow: Dataflow, event: TensorEvent) -> float | None:
    """Return the largest magnitude of a tensor; None where it was not measured."""
    found = magnitudes_of(dataflow, event)
    place = int(np.searchsorted(found.rows, event.index))
    is_measured = place < len(found) and found.rows[place] == event.index
    return float(found.largest[place]) if is_measured else None
