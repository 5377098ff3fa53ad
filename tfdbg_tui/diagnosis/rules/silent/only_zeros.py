"""Data, or the rows of an embedding, that are 0 in each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.variables import READS
from tfdbg_tui.diagnosis.events import op_type_of
from tfdbg_tui.diagnosis.losses import losses, made_of
from tfdbg_tui.diagnosis.op_traits import ARGUMENTS, ARRANGES, OF_WEIGHTS
from tfdbg_tui.diagnosis.roots.alert_sites import place_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import ONLY_ZEROS
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.rules.silent.saturation import Measured

_MANY = 5  # measured computations that have to show it: those of eight steps or more
_ROWS = frozenset({"GatherV2", "ResourceGather"})


def find_only_zeros(dataflow: Dataflow, measured: Measured) -> Iterator[Suspect]:
    """Yield the data that are all 0, and the embeddings that give only that.

    Of several arrays of data one may be 0 on purpose: all have to be that layers multiply with
    their weights.

    Args:
        dataflow: Of the run.
        measured: Its tensors that were measured.
    """
    run = dataflow.run
    zeros = {
        place_of(run, event): (event, found)
        for event, found in measured
        if op_type_of(run, event) in ARGUMENTS | _ROWS
        and len(found) >= _MANY
        and not found.largest.any()
    }
    if not zeros:
        return
    for loss in losses(dataflow):
        made = made_of(dataflow, loss)
        data = dict.fromkeys(place_of(run, event) for event in _given_to_layers(dataflow, made))
        rows = {place_of(run, event) for event in made if _is_row(dataflow, event)}
        for place in rows & zeros.keys() or (data if data.keys() <= zeros.keys() else ()):
            event, found = zeros[place]
            evidence = f"each element is 0 in all {len(found):,} computations measured"
            yield Suspect(event, ONLY_ZEROS, Match("proved", evidence), len(found))


def _given_to_layers(dataflow: Dataflow, made: Iterable[TensorEvent]) -> Iterator[TensorEvent]:
    """Yield the data that ops take beside weights, as they came in."""
    run = dataflow.run
    for event in made:
        source: TensorEvent | None = event
        if op_type_of(run, event) not in OF_WEIGHTS:
            continue
        while source is not None and (source == event or op_type_of(run, source) in ARRANGES):
            source = next((one.event for one in dataflow.producers(source)), None)
        if source is not None and op_type_of(run, source) in ARGUMENTS:
            yield source


def _is_row(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether a tensor is rows of a variable."""
    if op_type_of(dataflow.run, event) not in _ROWS:
        return False
    table = next(iter(dataflow.producers(event)), None)
    is_read = table is not None and (table.op_type or "") in READS
    return is_read or op_type_of(dataflow.run, event) in READS
