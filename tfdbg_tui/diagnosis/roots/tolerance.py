"""Whether ∞ is meant: a table of what a program may do with it before it counts as a bug.

Who writes down a mask of -∞ reckons with it; log(0) is as good as any number to who takes its
exponential again; numbers that grow without bounds in a loop tell whether a point escapes.  NaN is
meant only where the program wrote it down, to mark what is missing, and computes nothing with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.calls import CONTROL, LOOPS
from tfdbg_tui.diagnosis.dataflow.variables import READS, assigns, sets
from tfdbg_tui.diagnosis.events import graph_id_of, op_type_of, stack_id_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.locations import inside_algorithm
from tfdbg_tui.diagnosis.op_traits import (
    ADDS,
    ARRANGES,
    COMPARES_AND_ADDS,
    COMPARISONS,
    DIVISIONS,
    EXPONENTIALS,
    GROWS,
    MOVES,
    NON_FLOAT_RESULT,
    ROUNDS_ONCE,
    SCALES,
    SMALL_TYPES,
    SOURCES,
    SUMS,
    SUMS_PRODUCTS,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.diagnosis.dataflow import Dataflow, Producer, Use
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.alert_sites import AlertSite, Summaries
    from tfdbg_tui.logdir import Run, TensorSummary

_DATA = SOURCES - {"Placeholder", "PlaceholderWithDefault", "ReadVariableOp", "VarHandleOp"}

_WRITTEN = frozenset({"Const", "Fill", "OnesLike", "ZerosLike"})
"""Ops that compute nothing from values: what they give is written down."""

_LOGARITHMS = frozenset({"Atanh", "CumulativeLogsumexp", "Log", "Log1p"})
"""Ops of which another one is the inverse, and gives a finite number of their ∞."""


class Tolerance(Enum):
    """What may become of ∞, or of NaN that marks something, for it to count as harmless."""

    LEFT_OUT = "only a select or the like may take it out again"
    LOGARITHM = "an exponential may take it out as well: it is the logarithm of 0, or a mask"
    SATURATED = (
        "an op may take it out as well that gives the same for any large number: exp(-x * x)"
    )
    DIVIDED_BY = "a division of a constant by it may take it out as well: 1 / (1/a + 1/b)"
    ABSORBED = "any op may turn it into a finite number"
    KEPT = "it may also stay: the program wrote it down, and only compares and adds to it"
    MARKER = "it is NaN, and may stay or be left out: the program wrote it down, and only moves it"


@dataclass(frozen=True)
class Infinity:
    """∞ that a place has made, and all places that are bad because of it.

    Attributes:
        dataflow: Of the run.
        summaries: What is on record of its tensors.
        root: The first bad tensor.
        sites: The places, that of the root included.
        is_given: Whether an input of the root left no record, so that it may be from outside.
    """

    dataflow: Dataflow
    summaries: Summaries
    root: TensorEvent
    sites: list[AlertSite]
    is_given: bool

    @property
    def _run(self) -> Run:
        return self.dataflow.run

    @property
    def op_type(self) -> str:
        """Type of the op that has made it; "" if it is not known."""
        return op_type_of(self._run, self.root) or ""

    @property
    def is_marker(self) -> bool:
        """Whether it is NaN that is written down, and no value is computed with it.

        So a program marks or pads what is missing.  An array in which only some elements are NaN is
        data.
        """
        if self.op_type in ("Const", "Fill"):
            written = [self.summaries(self.root)]
        else:
            written = [p.given for p in self.dataflow.producers(self.root) if p.event is None]
        return any(map(_is_all_nan, written)) and all(
            self._only_places(event) for site in self.sites for event in (site.first, site.last)
        )

    @property
    def is_from_outside(self) -> bool:
        """Whether no op has computed it, as far as is recorded: it is data, or written down."""
        if self.is_update_of_variable:
            return False
        given = self.is_given and self.op_type in COMPARES_AND_ADDS
        return given or self.op_type in SOURCES | MOVES | {"Fill"}

    @property
    def is_update_of_variable(self) -> bool:
        """Whether an op has computed it from what a variable held and a finite number."""
        return any(producer.updated_by for producer in self.dataflow.producers(self.root))

    @property
    def is_written_down(self) -> bool:
        """Whether it is, or may be, a constant of the program."""
        return self.op_type in ("Const", "Fill") or (self.is_given and self.op_type not in _DATA)

    @property
    def is_only_passed_on(self) -> bool:
        """Whether all that is done with it is to compare it, add to it, or assign it."""
        return all(
            self._passes_on(site) or self._is_initial_value(site.first) for site in self._others
        )

    @property
    def is_negated(self) -> bool:
        """Whether ∞ has come of -∞: a score of what is ruled out is meant, a loss of it is not."""
        made = self.summaries(self.root)
        return (
            made is not None and not made.pos_inf and any("pos_inf" in s.kinds for s in self.sites)
        )

    @property
    def is_given_by_python(self) -> bool:
        """Whether Python has given an eager op ∞ that no op has made, as a graph has a constant."""
        if self.root.kind != "execution":
            return False
        written = [p.given for p in self.dataflow.producers(self.root) if p.event is None]
        return any(given and given.has_inf_or_nan and given.nan == 0 for given in written)

    @property
    def is_of_small_type(self) -> bool:
        """Whether it is of a type in which numbers of ordinary size overflow."""
        summary = self.summaries(self.root)
        return summary is not None and summary.dtype in SMALL_TYPES

    @property
    def is_sum_of_masks(self) -> bool:
        """Whether it may be two masks of the lowest number, added up to -∞: still a mask."""
        summary = self.summaries(self.root)
        negative = summary is not None and summary.nan == summary.pos_inf == 0
        return negative and self.op_type in ADDS and self.is_only_passed_on

    @property
    def is_inside_algorithm(self) -> bool:
        """Whether a library's algorithm has made it, which reckons with it."""
        return inside_algorithm(self._run, stack_id_of(self._run, self.root))

    @property
    def is_used_as_logarithm(self) -> bool:
        """Whether all that is done with it is what one does with logarithms."""
        return all(
            self._adds_up(site)
            or (self._passes_on(site, SUMS_PRODUCTS) and self._weighs_logarithms(site.first))
            for site in self._others
        )

    @property
    def is_large_number(self) -> bool:
        """Whether it stands for a number beyond the type's range, and so does what comes of it."""
        if self.op_type not in ROUNDS_ONCE or self.is_given or is_backward(self._run, self.root):
            return False
        given = map(self._given, self.dataflow.producers(self.root))
        if self.op_type == "Pow" and any(one is None or one.zero for one in given):
            return False  # a pole, perhaps
        values = [site for site in self._others if not is_backward(self._run, site.first)]
        return all(map(self._adds_up, values))

    def _adds_up(self, site: AlertSite) -> bool:
        """Whether a place scales or adds up ∞, or terms of which -∞ is the logarithm."""
        if op_type_of(self._run, site.first) == "Log" and site.kinds == {"neg_inf"}:
            return True
        return self._passes_on(site, SCALES | SUMS)

    def _weighs_logarithms(self, event: TensorEvent) -> bool:
        """Whether a product of matrices adds up logarithms of probabilities, each so many times.

        A layer that takes logarithms has weights below 0, and its features may be above 1.
        """
        logarithm = self.summaries(self.root)
        given = [self._given(producer) for producer in self.dataflow.producers(event)]
        return (
            logarithm is not None
            and logarithm.pos == 0
            and all(one is not None and (one.has_inf_or_nan or one.neg == 0) for one in given)
        )

    def _given(self, producer: Producer) -> TensorSummary | None:
        return producer.given or (self.summaries(producer.event) if producer.event else None)

    @property
    def is_added_up(self) -> bool:
        """Whether all that is done with it is to add it up with other quotients."""
        sums = [self._sums_quotients(site.first) for site in self._others]
        return any(sums) and all(self._passes_on(site, SUMS) for site in self._others)

    @property
    def grows_in_loop(self) -> bool:
        """Whether numbers that grow in a loop stay in it, and are only compared there.

        So does whoever asks after how many iterations a point escapes.
        """
        body = self.dataflow.calls.call_site(graph_id_of(self._run, self.root) or "")
        if body is None or body.op is None or body.op.op_type not in LOOPS:
            return False
        if self.op_type not in GROWS or is_backward(self._run, self.root):
            return False
        loop = self.dataflow.calls.called_graphs(body.op)
        events = [event for site in self.sites for event in (site.first, site.last)]
        return all(graph_id_of(self._run, event) in loop for event in events) and all(
            self._stays_in_loop(use) for event in events for use in self.dataflow.consumers(event)
        )

    @property
    def _others(self) -> list[AlertSite]:
        return [site for site in self.sites if site.first != self.root]

    def _only_places(self, event: TensorEvent) -> bool:
        """Whether an op moves what is written down, or is given nothing else."""
        op_type = op_type_of(self._run, event) or ""
        if is_backward(self._run, event):
            return False
        is_moved = op_type in ARRANGES | CONTROL | READS | {"Const"} or sets(op_type)
        if is_moved or op_type.startswith("__"):
            return True
        return all(
            producer.op_type in _WRITTEN or (producer.event is None and producer.given is not None)
            for producer in self.dataflow.producers(event)
        )

    def _stays_in_loop(self, use: Use) -> bool:
        """Whether a use of a number without bounds compares it, or makes the like of it."""
        if use.event is None:
            return use.op_type == "Identity" or use.op_type in COMPARISONS | NON_FLOAT_RESULT
        made = self.summaries(use.event)
        return made is not None and made.has_inf_or_nan is True

    def _sums_quotients(self, event: TensorEvent) -> bool:
        op_type = op_type_of(self._run, event)
        if op_type not in ADDS:
            return op_type in SUMS
        return all(p.op_type in DIVISIONS for p in self.dataflow.producers(event))

    def _passes_on(self, site: AlertSite, also: frozenset[str] = frozenset()) -> bool:
        """Whether a place only passes on ∞ as algorithms do that reckon with it."""
        op_type = op_type_of(self._run, site.first) or ""
        if "nan" in site.kinds or not site.kinds or is_backward(self._run, site.first):
            return False
        passes_on = COMPARES_AND_ADDS | CONTROL | {"Const"} | also
        return op_type in passes_on or op_type.startswith("__")

    def _is_initial_value(self, event: TensorEvent) -> bool:
        """Whether a tensor is only assigned: initializers multiply a constant by ones."""
        uses = self.dataflow.consumers(event)
        return bool(uses) and all(assigns(use.op_type or "") for use in uses)


