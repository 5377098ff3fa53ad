"""Reference variables of TensorFlow 1: updates that wait for what reads the variable.

``s.run([train, tf.reduce_sum(w * w)])`` leaves open whether ``w`` is multiplied before it is
overwritten: its gradient needs ``w`` itself and nothing else.  As more ops lead to the update,
TensorFlow comes to the product first, in run after run; with ops between them that record, it may
not.  So such an update runs as a copy that waits, and so does each op that needs it.  The ops of
the program stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdbg_tui.dump.observe.references import writes
from tfdbg_tui.dump.observe.v1_control_flow import LOOP_OPS, SWITCHES
from tfdbg_tui.dump.tensorflow import graph_ops

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfdbg_tui.dump.observe.references import VariableMemory
    from tfdbg_tui.dump.observe.v1_control_flow import ControlFlow

_KEEPS_NOTHING = frozenset(("Assert", "Print", "PrintV2", "PyFunc", "EagerPyFunc"))
"""Ops that TensorFlow calls stateful for what they do, not for what they keep."""

_OF_SHAPES = frozenset(("Shape", "ShapeN", "Size", "Rank"))


class _Order:
    """What comes first in the runs of some ops: which readers an update usually comes after.

    Args:
        ops: The ops of a run, in order of creation.
        wanted: Names of those that the program asks for.
        memory: Which of them share the memory of which variables.
        fed: Names of the tensors whose values the program gives.
        flow: In which loops and branches they are.

    Attributes:
        depths: How many ops TensorFlow runs one after the other up to an op, by its name.
    """

    def __init__(
        self,
        ops: Sequence[Any],
        wanted: frozenset[str],
        memory: VariableMemory,
        fed: frozenset[str],
        flow: ControlFlow,
    ) -> None:
        self._memory = memory
        self._flow = flow
        self._fed = fed
        self._computed = _computed(ops, wanted)
        self._folded: set[str] = set()
        self.depths: dict[str, int] = {}
        self._users: dict[str, int] = {}  # what reads or updates a variable: the bit of each
        self._need_value: dict[str, int] = {}  # by variable: the bits of those that fail without
        self._readers: dict[str, list[Any]] = {}  # by variable
        self._updates: list[tuple[Any, frozenset[str]]] = []  # with their variables
        self._after: dict[str, int] = {}  # by op: the bits of what it comes after
        for op in ops:
            self._add(op)

    def readers_before(self) -> dict[str, list[Any]]:
        """Return what updates usually come after, and need not: by their names."""
        found = {}
        for update, variables in self._updates:
            if not all(self._has_value(name, update) for name in variables):
                continue  # It may be what gives the variable one, which a reader may need.
            readers = dict.fromkeys(r for name in variables for r in self._readers.get(name, ()))
            before = [reader for reader in readers if self._is_usually_before(reader, update)]
            if before:
                found[update.name] = before
        return found

    def _has_value(self, variable: str, update: Any) -> bool:
        """Whether a variable has been initialised when an update comes, or the run fails anyway."""
        needed = self._after[update.name] & self._need_value.get(variable, 0)
        return bool(needed) or _needs_value(update)

    def _is_usually_before(self, reader: Any, update: Any) -> bool:
        first, second = reader.name, update.name
        ordered = (
            self._after[second] & self._users[first] or self._after[first] & self._users[second]
        )
        nearer = not ordered and self.depths[first] < self.depths[second]
        return nearer and self._always_runs_with(reader, update)

    def _always_runs_with(self, reader: Any, update: Any) -> bool:
        """Whether a reader runs whenever an update does: what waits for others never runs, too."""
        if reader.type in SWITCHES:
            return False  # One of its outputs is of a branch that is not taken.
        read, updated = self._flow.position(reader), self._flow.position(update)
        return read.loops == updated.loops and read.branches <= updated.branches

    def _add(self, op: Any) -> None:
        inputs = [tensor for tensor in op.inputs if tensor.name not in self._fed]
        before = [*(tensor.op for tensor in inputs), *op.control_inputs]
        after = 0
        for other in before:
            after |= self._after.get(other.name, 0) | self._users.get(other.name, 0)
        self._after[op.name] = after
        if self._is_folded(op):
            self._folded.add(op.name)
        runs = op.name in self._computed and op.name not in self._folded
        depth = max((self.depths.get(other.name, 0) for other in before), default=0)
        self.depths[op.name] = depth + runs
        variables = frozenset().union(*map(self._memory.variables, inputs))
        if variables and writes(op):
            self._updates.append((op, variables))
        elif variables and not all(map(self._memory.variables, op.outputs)):
            for variable in variables:
                self._readers.setdefault(variable, []).append(op)
        else:
            return
        bit = self._users[op.name] = 1 << len(self._users)
        if _needs_value(op):
            for variable in variables:
                self._need_value[variable] = self._need_value.get(variable, 0) | bit

    def _is_folded(self, op: Any) -> bool:
        """Whether TensorFlow knows what an op makes before the graph runs."""
        if op.type in _OF_SHAPES:
            return all(tensor.shape.is_fully_defined() for tensor in op.inputs)
        if op.type == "Const":
            return True
        sources = [t.op.name if t.name not in self._fed else "" for t in op.inputs]
        return bool(sources) and self._folded.issuperset(sources) and not graph_ops.is_stateful(op)


def copies_in_order(
    graph: Any,
    ops: Sequence[Any],
    wanted: frozenset[str],
    memory: VariableMemory,
    fed: frozenset[str],
    flow: ControlFlow,
) -> dict[str, Any]:
    """Add copies of updates that wait, and of what needs them; return them by the ops' names.

    Args:
        graph: The graph, which is the default one.
        ops: The ops of the run, in order of creation.
        wanted: Names of those that the program asks for.
        memory: Which of them share the memory of which variables.
        fed: Names of the tensors whose values the program gives.
        flow: In which loops and branches they are.

    Returns:
        None of them where an op keeps a state of its own, as a copy would have another.
    """
    order = _Order(ops, wanted, memory, fed, flow)
    waits = order.readers_before()
    chosen: dict[str, Any] = {}
    for op in ops:
        before = [tensor.op for tensor in op.inputs if tensor.name not in fed]
        if op.name in waits or any(o.name in chosen for o in (*before, *op.control_inputs)):
            chosen[op.name] = op
    if not all(map(_can_be_copied, chosen.values())):
        return {}
    copies: dict[str, Any] = {}
    # A reader may be a copy itself, of an op that was created later.
    for op in sorted(chosen.values(), key=lambda op: order.depths[op.name]):
        inputs = [t if t.name in fed else replaced(t, copies) for t in op.inputs]
        before = [copies.get(other.name, other) for other in op.control_inputs]
        readers = [copies.get(op.name, op) for op in waits.get(op.name, ())]
        copies[op.name] = graph_ops.copy_of(graph, op, inputs, [*before, *readers])
    return copies


def replaced(tensor: Any, copies: Mapping[str, Any]) -> Any:
    """Return what a run computes in place of a tensor, which is it itself where that is nothing.

    Args:
        tensor: A tensor of the program.
        copies: Copies of ops, by the names of the ops.
    """
    copy = copies.get(tensor.op.name)
    return tensor if copy is None else copy.outputs[tensor.value_index]


def _computed(ops: Sequence[Any], wanted: frozenset[str]) -> set[str]:
    """Return the names of the ops that TensorFlow runs: for others, nothing but waiting is left."""
    names = set(wanted)
    for op in reversed(ops):
        if op.name in names or writes(op) or graph_ops.is_stateful(op):
            names.add(op.name)
            names.update(tensor.op.name for tensor in op.inputs)
    return names


def _needs_value(op: Any) -> bool:
    """Whether an op that takes a variable fails where that has not been initialised."""
    return not op.op_def.allows_uninitialized_input


def _can_be_copied(op: Any) -> bool:
    if op.type in LOOP_OPS:
        return False
    elsewhere = any(t.dtype == tf.resource or graph_ops.is_reference(t) for t in op.inputs)
    return not graph_ops.is_stateful(op) or elsewhere or op.type in _KEEPS_NOTHING
