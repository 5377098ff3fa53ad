"""Losses that apply a softmax or a sigmoid themselves, to the result of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import TensorEvent, op_type_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import SIGMOID_TWICE, SOFTMAX_TWICE
from tfdbg_tui.diagnosis.rules.silent.ops_of_type import first_computations
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow

_LOSSES = frozenset({"SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"})
_HANDED_ON = frozenset({"Reshape", "Cast", "Squeeze"})
_CHOOSES = "Select", "SelectV2"
_DEPTH = 4  # ops from a loss to a softmax


def find_softmax_twice(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield each loss that wants logits, and is given the result of a softmax."""
    for event, times in first_computations(dataflow.run, _LOSSES):
        if event.slot or not _takes_softmax(dataflow, event):
            continue
        evidence = f"{op_type_of(dataflow.run, event)} takes the result of a Softmax"
        yield Suspect(event, SOFTMAX_TWICE, Match("likely", evidence), times)


def find_sigmoid_twice(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield each binary cross entropy that wants logits, and is given the result of a sigmoid.

    TensorFlow makes it of log(1 + exp(-|x|)), and chooses between -x and x by the sign of x.
    """
    for event, times in first_computations(dataflow.run, {"Log1p"}):
        chosen = _made_by(dataflow, _made_by(dataflow, event, "Exp"), *_CHOOSES)
        given = dataflow.producers(chosen) if chosen is not None else ()
        negated = _made_by(dataflow, chosen, "Neg")
        sigmoid = _made_by(dataflow, negated, "Sigmoid")
        if sigmoid is None or sigmoid not in [one.event for one in given]:
            continue
        evidence = "the cross entropy of logits takes the result of a Sigmoid"
        yield Suspect(sigmoid, SIGMOID_TWICE, Match("likely", evidence), times)


def _made_by(dataflow: Dataflow, event: TensorEvent | None, *op_types: str) -> TensorEvent | None:
    """Return what an op of one of some types has made, of what a tensor is made of.

    Args:
        dataflow: Of the run.
        event: The tensor; None for none.
        op_types: The types.
    """
    given = dataflow.producers(event) if event is not None else ()
    made = (one.event for one in given if one.event is not None)
    return next((one for one in made if op_type_of(dataflow.run, one) in op_types), None)


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
