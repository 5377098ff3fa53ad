"""Layers whose units all compute the same, as their weights began with one number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.diagnosis.events import summary_of
from tfdbg_tui.diagnosis.history import measured_tensors
from tfdbg_tui.diagnosis.op_traits import ADDS, OF_WEIGHTS
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import UNITS_ALIKE
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect, first_and_others
from tfdbg_tui.diagnosis.updates import layer_of_variable
from tfdbg_tui.diagnosis.variable_values import VariableValues, uses_of_value
from tfdbg_tui.logdir.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import TensorSummary, Variable
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_MANY = 5  # measured values of a bias that have to show it
_UNITS = 4  # of a layer: few may be alike by chance
_SAME = 1e-4  # of their size, numbers that rounding has made differ are apart
_ADDS_BIAS = ADDS | {"BiasAdd"}


class _Read(NamedTuple):
    """How a variable that begins with one number is read where it is measured most often.

    Attributes:
        variable: The variable.
        event: The last computation of the value.
        found: Its magnitudes.
        first: The first value.
    """

    variable: Variable
    event: TensorEvent
    found: Magnitudes
    first: TensorSummary


def find_units_alike(dataflow: Dataflow) -> list[Suspect]:
    """Return the first layer that begins with one number in all weights and stays so in its units.

    Its bias tells: it is changed, and all of its numbers by the same.  So they are if the weights
    after them begin with one number as well; what is random there makes units differ at once.
    """
    reads = _begin_alike(dataflow)
    products = {
        use.event: read
        for read in reads
        for use in uses_of_value(dataflow, read.event)
        if use.event is not None and use.op_type in OF_WEIGHTS
    }
    if len({read.variable for read in products.values()}) < 2:
        return []
    found: dict[Variable, tuple[_Read, _Read, TensorEvent]] = {}
    for bias in (read for read in reads if _stay_alike(dataflow, read)):
        for product in _added_to(dataflow, bias.event):
            weights = products.get(product)
            if weights is not None and weights.first.maximum and weights != bias:
                found.setdefault(weights.variable, (weights, bias, product))
    return [_suspect(dataflow, [*found.values()])] if found else []


def _suspect(dataflow: Dataflow, found: list[tuple[_Read, _Read, TensorEvent]]) -> Suspect:
    """Return what is to be said of layers.

    Args:
        dataflow: Of the run.
        found: Weights, bias and product of each.
    """
    weights, bias, product = found[0]
    more = f"; so do those of {counted(len(found) - 1, 'more layer')}" * (len(found) > 1)
    evidence = (
        f"all {weights.first.size:,} numbers of {weights.variable.name} begin with "
        f"{weights.first.maximum:.3g}, and the {bias.first.size:,} of {bias.variable.name} change "
        f"and are alike in all {len(bias.found):,} values measured, at last "
        f"{bias.found.largest[-1]:.3g}{more}"
    )
    layer, others = first_and_others(layer_of_variable(dataflow, one.variable) for one, *_ in found)
    return Suspect(
        product,
        UNITS_ALIKE,
        Match("likely", evidence),
        len(bias.found),
        layer,
        others,
    )


def _begin_alike(dataflow: Dataflow) -> list[_Read]:
    """Return the variables that may be trained and begin with one number in several elements."""
    run = dataflow.run
    values = VariableValues(run, dataflow.calls)
    reads: dict[Variable, _Read] = {}
    for event, measured in measured_tensors(run):
        for variable, found in values.of_measured(event, measured):
            before = reads.get(variable)
            if not variable.trainable or (before is not None and len(found) <= len(before.found)):
                continue
            first, last = (replace(event, index=int(found.rows[place])) for place in (0, -1))
            value = summary_of(run, first)
            if value is not None and value.size is not None:
                reads[variable] = _Read(variable, last, found, value)
    return [
        read
        for read in reads.values()
        if (read.first.size or 0) >= _UNITS and None is not read.first.minimum == read.first.maximum
    ]


def _stay_alike(dataflow: Dataflow, read: _Read) -> bool:
    """Whether all numbers of a variable are alike whenever it is measured, and are changed."""
    if len(read.found) < _MANY:
        return False
    events = [replace(read.event, index=row) for row in read.found.rows.tolist()]
    summaries = [summary_of(dataflow.run, event) for event in events]
    values = [(one.minimum, one.maximum) for one in summaries if one is not None]
    ends = [(low, high) for low, high in values if low is not None and high is not None]
    spread = _SAME * read.found.largest.max()
    changes = max(low for low, _ in ends) - min(low for low, _ in ends) > spread
    return changes and len(ends) == len(events) and all(high - low <= spread for low, high in ends)


def _added_to(dataflow: Dataflow, bias: TensorEvent) -> Iterator[TensorEvent]:
    """Yield the tensors that a value of a variable is added to."""
    for use in uses_of_value(dataflow, bias):
        if use.event is not None and use.op_type in _ADDS_BIAS:
            for producer in dataflow.producers(use.event):
                if producer.event is not None:
                    yield producer.event
