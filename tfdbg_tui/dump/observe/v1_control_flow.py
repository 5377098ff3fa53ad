"""Loops and branches made of Enter, Switch and Merge, in graphs of TensorFlow 1.

Their tensors must not leave them: an op outside cannot take one of a loop, and what takes one of a
branch does not run where that branch is not taken.  The body of a loop is a branch, too: in the
last iteration only its condition runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MERGES = frozenset(("Merge", "RefMerge"))
_BACK = frozenset(("NextIteration", "RefNextIteration"))
_ENTERS = frozenset(("Enter", "RefEnter"))
_EXITS = frozenset(("Exit", "RefExit"))

SWITCHES = frozenset(("Switch", "RefSwitch"))
"""The ops that tensors enter branches by."""

_STARTS = _ENTERS | SWITCHES

LOOP_OPS = _ENTERS | _EXITS | _BACK
"""The ops that loops alone have."""

Branches = frozenset[tuple[str, int]]
"""The branches that something is in: the name of each condition, and which side of it."""

Loops = tuple[str, ...]
"""The loops that something is inside of, the outermost first."""


class Position(NamedTuple):
    """Where something is.

    Attributes:
        loops: The loops that it is inside of: an Enter already is, an Exit no longer.
        branches: The branches that it is in: a Switch is not yet in those that it begins.
        passed: The loops that it comes after, and the conditions of branches.
    """

    loops: Loops = ()
    branches: Branches = frozenset()
    passed: frozenset[str] = frozenset()


_OUTSIDE = Position()


class ControlFlow:
    """Where some ops of a graph are.

    Args:
        ops: The ops, and all that they are computed from, in order of creation.

    Attributes:
        ops: These, each after all that it takes.
    """

    def __init__(self, ops: Iterable[Any]) -> None:
        self._positions: dict[str, Position] = {}
        self._ends: set[tuple[str, int]] = set()
        self._enters: dict[str, Any] = {}
        self._entries: dict[str, frozenset[str]] = {}
        self._loop_conditions: dict[str, Any] = {}
        self.ops = list(ops)
        if any(op.type in _STARTS for op in self.ops):
            self.ops = list(in_order(self.ops))
            for op in self.ops:
                self._add(op)
            self._pass_on_entries()

    def position(self, op: Any) -> Position:
        """Return where an op is."""
        return self._positions.get(op.name, _OUTSIDE)

    def enter(self, loop: str) -> Any:
        """Return an op by which a variable enters a loop; it is where the loop is.

        What is constant in a loop, such as what a gradient takes back, may enter it from outside of
        the branch that the loop is in, which may be the body of another loop.
        """
        return self._enters[loop]

    def entry(self, loop: str) -> Position:
        """Return where a loop begins: after what any of its tensors comes after."""
        return self.position(self._enters[loop])._replace(passed=self._entries[loop])

    def loop_condition(self, loop: str) -> Any:
        """Return the op that says whether a loop goes on."""
        return self._loop_conditions[loop]

    def _add(self, op: Any) -> None:
        before = [self._positions[other.name] for other in _before(op)]
        loops = max((position.loops for position in before), key=len, default=())
        passed = frozenset[str]().union(*(position.passed for position in before))
        inputs = [self._branches_of(t) for t in op.inputs if t.op.type not in _BACK]
        if op.type in _MERGES:
            branches = frozenset.intersection(*inputs)
            passed |= {name for sides in inputs for name, _ in sides - branches}
        else:
            waits = [self._positions[other.name].branches for other in op.control_inputs]
            branches = frozenset[tuple[str, int]]().union(*inputs, *waits)
        if op.type in _ENTERS:
            name = op.get_attr("frame_name").decode()
            loops = (*loops, name)
            known = self._enters.get(name)
            if known is None or len(self._positions[known.name].branches) < len(branches):
                self._enters[name] = op
            self._entries[name] = self._entries.get(name, frozenset()) | passed
        elif op.type in _EXITS:
            passed |= {loops[-1]}
            loops = loops[:-1]
            branches = branches.difference(self._ends)
        elif op.type == "LoopCond":
            self._loop_conditions[loops[-1]] = op
        self._positions[op.name] = Position(loops, branches, passed)

    def _pass_on_entries(self) -> None:
        """Let what comes after a loop come after all that any tensor of the loop comes after."""
        entries = self._entries

        def with_entries(passed: frozenset[str]) -> frozenset[str]:
            return passed.union(*(entries[loop] for loop in passed & entries.keys()))

        while (more := {loop: with_entries(passed) for loop, passed in entries.items()}) != entries:
            entries = more
        self._entries = entries
        for name, position in self._positions.items():
            self._positions[name] = position._replace(passed=with_entries(position.passed))

    def _branches_of(self, tensor: Any) -> Branches:
        found = self._positions[tensor.op.name].branches
        if tensor.op.type not in SWITCHES:
            return found
        condition = tensor.op.inputs[1]
        while condition.op.type == "Identity":
            condition = condition.op.inputs[0]
        side = condition.name, tensor.value_index
        if condition.op.type == "LoopCond" and not tensor.value_index:
            self._ends.add(side)
        return found | {side}


def in_order(ops: Iterable[Any]) -> Iterator[Any]:
    """Yield some ops and all that they come after, each after those.

    An op in a branch may be older than the Switch that it takes.
    """
    done: set[str] = set()
    todo = list(ops)
    while todo:
        op = todo.pop()
        if op.name in done:
            continue
        missing = [other for other in _before(op) if other.name not in done]
        if missing:
            todo += [op, *missing]
        else:
            done.add(op.name)
            yield op


def _before(op: Any) -> list[Any]:
    """Return what an op takes, but for what comes from the previous iteration of a loop."""
    before = [*(tensor.op for tensor in op.inputs), *op.control_inputs]
    return [other for other in before if other.type not in _BACK]
