"""Penalties of weights that are so large a part of a loss that nothing else is learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.dataflow.variables import READS
from tfdbg_tui.diagnosis.events import op_type_of
from tfdbg_tui.diagnosis.history import by_step, magnitudes_of
from tfdbg_tui.diagnosis.op_traits import ADDS, ELEMENTWISE
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.explanations import PENALTY_TOO_STRONG
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
from tfdbg_tui.diagnosis.training import AVERAGES, losses, may_be_negative
from tfdbg_tui.diagnosis.updates import layer_of_variable, variables_read
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Layer

_MANY = 6  # measured steps
_GONE = 0.1  # of what they were at first, penalties are at most, as their weights are next to 0
_SAME = 0.9  # of what it was at first, the rest of the loss is at least
_FOLLOWED = 200  # tensors that a term of a loss is made of
_JOINS = ADDS - {"Sub"} | {"Pack", "Cast", "Identity", "Reshape"}
_READS = READS | {"VariableV2", "Variable"}
_OF_WEIGHTS = ELEMENTWISE | AVERAGES | _READS | {"Const", "L2Loss", "StridedSlice"}
"""Types of ops that penalties are made of: none of them multiplies weights with data."""


def find_penalties(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield the largest penalty of each loss that weights have become next to nothing for.

    The rest of the loss is what it was then: all that was learned is to have no weights.
    """
    for loss in losses(dataflow):
        terms = list(_terms(dataflow, loss))
        penalties = [term for term in terms if _is_penalty(dataflow, term)]
        rest = [term for term in terms if term not in penalties]
        if not penalties or any(_may_be_negative(dataflow, term) for term in rest):
            continue
        (before, after), (first, last) = _sizes(dataflow, penalties), _sizes(dataflow, rest)
        if not (before >= first > 0 and after <= _GONE * before and last >= _SAME * first):
            continue
        evidence = (
            f"{len(penalties):,} terms of the loss are made of weights alone: they were "
            f"{before:.3g} in the first steps, and are {after:.3g}; the rest of it was "
            f"{first:.3g}, and is {last:.3g}"
        )
        penalties.sort(key=lambda term: -_sizes(dataflow, [term])[0])
        layers = dict.fromkeys(one for term in penalties for one in _layers(dataflow, term))
        layer, *others = layers or (None,)
        yield Suspect(
            penalties[0],
            PENALTY_TOO_STRONG,
            Match("likely", evidence),
            len(penalties),
            layer,
            tuple(one for one in others if one is not None),
        )


def _terms(dataflow: Dataflow, loss: TensorEvent) -> Iterator[TensorEvent]:
    """Yield what a loss is the sum of."""
    events = Worklist([loss], _FOLLOWED)
    for event in events:
        given = [p.event for p in dataflow.producers(event) if p.event is not None]
        op_type, first = op_type_of(dataflow.run, event), next(iter(given), None)
        of_list = first is not None and op_type_of(dataflow.run, first) == "Pack"
        if op_type in _JOINS or (op_type == "Sum" and of_list):
            events.add(*given)
        elif op_type != "Const":
            yield event


def _is_penalty(dataflow: Dataflow, term: TensorEvent) -> bool:
    """Whether a term of a loss is made of variables, element by element, and of nothing else."""
    types = {op_type_of(dataflow.run, event) for event in _made_of(dataflow, term)}
    return bool(types & _READS) and types <= _OF_WEIGHTS


def _layers(dataflow: Dataflow, term: TensorEvent) -> Iterator[Layer | None]:
    """Yield the layers of the variables that a term is made of."""
    named = dataflow.variables.named
    for event in _made_of(dataflow, term):
        for key in variables_read(dataflow, event) & named.keys():
            yield layer_of_variable(dataflow, named[key])


def _made_of(dataflow: Dataflow, term: TensorEvent) -> set[TensorEvent]:
    """Return what a term of a loss is made of, back to values of variables."""
    events = Worklist([term], _FOLLOWED)
    for event in events:
        if op_type_of(dataflow.run, event) not in _READS:
            events.add(*(p.event for p in dataflow.producers(event) if p.event is not None))
    return events.seen


def _may_be_negative(dataflow: Dataflow, term: TensorEvent) -> bool:
    found = magnitudes_of(dataflow, term)
    return not len(found) or may_be_negative(dataflow, term, found)


def _sizes(dataflow: Dataflow, terms: list[TensorEvent]) -> tuple[float, float]:
    """Return what the sum of terms is at first, and at last, of those that are measured."""
    first = last = 0.0
    for term in terms:
        _, largest = by_step(dataflow.run, magnitudes_of(dataflow, term))
        third = len(largest) // 3
        if len(largest) >= _MANY:
            first += float(np.median(largest[:third]))
            last += float(np.median(largest[-third:]))
    return first, last