@dataclass(frozen=True)
class Row:
    """What may become of ∞ of a certain kind.

    Attributes:
        id: Names the row in tests.
        fits: Whether the row is about such ∞.
        tolerance: What may become of it.
        reason: Why.
    """

    id: str
    fits: Callable[[Infinity], bool]
    tolerance: Tolerance
    reason: str


TOLERANCES = (
    Row(
        "marker",
        lambda made: made.is_marker,
        Tolerance.MARKER,
        "who writes down NaN and computes nothing with it marks what is missing",
    ),
    Row(
        "mask",
        lambda made: (
            made.is_from_outside
            and made.is_written_down
            and made.is_only_passed_on
            and not made.is_negated
        ),
        Tolerance.KEPT,
        "who writes down ∞ reckons with it",
    ),
    Row(
        "from-outside",
        lambda made: made.is_from_outside,
        Tolerance.ABSORBED,
        "no op of the program has computed it",
    ),
    Row(
        "given-by-python",
        lambda made: made.is_given_by_python,
        Tolerance.ABSORBED,
        "who gives ∞ to an op reckons with it",
    ),
    Row(
        "sum-of-masks",
        lambda made: made.is_of_small_type and made.is_sum_of_masks,
        Tolerance.LOGARITHM,
        "two masks of the lowest number add up to -∞, which is still a mask",
    ),
    Row(
        "small-type",
        lambda made: made.is_of_small_type,
        Tolerance.LEFT_OUT,
        "ordinary numbers overflow in it",
    ),
    Row(
        "algorithm",
        lambda made: made.is_inside_algorithm,
        Tolerance.ABSORBED,
        "the library's algorithm reckons with it",
    ),
    Row(
        "logarithm",
        lambda made: made.op_type in _LOGARITHMS and made.is_used_as_logarithm,
        Tolerance.LOGARITHM,
        "log(0) is as good as any number to who takes its exponential again",
    ),
    Row(
        "sum-of-quotients",
        lambda made: made.op_type in DIVISIONS and made.is_added_up,
        Tolerance.DIVIDED_BY,
        "it is meant in 1 / (1/a + 1/b)",
    ),
    Row(
        "large-number",
        lambda made: made.is_large_number,
        Tolerance.SATURATED,
        "exp(-x * x) is 0 for all that is so large, also where x * x is ∞",
    ),
    Row(
        "exponential",
        lambda made: made.op_type in EXPONENTIALS,
        Tolerance.ABSORBED,
        "exponentials overflow in formulas that are right in the limit",
    ),
    Row("any-other", lambda _: True, Tolerance.LEFT_OUT, "nothing tells that it is meant"),
)


def _is_all_nan(summary: TensorSummary | None) -> bool:
    return summary is not None and bool(summary.nan) and summary.nan == summary.size


def tolerance_of(made: Infinity) -> Tolerance:
    """Return what may become of ∞: the first row that fits decides."""
    return next(row for row in TOLERANCES if row.fits(made)).tolerance
