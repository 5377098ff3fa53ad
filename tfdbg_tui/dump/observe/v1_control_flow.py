"""Loops and branches made of Enter, Switch and Merge, in graphs of TensorFlow 1 that are imported.

Their tensors must not leave them: an op outside cannot take one, and one of a branch that is not
taken never is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_STARTS = frozenset(("Enter", "RefEnter", "Switch", "RefSwitch"))

_STEPS = {"Enter": 1, "RefEnter": 1, "Exit": -1, "RefExit": -1}


def names_inside(ops: Iterable[Any]) -> set[str]:
    """Return the names of the ops of a graph that are inside of v1 loops and branches."""
    todo = list(ops)
    if not any(op.type in _STARTS for op in todo):
        return set()
    depths: dict[str, int] = {}
    while todo:
        op = todo.pop()
        before = _before(op)
        missing = [other for other in before if other.name not in depths]
        if op.name not in depths and missing:
            todo += [op, *missing]
        elif op.name not in depths:
            depth = max((depths[other.name] for other in before), default=0)
            depths[op.name] = depth + _step(op)
    # An Exit is outside, the Enter of its loop already inside.
    return {name for name, depth in depths.items() if depth > 0}


def _before(op: Any) -> list[Any]:
    """Return what an op takes, but for what comes from the previous iteration of a loop."""
    before = [*(tensor.op for tensor in op.inputs), *op.control_inputs]
    return [other for other in before if other.type not in ("NextIteration", "RefNextIteration")]


def _step(op: Any) -> int:
    """Return how much deeper inside an op is than what it takes."""
    if op.type in ("Switch", "RefSwitch"):
        return 0 if op.inputs[1].op.type == "LoopCond" else 1
    if op.type in ("Merge", "RefMerge"):
        return 0 if any(t.op.type in ("Enter", "RefEnter") for t in op.inputs) else -1
    return _STEPS.get(op.type, 0)
