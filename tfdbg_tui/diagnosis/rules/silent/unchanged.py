"""Layers that are to be trained, and that nothing changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.layers import output_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.explanations import LAYER_NEVER_CHANGES
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
from tfdbg_tui.diagnosis.training import find_untrained

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.training import Untrained
    from tfdbg_tui.logdir import Layer, Run

_NAMED = 3  # variables


def find_unchanged(run: Run, dataflow: Dataflow) -> list[Suspect]:
    """Return the layers whose variables nothing changes, though they may be trained.

    Args:
        run: The run.
        dataflow: Of the run.
    """
    found = []
    for untrained in find_untrained(run, dataflow):
        event = _place(run, dataflow, untrained)
        if event is not None:
            match = Match("likely", _evidence(untrained))
            found.append(Suspect(event, LAYER_NEVER_CHANGES, match, len(untrained.variables)))
    return found


def _place(run: Run, dataflow: Dataflow, untrained: Untrained) -> TensorEvent | None:
    """Return the last tensor of a layer that something uses, as nobody minds what is not used.

    Where variables were in no layer that was called, the making of the first one.
    """
    if untrained.layer is not None:
        return _last_used(run, dataflow, untrained.layer)
    return dataflow.timeline.maker_in(*untrained.variables[0].key)


def _last_used(run: Run, dataflow: Dataflow, layer: Layer) -> TensorEvent | None:
    output = output_of(run, layer)
    if output is None or output.kind == "graph_execution":
        return output  # What nothing uses, TensorFlow does not compute.
    return output if dataflow.consumers(output) else None


def _evidence(untrained: Untrained) -> str:
    names = [variable.name for variable in untrained.variables]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    asked = "no gradient gets to them" if untrained.asked else "nobody asks for their gradients"
    layer = f"layer {untrained.layer.path}: " if untrained.layer else ""
    return (
        f"{layer}{', '.join(names[:_NAMED])}{more}: {asked}, and nothing assigns to them, "
        "while other variables are trained"
    )
