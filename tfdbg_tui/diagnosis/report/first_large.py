"""Where numbers that overflowed in a gradient, or in an optimizer, had become so large."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.events import UNKNOWN_OP, op_type_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import magnitudes_of
from tfdbg_tui.diagnosis.op_traits import ARGUMENTS, DIVISIONS, EXPONENTIALS
from tfdbg_tui.diagnosis.rules import overflow
from tfdbg_tui.wire.dtypes import MAX_FINITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.locations import Location
    from tfdbg_tui.diagnosis.roots import Root
    from tfdbg_tui.diagnosis.rules.model import Case, Explanation

_FACTORS = 4  # of a square of a gradient, which is a product of two numbers of the forward pass
_SUMMED = 16.0  # times that a product of matrices may be larger than its largest factors tell
_WIDEST = 1e38  # a type with a smaller limit overflows by what is not large
_LONGEST = 400  # tensors
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


def first_large(dataflow: Dataflow, root: Root, rule: Explanation, case: Case) -> FirstLarge | None:
    """Return what was large first; None where nothing was before the root, or it tells no more.

    A training that diverges makes weights larger in each step, and then the products of layers: no
    line is to blame for that.

    Args:
        dataflow: Of the run.
        root: The root.
        rule: What explains it.
        case: What the rule was asked about.
    """
    limit = MAX_FINITE.get(case.out.dtype or "", 0.0)
    if rule not in overflow.RULES or limit < _WIDEST:
        return None
    events = _large(dataflow, root.event, limit ** (1 / _FACTORS) / _SUMMED)
    first = events[-1]
    if first == root.event or not any(is_backward(dataflow.run, one) for one in events):
        return None
    is_updated = case.in_earlier_step or case.healthy_before > 0
    if is_updated and op_type_of(dataflow.run, first) not in _FROM_SMALL:
        return None
    given = [size for _, size in _inputs(dataflow, first) if size is not None]
    op_type = op_type_of(dataflow.run, first) or UNKNOWN_OP
    return FirstLarge(first, op_type, _largest(dataflow, first), max(given, default=None))


def _large(dataflow: Dataflow, event: TensorEvent, bound: float) -> list[TensorEvent]:
    """Return what is large of what a tensor was made of, back to what was so first.

    Args:
        dataflow: Of the run.
        event: The tensor.
        bound: What is larger is large.
    """
    found = [event]
    while len(found) < _LONGEST and op_type_of(dataflow.run, found[-1]) not in ARGUMENTS:
        given = dict(_inputs(dataflow, found[-1]))
        sizes = {one: size for one, size in given.items() if size is not None and size >= bound}
        unknown = [one for one, size in given.items() if size is None]
        if sizes:
            source = max(sizes, key=lambda one: sizes[one])
        elif len(unknown) == 1 and _largest(dataflow, found[-1]) is not None:
            source = unknown[0]  # as nothing else that is large
        else:
            break
        if source in found:
            break
        found.append(source)
    return found


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
