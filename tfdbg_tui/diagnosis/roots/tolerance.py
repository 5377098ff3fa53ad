"""Whether ∞ is meant: what a program may do with it before it counts as a bug.

Who writes down a mask of -∞ reckons with it; log(0) is as good as any number to who takes its
exponential again; numbers that grow without bounds in a loop tell whether a point escapes.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.calls import CONTROL, LOOPS
from tfdbg_tui.diagnosis.dataflow.variables import assigns
from tfdbg_tui.diagnosis.events import graph_id_of, op_type_of, stack_id_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.locations import inside_algorithm
from tfdbg_tui.diagnosis.op_traits import (
    ADDS,
    COMPARES_AND_ADDS,
    COMPARISONS,
    DIVISIONS,
    EXPONENTIALS,
    GROWS,
    MOVES,
    NON_FLOAT_RESULT,
    REDUCES,
    SCALES,
    SMALL_TYPES,
    SOURCES,
    SUMS,
)

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow, Use
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.alert_sites import AlertSite, Summaries
    from tfdbg_tui.logdir import Run

_DATA = SOURCES - {"Placeholder", "PlaceholderWithDefault", "ReadVariableOp", "VarHandleOp"}


class Tolerance(Enum):
    """What may become of ∞ for it to count as harmless."""

    LEFT_OUT = "only a select or the like may take it out again"
    LOGARITHM = "an exponential may take it out as well: it is the logarithm of 0, or a mask"
    DIVIDED_BY = "a division of a constant by it may take it out as well: 1 / (1/a + 1/b)"
    ABSORBED = "any op may turn it into a finite number"
    KEPT = "it may also stay: the program wrote it down, and only compares and adds to it"


class Tolerances:
    """Judges by what is done with bad values what may become of them."""

    def __init__(self, run: Run, dataflow: Dataflow, summaries: Summaries) -> None:
        self._run = run
        self._dataflow = dataflow
        self._summaries = summaries

    def tolerance(self, root: TensorEvent, sites: list[AlertSite], *, given: bool) -> Tolerance:
        """Return what may become of ∞ that a place has made.

        Args:
            root: The first bad tensor.
            sites: All places that are bad because of it, its own included.
            given: Whether an input of the root left no record, so that it may be from outside.
        """
        op_type = op_type_of(self._run, root) or ""
        summary = self._summaries(root)
        plain = all(
            self._passes_on(site) or self._is_initial_value(site.first)
            for site in sites
            if site.first != root
        )
        if op_type in SOURCES | MOVES | {"Fill"} or (given and op_type in COMPARES_AND_ADDS):
            written = op_type in ("Const", "Fill") or (given and op_type not in _DATA)
            return Tolerance.KEPT if written and plain else Tolerance.ABSORBED
        if self._given_infinity(root):
            return Tolerance.ABSORBED
        if summary is not None and summary.dtype in SMALL_TYPES:
            # Two masks of the lowest number add up to -∞, which is still a mask.
            masks = op_type in ADDS and plain and summary.nan == summary.pos_inf == 0
            return Tolerance.LOGARITHM if masks else Tolerance.LEFT_OUT
        if inside_algorithm(self._run, stack_id_of(self._run, root)):
            return Tolerance.ABSORBED
        if op_type == "Log" and all(
            self._passes_on(site, SCALES | REDUCES) for site in sites if site.first != root
        ):
            return Tolerance.LOGARITHM
        if op_type in DIVISIONS and self._adds_up(root, sites):
            return Tolerance.DIVIDED_BY
        return Tolerance.ABSORBED if op_type in EXPONENTIALS else Tolerance.LEFT_OUT

    def _given_infinity(self, root: TensorEvent) -> bool:
        """Whether Python has given an eager op ∞ that no op has made, as a graph has a constant."""
        if root.kind != "execution":
            return False
        written = [p.given for p in self._dataflow.producers(root) if p.event is None and p.given]
        return any(given.has_inf_or_nan and given.nan == 0 for given in written)

    def grows_in_loop(self, root: TensorEvent, sites: list[AlertSite]) -> bool:
        """Whether numbers that grow in a loop stay in it, and are only compared there.

        So does whoever asks after how many iterations a point escapes.
        """
        body = self._dataflow.calls.call_site(graph_id_of(self._run, root) or "")
        if body is None or body.op is None or body.op.op_type not in LOOPS:
            return False
        if op_type_of(self._run, root) not in GROWS or is_backward(self._run, root):
            return False
        loop = self._dataflow.calls.called_graphs(body.op)
        events = [event for site in sites for event in (site.first, site.last)]
        return all(graph_id_of(self._run, event) in loop for event in events) and all(
            self._stays_in_loop(use) for event in events for use in self._dataflow.consumers(event)
        )

    def _stays_in_loop(self, use: Use) -> bool:
        """Whether a use of a number without bounds compares it, or makes the like of it."""
        if use.event is None:
            return use.op_type == "Identity" or use.op_type in COMPARISONS | NON_FLOAT_RESULT
        made = self._summaries(use.event)
        return made is not None and made.has_inf_or_nan is True

    def _adds_up(self, root: TensorEvent, sites: list[AlertSite]) -> bool:
        """Whether all that is done to ∞ is to add it up with other quotients."""
        others = [site for site in sites if site.first != root]
        sums = [self._sums_quotients(site.first) for site in others]
        return any(sums) and all(self._passes_on(site, SUMS) for site in others)

    def _sums_quotients(self, event: TensorEvent) -> bool:
        op_type = op_type_of(self._run, event)
        if op_type not in ADDS:
            return op_type in SUMS
        return all(p.op_type in DIVISIONS for p in self._dataflow.producers(event))

    def _passes_on(self, site: AlertSite, also: frozenset[str] = frozenset()) -> bool:
        """Whether a place only passes on ∞ as algorithms do that reckon with it."""
        op_type = op_type_of(self._run, site.first) or ""
        if "nan" in site.kinds or not site.kinds or is_backward(self._run, site.first):
            return False
        passes_on = COMPARES_AND_ADDS | CONTROL | {"Const"} | also
        return op_type in passes_on or op_type.startswith("__")

    def _is_initial_value(self, event: TensorEvent) -> bool:
        """Whether a tensor is only assigned: initializers multiply a constant by ones."""
        uses = self._dataflow.consumers(event)
        return bool(uses) and all(assigns(use.op_type or "") for use in uses)
