"""Trainings whose steps are so short that the variables stay as they are."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.history import dtype_of, measured_tensors
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.explanations import UPDATES_TOO_SMALL
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
from tfdbg_tui.diagnosis.variable_values import VariableValues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run, Variable
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_MANY = 4  # measured computations of each update
_EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
"""From 1 to the next number of each type."""


class _Update(NamedTuple):
    """What is added to a variable in each step.

    Attributes:
        event: The last one.
        variable: The variable.
        largest: The largest magnitude of each.
        share: The same, of the largest magnitude that the variable had then.
    """

    event: TensorEvent
    variable: Variable
    largest: np.ndarray
    share: np.ndarray


def find_tiny_updates(run: Run, dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield the training functions all of whose updates are too small for their variables.

    A number does not change by what is less than a quarter of the distance to the next one at 1,
    times itself.  What begins with 0, as a bias does, changes all the same, and learns nothing.

    Args:
        run: The run.
        dataflow: Of the run.
    """
    if not dataflow.variables.trained:
        return
    for updates in _by_graph(run, dataflow).values():
        largest = max(updates, key=lambda update: float(update.share.max()))
        dtype = dtype_of(run, largest.event) or ""
        if largest.share.max() > _EPSILON.get(dtype, 0.0) / 4 or not largest.largest.all():
            continue
        evidence = (
            f"what is added to {largest.variable.name} is at most {largest.largest.max():.3g}, "
            f"which is {largest.share.max():.1g} of its largest number, in all "
            f"{len(largest.share):,} steps measured, and no more of others that do not begin "
            f"with 0; {dtype} has no number between 1 and 1 + {_EPSILON[dtype]:.1g}"
        )
        match = Match("likely", evidence)
        yield Suspect(largest.event, UPDATES_TOO_SMALL, match, len(updates), largest.variable.layer)


def _by_graph(run: Run, dataflow: Dataflow) -> dict[str, list[_Update]]:
    """Return the updates of each graph that has measured all that it makes."""
    values = VariableValues(run, dataflow.calls)
    reads: dict[tuple[str, Variable], Magnitudes] = {}
    added: dict[tuple[str, Variable], tuple[TensorEvent, Magnitudes]] = {}
    for event, found in measured_tensors(run):
        if event.kind == "execution":
            continue
        site = run.graph_executions.site(event.index)
        value = values.of_site(site)
        if value is None or value.variable.slot_of or not value.variable.trainable:
            continue
        if value.is_update:
            added[site.graph_id, value.variable] = event, found
        else:
            reads[site.graph_id, value.variable] = found
    graphs: dict[str, list[_Update]] = defaultdict(list)
    unknown = set()
    for (graph_id, variable), (event, found) in added.items():
        read = reads.get((graph_id, variable))
        together = read is not None and np.array_equal(read.executions, found.executions)
        if read is None or not together or len(found) < _MANY:
            unknown.add(graph_id)
        elif read.largest.all():
            share = found.largest / read.largest
            graphs[graph_id].append(_Update(event, variable, found.largest, share))
    return {graph_id: some for graph_id, some in graphs.items() if graph_id not in unknown}
