"""Reference variables of TensorFlow 1: when a tensor that shares a variable's memory may be read.

The output of a ``VariableV2`` is its memory, and so is what ``Identity``, ``Reshape`` and the like
make of it.  Ops such as ``Assign`` and ``ApplyAdam`` overwrite that memory in place, in the same
run of a session, and nothing makes them wait for who only looks.  A variable that has not been
initialised must not be read at all.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.tensorflow import graph_ops

if TYPE_CHECKING:
    from collections.abc import Iterable

_SLICES = frozenset(("Slice", "StridedSlice", "Split", "SplitV", "Unpack"))
"""Ops whose outputs may be a part of their input's memory."""

_COPIES_NOTHING = frozenset(
    (
        *("Identity", "IdentityN", "Snapshot", "StopGradient", "PreventGradient", "EnsureShape"),
        *("Reshape", "Squeeze", "ExpandDims", "Bitcast", "Transpose", "CheckNumerics", "Print"),
        # Where there is nothing to do for these, the input is the output.
        *("AddN", "Cast", "ConcatV2", "Pack", "Tile", "BroadcastTo", "Pad", "PadV2", "ReverseV2"),
        *("Sum", "Mean", "Max", "Min", "Prod", "CheckNumericsV2", "PlaceholderWithDefault"),
        *("Switch", "Merge", "Enter", "Exit", "NextIteration"),
        *("PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "Case"),
        *("StatelessCase", "While", "StatelessWhile"),
    )
)
"""Ops whose outputs may be the memory of an input of the same size and type."""

_CONTROL_FLOW = (
    *("Call", "If", "Case", "While"),
    *("Switch", "Merge", "Enter", "Exit", "NextIteration"),
)

_ONLY_LOOK = frozenset(
    (
        *("IsVariableInitialized", "RefIdentity", "RefSwitch", "RefMerge", "RefSelect"),
        *("RefEnter", "RefExit", "RefNextIteration"),
    )
)
"""Ops that take a reference and do not write to it."""


class When(enum.Enum):
    """When a tensor can be observed.

    Attributes:
        RUNNING: In the run that computes it.
        BEFORE: Before that run: while it runs the tensor is overwritten.
        NEVER: Not at all.
    """

    RUNNING = enum.auto()
    BEFORE = enum.auto()
    NEVER = enum.auto()


class VariableMemory:
    """Which tensors of one run of a graph are memory that the run overwrites.

    Args:
        ops: The ops of the run, in order of creation.
        fed: Names of the tensors whose values the program gives.
    """

    def __init__(self, ops: Iterable[Any], fed: frozenset[str]) -> None:
        self._fed = fed
        self._memory: dict[str, frozenset[str]] = {}
        self._writers: dict[str, int] = {}
        self._written: dict[str, int] = {}
        self._repeatable: set[str] = set()
        self._num_writers = 0
        for op in ops:
            self._add(op)

    @property
    def is_written(self) -> bool:
        """Whether the run overwrites any."""
        return self._num_writers > 0

    def when(self, tensor: Any) -> When:
        """Return when a tensor of the run may be looked at."""
        variables = self._memory.get(tensor.name)
        if variables is None:
            return When.RUNNING
        writers = written = 0
        for variable in variables:
            writers |= self._writers.get(variable, 0)
        written = writers & self._written[tensor.op.name]
        if graph_ops.is_reference(tensor) and not written:
            return When.NEVER  # maybe not initialised
        if written == writers:
            return When.RUNNING
        if not written and tensor.op.name in self._repeatable:
            return When.BEFORE
        return When.NEVER

    def variables(self, tensor: Any) -> frozenset[str]:
        """Return the names of the variables whose memory a tensor may be."""
        return self._memory.get(tensor.name, frozenset())

    def _add(self, op: Any) -> None:
        inputs = [tensor for tensor in op.inputs if tensor.name not in self._fed]
        written = 0
        for before in (*(tensor.op for tensor in inputs), *op.control_inputs):
            written |= self._written.get(before.name, 0)
        references = [tensor for tensor in inputs if graph_ops.is_reference(tensor)]
        variables: frozenset[str] = frozenset().union(*map(self.variables, references))
        if variables and writes(op):
            bit = 1 << self._num_writers
            self._num_writers += 1
            written |= bit
            for variable in variables:
                self._writers[variable] = self._writers.get(variable, 0) | bit
        self._written[op.name] = written
        for tensor in op.outputs:
            shared = self._shared_memory(tensor, inputs, variables)
            if shared:
                self._memory[tensor.name] = shared
        if self._is_repeatable(op, len(inputs)):
            self._repeatable.add(op.name)

    def _shared_memory(
        self, output: Any, inputs: list[Any], variables: frozenset[str]
    ) -> frozenset[str]:
        op = output.op
        if output.name in self._fed:
            return frozenset()
        if graph_ops.is_reference(output):
            return variables or frozenset((op.name,))
        shares = op.type in _COPIES_NOTHING or op.type in _SLICES
        return frozenset().union(
            *(self.variables(t) for t in inputs if shares and _may_be_one(t, output))
        )

    def _is_repeatable(self, op: Any, num_computed: int) -> bool:
        """Whether an op can be run once more, and needs nothing but variables and constants."""
        if op.type in ("Const", "VariableV2", "Variable"):
            return True
        simple = op.type in _COPIES_NOTHING or op.type in _SLICES
        return (
            simple
            and num_computed == len(op.inputs)
            and not op.type.endswith(_CONTROL_FLOW)
            and all(tensor.op.name in self._repeatable for tensor in op.inputs)
            and all(before.name in self._repeatable for before in op.control_inputs)
        )


def reads_variable(op: Any) -> bool:
    """Whether an op is the one that the program reads a reference variable by."""
    return op.type == "Identity" and graph_ops.is_reference(op.inputs[0])


def makes_reference(op: Any) -> bool:
    """Whether an output of an op is the memory of a variable."""
    return any(map(graph_ops.is_reference, op.outputs))


def changes_shapes(op: Any) -> bool:
    """Whether an op may give a variable another shape than its readers were built for."""
    return op.type == "Assign" and not op.get_attr("validate_shape")


def writes(op: Any) -> bool:
    """Whether an op overwrites a reference variable that it takes."""
    takes = any(argument.is_ref for argument in op.op_def.input_arg)
    return takes and op.type not in _ONLY_LOOK


def _may_be_one(tensor: Any, output: Any) -> bool:
    if tensor.dtype.base_dtype != output.dtype.base_dtype and output.op.type != "Bitcast":
        return False
    if output.op.type in _SLICES:
        return True
    sizes = tensor.shape.num_elements(), output.shape.num_elements()
    return None in sizes or sizes[0] == sizes[1]
