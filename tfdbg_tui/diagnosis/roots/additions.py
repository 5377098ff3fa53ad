"""What an op that was given bad elements has made bad of the finite ones beside them.

``tf.math.log([nan, 0])`` is a consequence, and a bug as well.  Element by element NaN stays NaN, so
the counts tell: where more is bad in the result than in the inputs, or more of it is infinite, the
op has added the rest.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import op_type_of
from tfdbg_tui.diagnosis.op_traits import (
    ARGUMENTS,
    ARRANGES,
    DIVISIONS,
    ELEMENTWISE,
    MOVES,
    SATURATES,
)
from tfdbg_tui.diagnosis.values import same_counts, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tfdbg_tui.diagnosis.dataflow import Dataflow, Producer
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.alert_sites import Summaries
    from tfdbg_tui.logdir import TensorSummary

_ANCESTORS = 400  # tensors: so many that finite elements were made from are looked at
_BAD = ("nan", "neg_inf", "pos_inf")


@dataclass(frozen=True, slots=True)
class Addition:
    """What an op has made bad of its own, as if it had been given the finite elements alone.

    Attributes:
        out: The result without as many bad elements as came in.
        inputs: The inputs without theirs, by input slot.
        came_in: What is left out: all bad elements of the inputs, broadcast as the op has.
        is_exact: Whether no other share of the op is possible.
    """

    out: TensorSummary
    inputs: dict[int, TensorSummary]
    came_in: dict[str, int]
    is_exact: bool


def addition_of(
    op_type: str | None, out: TensorSummary | None, inputs: dict[int, TensorSummary]
) -> Addition | None:
    """Return what an op has made bad of its own; None where counts do not prove that.

    Args:
        op_type: Type of the op.
        out: What is on record of its result.
        inputs: The same of its inputs that hold values, by input slot.
    """
    if op_type not in ELEMENTWISE - MOVES or out is None or total(out, *_BAD) is None:
        return None
    came_in = dict.fromkeys(_BAD, 0)
    for given in inputs.values():
        if not given.has_inf_or_nan:
            continue
        if total(given, *_BAD) is None or not given.size or out.size is None:
            return None
        for kind in _BAD:
            came_in[kind] += getattr(given, kind) * (out.size // given.size)
    left = _left(out, came_in)
    if not any(came_in.values()) or left is None:
        return None
    own = {slot: _without_bad(given) for slot, given in inputs.items()}
    infinite = came_in["neg_inf"] + came_in["pos_inf"]
    return Addition(left, own, came_in, len(inputs) == 1 and not infinite)


def _left(out: TensorSummary, came_in: dict[str, int]) -> TensorSummary | None:
    """Return a result without what came in; None where nothing that is bad is left for certain."""
    bad = {kind: getattr(out, kind) for kind in _BAD}
    infinite = bad["neg_inf"] + bad["pos_inf"] - came_in["neg_inf"] - came_in["pos_inf"]
    more = sum(bad.values()) - sum(came_in.values())
    if infinite <= 0 and more <= 0:
        return None
    # Of ∞ that came in any kind may have come out: its own most likely.
    waiting = came_in.copy()
    for kinds in (_BAD, ("pos_inf", "neg_inf", "nan")):
        for kind, source in zip(kinds, ("nan", "neg_inf", "pos_inf"), strict=True):
            taken = min(bad[kind], waiting[source])
            bad[kind] -= taken
            waiting[source] -= taken
    if out.size is None or not any(bad.values()):
        return None
    size = max(out.size - sum(came_in.values()), sum(bad.values()))
    return replace(out, size=size, bad_elements=(), **bad)


def _without_bad(given: TensorSummary) -> TensorSummary:
    """Return the record of the finite elements of a tensor."""
    bad = total(given, *_BAD)
    if not given.has_inf_or_nan or given.size is None or bad is None:
        return given
    left = replace(given, has_inf_or_nan=False, size=given.size - bad, bad_elements=())
    return replace(left, nan=0, neg_inf=0, pos_inf=0)


class Additions:
    """Finds what ops that were given bad elements have made bad of their own.

    Args:
        dataflow: Where tensors come from.
        summaries: Returns what was recorded of a tensor.
        inputs: Returns the inputs of an event that hold values, with what was recorded of them;
            None where that is not known of each.
    """

    def __init__(
        self,
        dataflow: Dataflow,
        summaries: Summaries,
        inputs: Callable[[TensorEvent], list[tuple[Producer, TensorSummary]] | None],
    ) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow
        self._summaries = summaries
        self._inputs = inputs

    def of(self, event: TensorEvent) -> Addition | None:
        """Return what the op of a bad tensor has added; None for nothing, or a consequence."""
        op_type = op_type_of(self._run, event)
        inputs = self._inputs(event) if op_type in ELEMENTWISE - MOVES else None
        if not inputs or any(producer.inferred for producer, _ in inputs):
            return None
        known = {producer.input_slot: summary for producer, summary in inputs}
        found = addition_of(op_type, self._summaries(event), known)
        return found if found is not None and not self._is_of_bad(event) else None

    def _is_of_bad(self, event: TensorEvent) -> bool:
        """Whether finite elements that an op was given may have been made of bad ones.

        As zeros are of ∞, by a division.
        """
        waiting, seen = deque([event]), {event}
        while waiting and len(seen) < _ANCESTORS:
            made = waiting.popleft()
            inputs = self._dataflow.producers(made)
            if made != event and not self._stays_bad(made, inputs):
                return True
            new = [p.event for p in inputs if p.event is not None and p.event not in seen]
            seen.update(new)
            waiting += new
        return bool(waiting)

    def _stays_bad(self, made: TensorEvent, inputs: Iterable[Producer]) -> bool:
        """Whether all bad elements that an op was given are bad in its result."""
        op_type, out = op_type_of(self._run, made), self._summaries(made)
        for producer in inputs:
            given = producer.given
            if given is None and producer.event is not None:
                given = self._summaries(producer.event)
            if given is None or not given.has_inf_or_nan or op_type in ARRANGES | ARGUMENTS:
                continue
            if out is None or not (
                same_counts(given, out) or (op_type in ELEMENTWISE and _keeps(op_type, given, out))
            ):
                return False
        return True


def _keeps(op_type: str, given: TensorSummary, out: TensorSummary) -> bool:
    """Whether an op that works element by element has made nothing finite of what is bad."""
    came, went = total(given, *_BAD), total(out, *_BAD)
    if came is None or went is None or not given.size or out.size is None:
        return False
    infinite = total(given, "neg_inf", "pos_inf")
    if infinite and op_type in DIVISIONS | SATURATES:
        return False
    return went >= came * (out.size // given.size)
