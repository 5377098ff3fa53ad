"""Data, or the rows of an embedding, that are 0 in each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.variables import READS
from tfdbg_tui.diagnosis.events import op_type_of
from tfdbg_tui.diagnosis.losses import given_to, losses, made_of
from tfdbg_tui.diagnosis.op_traits import ARGUMENTS, DATASET_ELEMENTS, OF_WEIGHTS, RANDOM
from tfdbg_tui.diagnosis.roots.alert_sites import place_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import ONLY_ZEROS
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.alert_sites import AlertPlace
    from tfdbg_tui.diagnosis.rules.silent.saturation import Measured

_MANY = 5  # measured computations that have to show it: those of eight steps or more
_ROWS = frozenset({"GatherV2", "ResourceGather"})


def find_only_zeros(dataflow: Dataflow, measured: Measured) -> Iterator[Suspect]:
    """Yield the data and rows of embeddings that are all 0, where layers are given nothing else.

    One of several arrays may be 0 on purpose, and so may the row of a word that stands for none.

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
        users = made_of(dataflow, loss)
        given = _given_to_layers(dataflow, users)
        if given is None or not given or not given <= zeros.keys():
            continue
        in_order = sorted((zeros[place] for place in given), key=lambda zero: zero[0].index)
        for event, found in in_order:
            evidence = f"each element is 0 in all {len(found):,} computations measured"
            yield Suspect(event, ONLY_ZEROS, Match("proved", evidence), len(found))


def _given_to_layers(
    dataflow: Dataflow, users: Mapping[TensorEvent, set[TensorEvent]]
) -> set[AlertPlace] | None:
    """Return what data, rows of variables and random numbers ops take that multiply with weights.

    None where some of it is not on record, as an array of NumPy.

    Args:
        dataflow: Of the run.
        users: What a loss is made of, and for what it is used there.
    """
    run = dataflow.run
    products = {event for event in users if op_type_of(run, event) in OF_WEIGHTS}
    for event in products:
        if event.kind == "execution" and next(iter(dataflow.producers(event))).event is None:
            return None
    made_of_them, given = Worklist(products), given_to(users)
    for event in made_of_them:
        made_of_them.add(*given[event])
    return {place_of(run, event) for event in made_of_them.seen if _comes_in(dataflow, event)}


def _comes_in(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether a tensor is data, rows of a variable, or random numbers."""
    op_type = op_type_of(dataflow.run, event)
    if op_type == "Placeholder":  # of a function or a loop, what is given to it stands for that
        return all(producer.event is None for producer in dataflow.producers(event))
    return op_type in DATASET_ELEMENTS | RANDOM or _is_row(dataflow, event)


def _is_row(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether a tensor is rows of a variable."""
    if op_type_of(dataflow.run, event) not in _ROWS:
        return False
    table = next(iter(dataflow.producers(event)), None)
    is_read = table is not None and (table.op_type or "") in READS
    return is_read or op_type_of(dataflow.run, event) in READS
