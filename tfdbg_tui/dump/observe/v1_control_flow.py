"""Loops and branches made of Enter, Switch and Merge, in graphs of TensorFlow 1.

Their tensors must not leave them: an op outside cannot take one of a loop, and what takes one of a
branch does not run where that branch is not taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_STARTS = frozenset(("Enter", "RefEnter", "Switch", "RefSwitch"))
_MERGES = frozenset(("Merge", "RefMerge"))
_BACK = frozenset(("NextIteration", "RefNextIteration"))
_DEEPER = {"Enter": 1, "RefEnter": 1, "Exit": -1, "RefExit": -1}

Branches = frozenset[tuple[str, int]]
"""The branches that something is in: the name of each condition, and which side of it."""

_NONE: Branches = frozenset()


class ControlFlow:
    """Where some ops of a graph are.

    Args:
        ops: The ops, and all that they are computed from.
    """

    def __init__(self, ops: Iterable[Any]) -> None:
        self._depths: dict[str, int] = {}
        self._branches: dict[str, Branches] = {}
        todo = list(ops)
        if not any(op.type in _STARTS for op in todo):
            return
        while todo:
            op = todo.pop()
            missing = [other for other in _before(op) if other.name not in self._depths]
            if op.name in self._depths:
                continue
            if missing:
                todo += [op, *missing]
            else:
                self._add(op)

    def is_in_loop(self, op: Any) -> bool:
        """Whether an op is inside of a loop; an Exit is outside, the Enter already inside."""
        return self._depths.get(op.name, 0) > 0

    def branches(self, op: Any) -> Branches:
        """Return the branches that an op is in; a Switch is not yet in those that it begins."""
        return self._branches.get(op.name, _NONE)

    def _add(self, op: Any) -> None:
        depth = max((self._depths[other.name] for other in _before(op)), default=0)
        self._depths[op.name] = depth + _DEEPER.get(op.type, 0)
        inputs = [self._of_tensor(t) for t in op.inputs if t.op.type not in _BACK]
        if op.type in _MERGES:
            self._branches[op.name] = frozenset.intersection(*inputs)
        else:
            waits = [self._branches[other.name] for other in op.control_inputs]
            self._branches[op.name] = frozenset().union(*inputs, *waits)

    def _of_tensor(self, tensor: Any) -> Branches:
        found = self._branches[tensor.op.name]
        if tensor.op.type not in ("Switch", "RefSwitch"):
            return found
        condition = tensor.op.inputs[1]
        while condition.op.type == "Identity":
            condition = condition.op.inputs[0]
        if condition.op.type == "LoopCond":
            return found
        return found | {(condition.name, tensor.value_index)}


def _before(op: Any) -> list[Any]:
    """Return what an op takes, but for what comes from the previous iteration of a loop."""
    before = [*(tensor.op for tensor in op.inputs), *op.control_inputs]
    return [other for other in before if other.type not in _BACK]
