"""Weights that a penalty or the decay of an optimizer takes, so that nothing else is learned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.dataflow.variables import READS
from tfdbg_tui.diagnosis.events import op_type_of
from tfdbg_tui.diagnosis.history import by_step, magnitudes_of, measured_tensors
from tfdbg_tui.diagnosis.losses import AVERAGES, losses, may_be_negative
from tfdbg_tui.diagnosis.op_traits import ADDS, ELEMENTWISE
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import PENALTY_TOO_STRONG
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect, first_and_others
from tfdbg_tui.diagnosis.rules.silent.unchanged import is_kernel
from tfdbg_tui.diagnosis.updates import layer_of_variable, variables_read
from tfdbg_tui.diagnosis.variable_values import VariableValues
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Layer, Variable

_MANY = 6  # measured steps
_GONE = 0.1  # of what they were at first, penalties are at most, as their weights are next to 0
_SAME = 0.9  # of what it was at first, the rest of the loss is at least
_NOTHING = 0.01  # of their first size, kernels are at most that are as good as 0
_STANDS = 0.7  # of what it was, a loss is at least by which nothing but a bias was learned
_FOLLOWED = 200  # tensors that a term of a loss is made of
_JOINS = ADDS - {"Sub"} | {"Pack", "Cast", "Identity", "Reshape"}
_READS = READS | {"VariableV2", "Variable"}
_OF_WEIGHTS = ELEMENTWISE | AVERAGES | _READS | {"Const", "L2Loss", "StridedSlice"}
"""Types of ops that penalties are made of: none of them multiplies weights with data."""


class _Kernel(NamedTuple):
    """A variable that data are multiplied with.

    Attributes:
        event: The first value that is next to nothing, else the last.
        variable: The variable.
        first: Its largest number at first.
        last: Its largest number at last.
    """

    event: TensorEvent
    variable: Variable
    first: float
    last: float


def find_too_strong(dataflow: Dataflow) -> list[Suspect]:
    """Return what has made weights next to nothing, where nothing else was learned."""
    return list(_find_penalties(dataflow)) or list(_find_weights_gone(dataflow))


def _find_weights_gone(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield a value of the first kernel, if all are next to nothing and no loss has fallen.

    A single one may be of a model for which 0 is right.
    """
    kernels = _kernels(dataflow)
    if len(kernels) < 2 or not all(one.last < _NOTHING * one.first for one in kernels):
        return
    rests = [
        [t for t in _terms(dataflow, loss) if not _is_penalty(dataflow, t)]
        for loss in losses(dataflow)
    ]
    if any(_may_be_negative(dataflow, term) for rest in rests for term in rest):
        return
    sizes = [_sizes(dataflow, rest) for rest in rests]
    if not sizes or any(not first or last < _STANDS * first for first, last in sizes):
        return
    (event, variable, *ends), (first, last) = kernels[0], sizes[0]
    evidence = (
        f"all {len(kernels):,} kernels go to 0: the largest number of {variable.name} was "
        f"{ends[0]:.3g} at first, and is {ends[1]:.3g}; the loss without penalties was "
        f"{first:.3g}, and is {last:.3g}"
    )
    layer, others = first_and_others(layer_of_variable(dataflow, one.variable) for one in kernels)
    yield Suspect(
        event,
        PENALTY_TOO_STRONG,
        Match("likely", evidence),
        len(kernels),
        layer,
        others,
    )


def _kernels(dataflow: Dataflow) -> list[_Kernel]:
    """Return the variables that may be trained and that data are multiplied with, in steps."""
    values = VariableValues(dataflow.run, dataflow.calls)
    kernels: dict[Variable, _Kernel] = {}
    for event, measured in measured_tensors(dataflow.run):
        for variable, found in values.of_measured(event, measured):
            _, largest = by_step(dataflow.run, found)
            if not variable.trainable or variable in kernels or len(largest) < _MANY:
                continue
            if is_kernel(dataflow, event):
                first, last = float(largest[0]), float(np.median(largest[-(len(largest) // 3) :]))
                gone = found.rows[found.largest < _NOTHING * first].tolist()
                begins = replace(event, index=gone[0]) if gone else event
                kernels[variable] = _Kernel(begins, variable, first, last)
    return list(kernels.values())


def _find_penalties(dataflow: Dataflow) -> Iterator[Suspect]:
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
        layers = (one for term in penalties for one in _layers(dataflow, term))
        layer, others = first_and_others(layers)
        yield Suspect(
            penalties[0],
            PENALTY_TOO_STRONG,
            Match("likely", evidence),
            len(penalties),
            layer,
            others,
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
