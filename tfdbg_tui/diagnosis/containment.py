"""Whether bad values got anywhere: those that a program leaves out again do no harm.

An attention mask of -∞ ends in a softmax, NaN where data is missing ends in a ``tf.where``, an
overflow in ``1 / (1 + exp(-x))`` ends as 0.  A loss scaler asks whether gradients are finite and
skips the step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.calls import BRANCHES
from tfdbg_tui.diagnosis.events import graph_op_of, op_type_of
from tfdbg_tui.diagnosis.optypes import COMPARISONS, LEAVES_OUT, NON_FLOAT_RESULT

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.badsites import BadSite, Summaries
    from tfdbg_tui.diagnosis.dataflow import Dataflow, Use
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run

# Outputs that may hold anything and are for the op's own gradient only (as check_numerics skips).
_RESERVE_SLOTS = {
    "FusedBatchNorm": 3,
    "FusedBatchNormV2": 3,
    "FusedBatchNormV3": 3,
    "FusedBatchNormGrad": 3,
    "FusedBatchNormGradV2": 3,
    "FusedBatchNormGradV3": 3,
}


# Their range is so small that an overflow, even one that ends in a finite number, is no intent.
_SMALL_TYPES = frozenset({"float16", "float8_e4m3fn", "float8_e5m2"})


class Containment:
    """Follows bad tensors to their uses."""

    def __init__(self, run: Run, dataflow: Dataflow, summaries: Summaries) -> None:
        self._run = run
        self._dataflow = dataflow
        self._summaries = summaries

    def contained(self, sites: list[BadSite]) -> bool:
        """Whether every use of every bad tensor of these places gives finite values again."""
        return all(
            self._harmless(event)
            for site in sites
            for event in dict.fromkeys((site.first, site.last))
        )

    def _harmless(self, event: TensorEvent) -> bool:
        op_type = op_type_of(self._run, event)
        if event.slot >= _RESERVE_SLOTS.get(op_type or "", 1 << 16):
            return True
        uses = self._dataflow.consumers(event)
        if not uses:
            return self._unused(event)
        return all(self._harmless_use(event, use) for use in uses)

    def _unused(self, event: TensorEvent) -> bool:
        """Whether a bad tensor without uses is really not used: call ops may be unrecorded."""
        op = graph_op_of(self._run, event)
        if op is None:
            return False
        return not self._dataflow.calls.may_call_unrecorded(op.graph_id)

    def _harmless_use(self, event: TensorEvent, use: Use) -> bool:
        if use.op_type in NON_FLOAT_RESULT:
            return True
        summary = self._summaries(event)
        nan = summary is None or summary.nan is None or summary.nan > 0
        if use.op_type in COMPARISONS:
            return not nan
        if use.event is None or not self._same_call(event, use.event):
            return use.op_type in BRANCHES or use.via == "argument"
        made = self._summaries(use.event)
        if made is None or made.has_inf_or_nan is None:
            return False
        if made.has_inf_or_nan:
            return True  # an alert of its own, which is looked at as well
        if nan or (summary and summary.dtype in _SMALL_TYPES):
            return use.op_type in LEAVES_OUT
        return True

    def _same_call(self, event: TensorEvent, used: TensorEvent) -> bool:
        if event.kind != "graph_execution" or used.kind != "graph_execution":
            return True
        timeline = self._dataflow.timeline
        return timeline.execution_of(event.index) == timeline.execution_of(used.index)
