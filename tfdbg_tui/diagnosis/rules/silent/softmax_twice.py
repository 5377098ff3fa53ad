"""Losses that apply a softmax themselves, to the result of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import TensorEvent, op_type_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import SOFTMAX_TWICE
from tfdbg_tui.diagnosis.rules.silent.ops_of_type import first_computations
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow

_LOSSES = frozenset({"SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"})
_HANDED_ON = frozenset({"Reshape", "Cast", "Squeeze"})
_DEPTH = 4  # ops from a loss to a softmax


def find_softmax_twice(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield each loss that wants logits, and is given the result of a softmax."""
    for event, times in first_computations(dataflow.run, _LOSSES):
        if event.slot or not _takes_softmax(dataflow, event):
            continue
        evidence = f"{op_type_of(dataflow.run, event)} takes the result of a Softmax"
        yield Suspect(event, SOFTMAX_TWICE, Match("likely", evidence), times)


def _takes_softmax(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether the first input of an op is the result of a softmax, as it is or handed on."""
    for _ in range(_DEPTH):
        given = next((one for one in dataflow.producers(event) if not one.input_slot), None)
        if given is None or given.event is None:
            return False
        event = dataflow.origin(given.event)
        op_type = op_type_of(dataflow.run, event)
        if op_type not in _HANDED_ON:
            return op_type == "Softmax"
    return False
