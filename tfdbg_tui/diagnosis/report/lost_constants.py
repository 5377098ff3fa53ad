"""Constants that are added to a number, and lost: of ``1 - p + 1e-9`` TensorFlow makes ``1 - p``.

Its graph optimizer adds constants up first, and what nothing else takes is not computed then.  So
the dump has no record of ``1 - p``; see `dump.observe.rewritten`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import name_of, op_type_of
from tfdbg_tui.diagnosis.values import total

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.alert_sites import Summaries

_SUMS = ("Add", "AddV2", "Sub")


def lost_constant(dataflow: Dataflow, summaries: Summaries, event: TensorEvent) -> str:
    """Say that a number that an op takes is 0 although something was added to it; "" if none is.

    Args:
        dataflow: Where tensors come from.
        summaries: Returns what was recorded of a tensor.
        event: What the op made.
    """
    files = dataflow.run.files
    if files.filters or not files.is_of_our_writer:
        return ""  # What has no record may have been computed.
    for producer in dataflow.producers(event):
        taken = producer.event
        if taken is not None and _is_zero_after_sum(dataflow, summaries, taken):
            return (
                f"; {name_of(dataflow.run, taken)} adds a constant that is lost: TensorFlow adds "
                "constants first, and 1 + 1e-9 is 1 in float32"
            )
    return ""


def _is_zero_after_sum(dataflow: Dataflow, summaries: Summaries, taken: TensorEvent) -> bool:
    """Whether a sum of a constant and a sum, of which there is no record, holds zeros."""
    if op_type_of(dataflow.run, taken) not in _SUMS or taken.kind != "graph_execution":
        return False
    summary = summaries(taken)
    if summary is None or not total(summary, "zero"):
        return False
    added = [(one.op_type, one.event is not None) for one in dataflow.producers(taken)]
    unrecorded = [op_type in _SUMS and not is_recorded for op_type, is_recorded in added]
    return any(unrecorded) and any(op_type == "Const" for op_type, _ in added)
