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
from tfdbg_tui.dump.tensorflow import graph_ops

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfdbg_tui.dump.observe.references import VariableMemory

_LOOPS = frozenset(("Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration"))
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

    Attributes:
        readers_before: By the name of an update, what is usually before it and need not be.
    """

    def __init__(
        self,
        ops: Sequence[Any],
        wanted: frozenset[str],
        memory: VariableMemory,
        fed: frozenset[str],
    ) -> None:
        self._memory = memory
        self._fed = fed
        self._computed = _computed(ops, wanted)
        self._folded: set[str] = set()
        self._depths: dict[str, int] = {}
        self._readers: dict[str, list[tuple[int, Any]]] = {}  # by variable: their bits, and they
        self._needs: dict[str, int] = {}  # by op: the bits of the readers that come before
        self._num_readers = 0
        self.readers_before: dict[str, list[Any]] = {}
        for op in ops:
            self._add(op)

    def _add(self, op: Any) -> None:
        inputs = [tensor for tensor in op.inputs if tensor.name not in self._fed]
        before = [*(tensor.op for tensor in inputs), *op.control_inputs]
        needs = 0
        for other in before:
            needs |= self._needs.get(other.name, 0)
        if self._is_folded(op):
            self._folded.add(op.name)
        runs = op.name in self._computed and op.name not in self._folded
        depth = max((self._depths.get(other.name, 0) for other in before), default=0)
        self._depths[op.name] = depth + runs
        variables = frozenset().union(*map(self._memory.variables, inputs))
        if variables and writes(op):
            self._note_update(op, variables, needs)
        elif variables and not all(map(self._memory.variables, op.outputs)):
            bit = 1 << self._num_readers
            self._num_readers += 1
            needs |= bit
            for variable in variables:
                self._readers.setdefault(variable, []).append((bit, op))
        self._needs[op.name] = needs

    def _is_folded(self, op: Any) -> bool:
        """Whether TensorFlow knows what an op makes before the graph runs."""
        if op.type in _OF_SHAPES:
            return all(tensor.shape.is_fully_defined() for tensor in op.inputs)
        if op.type == "Const":
            return True
        sources = [t.op.name if t.name not in self._fed else "" for t in op.inputs]
        return bool(sources) and self._folded.issuperset(sources) and not graph_ops.is_stateful(op)

    def _note_update(self, op: Any, variables: frozenset[str], needs: int) -> None:
        depth = self._depths[op.name]
        readers = [
            reader
            for variable in variables
            for bit, reader in self._readers.get(variable, ())
            if not needs & bit and self._depths[reader.name] < depth
        ]
        if readers:
            self.readers_before[op.name] = readers


def copies_in_order(
    graph: Any,
    ops: Sequence[Any],
    wanted: frozenset[str],
    memory: VariableMemory,
    fed: frozenset[str],
) -> dict[str, Any]:
    """Add copies of updates that wait, and of what needs them; return them by the ops' names.

    Args:
        graph: The graph, which is the default one.
        ops: The ops of the run, in order of creation.
        wanted: Names of those that the program asks for.
        memory: Which of them share the memory of which variables.
        fed: Names of the tensors whose values the program gives.

    Returns:
        None of them where an op keeps a state of its own, as a copy would have another.
    """
    waits = _Order(ops, wanted, memory, fed).readers_before
    chosen: dict[str, Any] = {}
    for op in ops:
        before = [tensor.op for tensor in op.inputs if tensor.name not in fed]
        if op.name in waits or any(o.name in chosen for o in (*before, *op.control_inputs)):
            chosen[op.name] = op
    if not all(map(_can_be_copied, chosen.values())):
        return {}
    copies: dict[str, Any] = {}
    for op in chosen.values():
        inputs = [t if t.name in fed else replaced(t, copies) for t in op.inputs]
        before = [copies.get(other.name, other) for other in op.control_inputs]
        readers = [_waited(reader) for reader in waits.get(op.name, ())]
        with tf.control_dependencies([*before, *readers]):
            copies[op.name] = graph_ops.copy_of(graph, op, inputs)
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


def _waited(op: Any) -> Any:
    """Return an op to wait for: TensorFlow puts a mark on it, which is not to be the program's."""
    return tf.identity(op.outputs[0]).op if op.outputs else op


def _can_be_copied(op: Any) -> bool:
    if op.type in _LOOPS:
        return False
    elsewhere = any(t.dtype == tf.resource or graph_ops.is_reference(t) for t in op.inputs)
    return not graph_ops.is_stateful(op) or elsewhere or op.type in _KEEPS_NOTHING
