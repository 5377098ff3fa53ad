"""Comparisons of NaN and ∞ whose answer does not count: another one has left the element out.

A rejection sampler asks ``(v > 0) & (log(u) < a + log(v))`` of all elements at once: where ``v``
is negative, the logarithm is NaN, and ``v > 0`` is false whatever the other answer is.  That is so
if the other answer is about the very number of which NaN was made, and false on that side of its
bound, or asks of the very number that is compared whether it is finite.  A mask of something else,
or a bound on the other side, leaves nothing out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.diagnosis.op_traits import (
    COMBINES_ANSWERS,
    COMPARISONS,
    DIVISIONS,
    SELECTS_ELEMENTS,
)
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.dataflow.neighbours import Node
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.alert_sites import Summaries
    from tfdbg_tui.logdir import TensorSummary

_FOLLOWED = 100  # answers that come of one comparison, bad tensors before it
_TERMS = 200  # tensors that one is computed from


class _Side(Enum):
    """Of which numbers an answer is the same: the small ones, or the large ones."""

    LOW = "low"
    HIGH = "high"


_LOW, _HIGH = _Side.LOW, _Side.HIGH
_BOTH = frozenset(_Side)
_NEITHER = frozenset[_Side]()


class _Undefined(NamedTuple):
    """Of which numbers an op makes NaN or ∞.

    Attributes:
        slot: Which of its inputs they are.
        edges: Where they begin, on each side on which there are some; for a single number, twice
            that number.
    """

    slot: int
    edges: Mapping[_Side, float]

    @property
    def at_zero(self) -> bool:
        """Whether it is 0 alone."""
        return self.edges == _ZERO


_ZERO = {_LOW: 0.0, _HIGH: 0.0}
_BEYOND_ONE = {_LOW: -1.0, _HIGH: 1.0}
_UNDEFINED = {
    **dict.fromkeys(("Log", "Pow", "Rsqrt", "Sqrt"), _Undefined(0, {_LOW: 0.0})),
    "Xlogy": _Undefined(1, {_LOW: 0.0}),
    "Log1p": _Undefined(0, {_LOW: -1.0}),
    "Xlog1py": _Undefined(1, {_LOW: -1.0}),
    "Acosh": _Undefined(0, {_LOW: 1.0}),
    **dict.fromkeys(("Acos", "Asin", "Atanh"), _Undefined(0, _BEYOND_ONE)),
    **dict.fromkeys(DIVISIONS - {"Reciprocal"}, _Undefined(1, _ZERO)),
    "Reciprocal": _Undefined(0, _ZERO),
}
"""Ops that are not defined for some numbers."""

_DEFINED = _Undefined(0, {})

_ROUNDING = 1e-5
"""Numbers that differ by so much of the largest may be the same but for rounding."""

_KEEP_ORDER = frozenset({"Add", "AddN", "AddV2", "BiasAdd", "Cast", "Identity", "Sub"})
_LARGER = frozenset({"Greater", "GreaterEqual"})
_SMALLER = frozenset({"Less", "LessEqual"})


class _Tensor(NamedTuple):
    """What tells a tensor from others, and the type of its op."""

    graph_id: str | None
    name: str
    slot: int | None
    event: TensorEvent | None
    op_type: str | None

    @property
    def is_constant(self) -> bool:
        """Whether it is written down: no op of a graph and no eager one made it."""
        return self.op_type == "Const" or (self.graph_id is None and self.event is None)


@dataclass(frozen=True, slots=True)
class _Slope:
    """How a tensor changes, element by element, with one that it was computed from.

    Attributes:
        falls: Whether it falls where that one grows, if all factors are positive.
        factors: What that one is multiplied with or divided by.
    """

    falls: bool = False
    factors: frozenset[_Tensor] = frozenset()

    def turned(self, falls: bool) -> _Slope:
        return _Slope(self.falls is not falls, self.factors)

    def times(self, factor: _Tensor) -> _Slope:
        return _Slope(self.falls, self.factors ^ {factor})


class _Made(NamedTuple):
    """An op that has made NaN or ∞ of a finite number.

    Attributes:
        maker: The op.
        taken: The tensor with that number.
        undefined: For which numbers it is not defined.
        event: What has come of it, and is compared.
    """

    maker: Node
    taken: Node
    undefined: _Undefined
    event: TensorEvent


@dataclass(frozen=True)
class Guards:
    """Tells whether an answer about a bad tensor counts.

    Attributes:
        dataflow: Of the run.
        summaries: What is on record of its tensors.
    """

    dataflow: Dataflow
    summaries: Summaries

    def leave_out(self, event: TensorEvent, comparisons: list[Node]) -> bool:
        """Whether wherever a tensor is bad, other answers settle what these are combined to.

        Args:
            event: The bad tensor.
            comparisons: Ops that compare it.
        """
        makers = self._makers(event)
        answers, settled = Worklist(comparisons if makers else ()), False
        for answer in answers:
            followers = self.dataflow.neighbours.uses(answer)
            if not followers or len(answers.seen) > _FOLLOWED:
                return False
            for taker in followers:
                if all(self._settles(taker, maker, event) for maker in makers):
                    settled = True
                elif not (taker.is_boundary or taker.op_type in COMBINES_ANSWERS):
                    return False
                else:
                    answers.add(taker)
        return settled

    def _makers(self, event: TensorEvent) -> list[Node]:
        """Return the ops that have made NaN or ∞ of finite numbers; none if one is unknown."""
        events, makers = Worklist([event]), []
        for made in events:
            bad = [p for p in self.dataflow.producers(made) if p.event and self._is_bad(p.event)]
            if not bad:
                makers.append(self.dataflow.neighbours.of_event(made))
            events.add(*(p.event for p in bad if p.event is not None))
            if len(events.seen) > _FOLLOWED:
                return []
        return makers

    def _is_bad(self, event: TensorEvent) -> bool:
        summary = self.summaries(event)
        return summary is not None and summary.has_inf_or_nan is True

    def _settles(self, taker: Node, maker: Node, event: TensorEvent) -> bool:
        """Whether an op that combines answers takes another one that decides for bad elements."""
        inputs = self.dataflow.neighbours.all_inputs(taker)
        others = [node for node in inputs if node.input_slot != taker.input_slot]
        made = self._made(maker, event)
        if taker.op_type in ("LogicalAnd", "LogicalOr"):
            answer = taker.op_type == "LogicalOr"
            return any(self._leaves_out_all(other, made, answer=answer) for other in others)
        if taker.op_type not in SELECTS_ELEMENTS or taker.input_slot == 0:
            return False
        condition = next((other for other in others if other.input_slot == 0), None)
        answer = taker.input_slot == 2
        return condition is not None and self._leaves_out_all(condition, made, answer=answer)

    def _made(self, maker: Node, event: TensorEvent) -> _Made:
        undefined = _UNDEFINED.get(maker.op_type or "", _DEFINED)
        taken = self._input(maker, undefined.slot)
        if taken is None:
            taken, undefined = maker, _DEFINED
        return _Made(maker, taken, undefined, event)

    def _leaves_out_all(self, node: Node, made: _Made, *, answer: bool) -> bool:
        """Whether an answer is the same for all elements that were bad."""
        found = self._left_out(node, made, answer=answer)
        if made.undefined.at_zero:
            return bool(found)
        least, most = self._ends(self._given(made.taken, made.maker)) or (-math.inf, math.inf)
        edges = made.undefined.edges.items()
        needed = {side for side, edge in edges if (least <= edge if side is _LOW else most >= edge)}
        return bool(found) and found >= needed

    def _left_out(self, node: Node, made: _Made, *, answer: bool) -> frozenset[_Side]:
        """Return on which sides an answer is the same for all that the maker is not defined for."""
        inputs = self.dataflow.neighbours.all_inputs(node)
        if node.is_boundary or node.op_type == "LogicalNot":
            given = answer is node.is_boundary
            return self._left_out(inputs[0], made, answer=given) if len(inputs) == 1 else _NEITHER
        if node.op_type in COMBINES_ANSWERS and len(inputs) == 2:
            one, other = (self._left_out(given, made, answer=answer) for given in inputs)
            return one | other if (node.op_type == "LogicalOr") is answer else one & other
        if node.op_type in ("IsFinite", "IsNan"):
            return _BOTH if self._is_told(node, made.event, answer=answer) else _NEITHER
        if node.op_type not in COMPARISONS:
            return _NEITHER
        return self._left_out_by(node, made, answer=answer)

    def _is_told(self, node: Node, event: TensorEvent, *, answer: bool) -> bool:
        """Whether an op asks of the very tensor that is compared if it is finite, or NaN."""
        asked, summary = self._input(node, 0), self.summaries(event)
        if asked is None or summary is None or answer is not (node.op_type == "IsNan"):
            return False
        is_other = answer and (summary.neg_inf != 0 or summary.pos_inf != 0)
        return not is_other and _tensor(asked) == _tensor(self.dataflow.neighbours.of_event(event))

    def _left_out_by(self, guard: Node, made: _Made, *, answer: bool) -> frozenset[_Side]:
        """Return on which sides a comparison gives an answer where the maker is not defined.

        Of where exactly the bound is, often nothing is on record.
        """
        found: set[_Side] = set()
        for slot in (0, 1):
            node = self._input(guard, slot)
            if node is None:
                continue
            if guard.op_type in ("Equal", "NotEqual"):
                number = self._number(guard, 1 - slot, smallest=True)
                is_taken = made.undefined.at_zero and _tensor(node) == _tensor(made.taken)
                if is_taken and number in (None, 0.0) and answer is (guard.op_type == "Equal"):
                    return _BOTH
            elif guard.op_type in _LARGER | _SMALLER:
                # a > b is false where a is small, and where b is large.
                small = ((guard.op_type in _LARGER) is (slot == 0)) is not answer
                number = self._number(guard, 1 - slot, smallest=small)
                if not small and self._bounds_magnitude(node, number, made):
                    return _BOTH
                found.update(self._beyond_bound(node, number, made, small=small))
        return frozenset(found)

    def _beyond_bound(
        self, node: Node, number: float | None, made: _Made, *, small: bool
    ) -> Iterator[_Side]:
        """Yield the side that is all where a tensor is smaller, or larger, than a number."""
        for alike in (True, False):
            if self._changes_alike(node, made.taken, made.undefined.at_zero, alike=alike):
                side = _LOW if small is alike else _HIGH
                if self._is_bound(number, node, made, side, alike=alike):
                    yield side

    def _bounds_magnitude(self, node: Node, number: float | None, made: _Made) -> bool:
        """Whether a magnitude, or a square, of at least a number is where that is beyond 1."""
        if made.undefined.edges != _BEYOND_ONE or node.op_type not in ("Abs", "Square"):
            return False
        of = self._input(node, 0)
        is_taken = of is not None and _tensor(of) == _tensor(made.taken)
        return is_taken and number is not None and number <= 1.0

    def _is_bound(
        self, number: float | None, node: Node, made: _Made, side: _Side, *, alike: bool
    ) -> bool:
        """Whether what a maker is not defined for is all on one side of a number, or may be.

        Args:
            number: What another tensor is compared with; None where that is not known.
            node: The tensor.
            made: What took it, or what changes with it.
            side: The side.
            alike: Whether the two change in the same direction.
        """
        edge = made.undefined.edges.get(side)
        if edge is None:
            return False
        apart = self._apart(node, made, alike=alike) if number is not None else None
        if number is None or apart is None:
            return True
        doubt = _ROUNDING * (abs(number) + abs(apart)) if apart else 0.0
        bound = (number if alike else -number) - apart
        return bound >= edge - doubt if side is _LOW else bound <= edge + doubt

    def _input(self, node: Node, slot: int | None) -> Node | None:
        inputs = self.dataflow.neighbours.all_inputs(node)
        return next((n for n in inputs if n.input_slot == slot), None)

    def _number(self, guard: Node, slot: int, *, smallest: bool) -> float | None:
        """Return an extreme of an input of a comparison; None if it is not known."""
        if guard.graph_id is None and guard.event is not None:
            compared = self.dataflow.timeline.execution(guard.event.index).compared
            if slot < len(compared) and compared[slot] is not None:
                return compared[slot]
        given = self._input(guard, slot)
        summary = self._summary(given) if given is not None else None
        if summary is None:
            return None
        return summary.minimum if smallest else summary.maximum

    def _apart(self, node: Node, made: _Made, *, alike: bool) -> float | None:
        """Return by how much what is compared is larger than what a maker took, or its negative.

        The two differ only by constants, and by their signs: see `_changes_alike`.  So their
        extremes tell by how much.

        Args:
            node: What is compared.
            made: What the maker took.
            alike: Whether the two change in the same direction, so that they are of one sign.

        Returns:
            None where it is not known, or not the same everywhere.
        """
        if _tensor(node) == _tensor(made.taken):
            return 0.0
        ends = self._ends(self._summary(node))
        others = self._ends(self._given(made.taken, made.maker))
        if ends is None or others is None:
            return None
        (low, high), (least, most) = ends if alike else (-ends[1], -ends[0]), others
        size = max(abs(end) for end in (low, high, least, most)) * _ROUNDING
        apart = low - least
        if abs(apart - (high - most)) > size:
            return None
        return apart if abs(apart) > size else 0.0

    def _summary(self, node: Node) -> TensorSummary | None:
        return self.summaries(node.event) if node.event is not None else None

    def _given(self, taken: Node, maker: Node) -> TensorSummary | None:
        """Return what is on record of a tensor that an op took: its own record may tell."""
        found = self._summary(taken)
        if found is None and maker.event is not None and maker.graph_id is None:
            producers = self.dataflow.producers(maker.event)
            found = next((p.given for p in producers if p.input_slot == taken.input_slot), None)
        return found

    @staticmethod
    def _ends(summary: TensorSummary | None) -> tuple[float, float] | None:
        if summary is None or summary.minimum is None or summary.maximum is None:
            return None
        return summary.minimum, summary.maximum

    def _changes_alike(self, node: Node, taken: Node, at_zero: bool, *, alike: bool) -> bool:
        """Whether two tensors change in the same direction, or the opposite one.

        Both have to depend on the same tensors, constants left aside.
        """
        if _tensor(node) == _tensor(taken):
            return alike
        mine, others = self._slopes(node, at_zero), self._slopes(taken, at_zero)
        shared = mine.keys() & others.keys()
        return (
            bool(shared)
            and all(_alike(mine[term], others[term]) is alike for term in shared)
            and all(term.is_constant for term in mine.keys() ^ others.keys())
        )

    def _slopes(self, node: Node, at_zero: bool) -> dict[_Tensor, _Slope | None]:
        """Return how a tensor changes with those that it is made of; None: both ways."""
        slopes: dict[_Tensor, _Slope | None] = {}
        made: set[_Tensor] = set()
        waiting: list[tuple[Node, _Slope | None]] = [(node, _Slope())]
        while waiting:
            term, slope = waiting.pop()
            tensor = _tensor(term)
            if tensor in slopes:
                if slopes[tensor] in (slope, None):
                    continue
                slope = None
            slopes[tensor] = slope
            further = list(self._terms(term, slope, at_zero))
            if further:
                made.add(tensor)
            waiting += further
            if len(slopes) > _TERMS:
                return {}
        return {tensor: slope for tensor, slope in slopes.items() if tensor not in made}

    def _terms(
        self, node: Node, slope: _Slope | None, at_zero: bool
    ) -> Iterator[tuple[Node, _Slope | None]]:
        inputs = self.dataflow.neighbours.all_inputs(node)
        op_type = node.op_type or ""
        if node.is_boundary or op_type in _KEEP_ORDER or (at_zero and op_type == "Abs"):
            for term in inputs:
                falls = op_type == "Sub" and term.input_slot == 1
                yield term, slope and slope.turned(falls)
        elif op_type == "Neg":
            yield from ((term, slope and slope.turned(True)) for term in inputs)
        elif op_type in ("Mul", "RealDiv") and len(inputs) == 2:
            one, other = inputs
            yield one, slope and slope.times(_tensor(other))
            if op_type == "Mul":
                yield other, slope and slope.times(_tensor(one))


def _tensor(node: Node) -> _Tensor:
    """Return what tells a tensor from others."""
    return _Tensor(node.graph_id, node.name, node.slot, node.event, node.op_type)


def _alike(one: _Slope | None, other: _Slope | None) -> bool | None:
    """Whether two slopes are of the same sign; None where that is not known."""
    if one is None or other is None or one.factors != other.factors:
        return None
    return one.falls == other.falls
