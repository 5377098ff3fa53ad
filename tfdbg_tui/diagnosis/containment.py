"""Whether bad values got anywhere: those that a program leaves out again do no harm.

An attention mask of -∞ ends in a softmax, NaN where data is missing ends in a ``tf.where``, an
overflow in ``1 / (1 + exp(-x))`` ends as 0.  A loss scaler asks whether gradients are finite and
skips the step.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.calls import BRANCHES
from tfdbg_tui.diagnosis.events import graph_op_of, op_type_of, stack_id_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.locations import inside_algorithm
from tfdbg_tui.diagnosis.optypes import (
    BOUNDS,
    COMPARISONS,
    GROWS,
    LEAVES_OUT,
    MOVES,
    NON_FLOAT_RESULT,
    SOURCES,
    unrecorded,
)
from tfdbg_tui.diagnosis.variables import assigns

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.badsites import BadSite, Summaries
    from tfdbg_tui.diagnosis.dataflow import Dataflow, Use
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run, TensorSummary

# Of these ops all outputs but the first are statistics, which are NaN for an empty batch; it is
# their use that would do harm.  (tf.debugging.enable_check_numerics leaves them out as well.)
_STATISTICS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")

# Their range is so small that an overflow, even one that ends in a finite number, is no intent.
_SMALL_TYPES = frozenset({"float16", "float8_e4m3fn", "float8_e5m2"})

# Their ∞ is as good as any large number: 1 / (1 + exp(1000)) is 0.  That of log(0) or 1 / 0 is not.
_GROWS = frozenset(
    {"Exp", "Expm1", "Cosh", "Sinh", "Square", "Mul", "MatMul", "AddV2", "Sum", "Pow"}
)


_SPREAD = 500  # places: so many bad ones were not contained


class _Manner(Enum):
    """What may become of ∞ for it to count as harmless."""

    LEFT_OUT = "only a select or the like may take it out again"
    ABSORBED = "any op may turn it into a finite number"
    KEPT = "it may also stay: the program wrote it down as a constant"


class Containment:
    """Follows bad tensors to their uses."""

    def __init__(self, run: Run, dataflow: Dataflow, summaries: Summaries) -> None:
        self._run = run
        self._dataflow = dataflow
        self._summaries = summaries

    def contained(self, root: TensorEvent, sites: list[BadSite]) -> bool:
        """Whether every use of every bad tensor of these places gives finite values again.

        Args:
            root: The first bad tensor.
            sites: All places that are bad because of it, its own included.
        """
        manner = self._manner(root)
        if manner is _Manner.KEPT and any(is_backward(self._run, site.first) for site in sites):
            manner = _Manner.ABSORBED
        if len(sites) > _SPREAD:
            return False
        # Uses inside graphs are quick to look up, those of eager tensors are not.
        ordered = sorted(sites, key=lambda site: site.first.kind == "execution")
        return all(
            self._harmless(event, manner)
            for site in ordered
            for event in dict.fromkeys((site.first, site.last))
        )

    def _manner(self, root: TensorEvent) -> _Manner:
        op_type = op_type_of(self._run, root)
        summary = self._summaries(root)
        if summary is not None and summary.dtype in _SMALL_TYPES and op_type not in SOURCES:
            return _Manner.LEFT_OUT
        if op_type == "Const":
            return _Manner.KEPT
        if inside_algorithm(self._run, stack_id_of(self._run, root)):
            return _Manner.ABSORBED
        return _Manner.ABSORBED if op_type in GROWS | SOURCES | MOVES else _Manner.LEFT_OUT

    def _harmless(self, event: TensorEvent, manner: _Manner) -> bool:
        summary = self._summaries(event)
        if summary is None or summary.nan:
            manner = _Manner.LEFT_OUT
        elif summary.nan is None and manner is _Manner.KEPT:
            manner = _Manner.ABSORBED  # NaN or ∞: the dump does not tell which
        uses = self._dataflow.consumers(event)
        if not uses:
            statistics = op_type_of(self._run, event) in _STATISTICS and event.slot > 0
            return statistics or manner is _Manner.KEPT or self._unused(event)
        return all(self._harmless_use(event, use, manner) for use in uses)

    def _unused(self, event: TensorEvent) -> bool:
        """Whether a bad tensor is a gradient that nobody asked for.

        A loss that is not used is no such thing: what matters is its gradient.
        """
        op = graph_op_of(self._run, event)
        if op is not None and op.op_type == "Placeholder":
            return True  # an argument that this branch does not use
        if op is None or not is_backward(self._run, event):
            return False
        return not self._dataflow.calls.may_call_unrecorded(op.graph_id)

    def _harmless_use(self, event: TensorEvent, use: Use, manner: _Manner) -> bool:
        if use.op_type in NON_FLOAT_RESULT:
            return True
        if use.op_type in COMPARISONS:
            return manner is not _Manner.LEFT_OUT
        if use.op_type is not None and assigns(use.op_type):
            return False
        if use.event is None and use.op_type and not unrecorded(use.op_type):
            return manner is not _Manner.LEFT_OUT  # it becomes an index, a sample, a condition
        if use.event is None or not self._same_call(event, use.event):
            return manner is _Manner.KEPT or use.op_type in BRANCHES or use.via == "argument"
        made = self._summaries(use.event)
        if made is None or made.has_inf_or_nan is None:
            return manner is _Manner.KEPT
        if made.has_inf_or_nan:
            return True  # an alert of its own, which is looked at as well
        if use.op_type in LEAVES_OUT or manner is not _Manner.LEFT_OUT:
            return True
        return use.op_type in BOUNDS and not _has_nan(self._summaries(event))

    def _same_call(self, event: TensorEvent, used: TensorEvent) -> bool:
        if event.kind != "graph_execution" or used.kind != "graph_execution":
            return True
        timeline = self._dataflow.timeline
        return timeline.execution_of(event.index) == timeline.execution_of(used.index)


def _has_nan(summary: TensorSummary | None) -> bool:
    """Whether a bad tensor may hold NaN, and not only ∞."""
    return summary is None or summary.nan is None or summary.nan > 0
