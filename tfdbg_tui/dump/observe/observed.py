"""Which tensors of a graph are recorded, and in which groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdbg_tui.dump.encode import summaries
from tfdbg_tui.dump.encode.group_plan import GroupPlan, Row
from tfdbg_tui.dump.observe import references, skipped_ops
from tfdbg_tui.dump.tensorflow import devices, scratch_outputs
from tfdbg_tui.dump.tensorflow.eager_tensor import is_eager, num_elements
from tfdbg_tui.dump.tensorflow.function_defs import hands_on_inputs
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfdbg_tui.dump.observe.graphs import RecordedOp
    from tfdbg_tui.dump.options import Options

_GROUP_ROWS = 256
_GROUP_BYTES = 64 << 20
ASSUMED_DIMENSION = 128
"""Stands for a dimension that is not known while tracing when the bytes of a group are estimated,
where no call has had a larger one."""
_TOLD_BY = 8
"""So many arguments of a call are looked at: of most the same dimension is not known."""
_HEALTH_TYPES = summaries.WATCHED - summaries.UNKNOWN_TO_OPS
JOINED_BYTES = 1 << 20
"""On an accelerator tensors of up to so many bytes each are joined with others."""
ALL_JOINED_BYTES = 16 << 20
"""So many bytes of a group are joined: the accelerator's memory may be nearly full."""
_LARGE_INPUT_BYTES = 4 << 20
"""To look at an input with fewer bytes takes less than a quarter of a millisecond."""
_TAKE_PARTS = frozenset(("Gather", "GatherNd", "GatherV2", "Slice", "StridedSlice"))
"""Types of ops that take parts of their first input."""
_MAX_RANK = 31
"""numpy arrays have at most 32 dimensions before numpy 2, and a pack has one more than a tensor."""


@dataclass(frozen=True, slots=True)
class Observed:
    """A symbolic tensor to record, and what is known of it while tracing.

    Attributes:
        tensor: The tensor.
        row: What identifies it.
        op_type: Type of the op that makes it.
        inputs: The inputs of that op.
    """

    tensor: Any
    row: Row
    op_type: str
    inputs: tuple[Any, ...]


def observed_tensors(
    ops: Sequence[RecordedOp],
    graph_id: str,
    options: Options,
    *,
    shapes_doubtful: bool,
    names: devices.Names,
) -> Iterator[Observed]:
    """Yield the tensors among the outputs of some ops that the mode and filters let through.

    Args:
        ops: The ops.
        graph_id: The graph.
        options: The user's.
        shapes_doubtful: Whether static shapes in the graph may be wrong.
        names: Those of the devices.
    """
    for recorded in ops:
        op = recorded.op
        if not recorded.in_scope:
            continue
        if op.type in skipped_ops.GRAPH and not references.reads_variable(op):
            continue
        inputs = tuple(op.inputs)
        for tensor in op.outputs:
            if _is_recorded(tensor, options) and options.keeps(op.type, tensor.dtype):
                row = row_of(
                    tensor,
                    graph_id,
                    recorded,
                    options,
                    shapes_doubtful=shapes_doubtful,
                    names=names,
                )
                yield Observed(tensor, row, op.type, inputs)


def maker_of(tensor: Any, ops: Mapping[str, RecordedOp]) -> RecordedOp | None:
    """Return the op that makes a tensor; None where the tensor is not on record.

    Args:
        tensor: The tensor.
        ops: The ops of its graph by their names.
    """
    maker = ops.get(tensor.op.name)
    is_known = maker is not None and tensor.value_index < len(maker.tensor_ids)
    return maker if is_known else None


def row_of(
    tensor: Any,
    graph_id: str,
    recorded: RecordedOp,
    options: Options,
    *,
    shapes_doubtful: bool,
    names: devices.Names,
) -> Row:
    """Return what is known for sure of a symbolic tensor while tracing.

    Args:
        tensor: The tensor.
        graph_id: The graph.
        recorded: The op that makes it.
        options: The user's.
        shapes_doubtful: Whether static shapes in the graph may be wrong.
        names: Those of the devices.
    """
    op = tensor.op
    sure = not shapes_doubtful or op.type == "Const"
    shape = tensor.shape if sure else tf.TensorShape(None)
    known = shape.as_list() if shape.rank is not None else None
    return Row(
        graph_id=graph_id,
        op_name=op.name,
        slot=tensor.value_index,
        tensor_id=recorded.tensor_ids[tensor.value_index],
        dtype=tensor.dtype.base_dtype.as_datatype_enum,
        shape=tuple(known) if known is not None and None not in known else None,
        rank=shape.rank,
        device=names.full(tensor.device),
        watched=recorded.in_scope and options.keeps(op.type, tensor.dtype),
    )


def plan_of(
    items: Sequence[Observed],
    options: Options,
    mode: TensorDebugMode,
    *,
    iterated: bool,
    measured: bool = False,
    overwritten: bool = False,
    caller: str = "",
) -> GroupPlan:
    """Return the plan of a group, not filled in.

    Args:
        items: The tensors.
        options: The user's.
        mode: Mode of their records.
        iterated: Whether they are in the body of a loop.
        measured: Whether their extremes are recorded now and then.
        overwritten: Whether they will be gone when something made from them is seen to be bad.
        caller: A device of another process that runs the function; "" for none.
    """
    return GroupPlan(
        [item.row for item in items],
        mode,
        iterated,
        measured=measured,
        adaptive=options.adaptive,
        dump_mode=options.mode,
        overwritten=overwritten and options.adaptive,
        caller=caller,
    )


def fits_numpy(tensor: Any) -> bool:
    """Return whether a symbolic tensor, and a pack of such, can be handed to Python."""
    return (tensor.shape.rank or 0) <= _MAX_RANK


def _is_recorded(tensor: Any, options: Options) -> bool:
    dtype = tensor.dtype.base_dtype
    if options.watches_health:
        is_scratch = scratch_outputs.is_scratch(tensor.op, tensor.value_index)
        has_type = dtype.as_datatype_enum in _HEALTH_TYPES and not is_scratch
    elif options.mode is TensorDebugMode.SHAPE:
        has_type = bool(dtype.is_floating or dtype.is_integer or dtype.is_bool)
    else:
        has_type = bool(dtype.is_numpy_compatible)
    return has_type and fits_numpy(tensor)


def is_large_and_taken_in_parts(item: Observed) -> bool:
    """Return whether a function takes no more than parts of an input that is large.

    That is so of all data of Keras' `fit`, of which each batch is gathered: to look at them takes
    much longer than to make the batch.
    """
    tensor = item.tensor
    if item.op_type != "Placeholder" or estimated_bytes(tensor, 1) < _LARGE_INPUT_BYTES:
        return False
    users = tensor.consumers()
    return bool(users) and all(_takes_part(op, tensor) for op in users)


def _takes_part(op: Any, tensor: Any) -> bool:
    """Return whether an op takes parts of a tensor, or hands it to a function that has its own."""
    if hands_on_inputs(op.node_def):
        return True
    return op.type in _TAKE_PARTS and op.inputs[0] is tensor


def groups_of(
    observed: Sequence[Observed], dimension: int = ASSUMED_DIMENSION
) -> Iterator[list[Observed]]:
    """Split tensors into groups of one device, limited in number and in (estimated) bytes.

    A group comes after those that its tensors were computed from on other devices.

    Args:
        observed: The tensors.
        dimension: What an unknown dimension is taken to be.
    """
    by_device: dict[str, list[Observed]] = {}
    sizes: dict[str, int] = {}
    waiting: dict[str, str] = {}  # by the name of a tensor in a group: its device
    for item in observed:
        device = item.row.device
        before = (*item.inputs, *_assigned_before(item.tensor.op))
        for needed in {waiting.get(tensor.name, device) for tensor in before} - {device}:
            yield from _taken(by_device, needed)
        group = by_device.setdefault(device, [])
        size = estimated_bytes(item.tensor, dimension)
        if group and (len(group) >= _GROUP_ROWS or sizes[device] + size > _GROUP_BYTES):
            yield from _taken(by_device, device)
            group = by_device.setdefault(device, [])
        if not group:
            sizes[device] = 0
        group.append(item)
        sizes[device] += size
        waiting[item.tensor.name] = device
    yield from by_device.values()


def _assigned_before(op: Any) -> Iterator[Any]:
    """Yield what was given to the ops that the reading of a variable waits for."""
    if op.type == "ReadVariableOp":
        for before in op.control_inputs:
            yield from before.inputs


def _taken(groups: dict[str, list[Observed]], device: str) -> Iterator[list[Observed]]:
    """Take the group of a device out, if there is one."""
    if device in groups:
        yield groups.pop(device)


def estimated_bytes(tensor: Any, unknown: int = ASSUMED_DIMENSION) -> int:
    """Return about how many bytes a tensor takes, whose size may not be known while tracing.

    Args:
        tensor: The tensor.
        unknown: What an unknown dimension is taken to be.
    """
    dimensions = tensor.shape.as_list() if tensor.shape.rank is not None else [None]
    count = 1
    for dimension in dimensions:
        count *= unknown if dimension is None else dimension
    return count * int(tensor.dtype.size or 8)


class UnknownDimensions:
    """How large those dimensions of a function's arguments are that are not known while tracing.

    Args:
        arguments: The symbolic tensors.

    Attributes:
        largest: The largest so far, up to a power of two.
    """

    def __init__(self, arguments: Sequence[Any]) -> None:
        self.largest = ASSUMED_DIMENSION
        shapes = [
            (place, argument.shape.as_list())
            for place, argument in enumerate(arguments)
            if argument.shape.rank and None in argument.shape.as_list()
        ]
        self._told_by = [
            (place, math.prod(filter(None, shape)), shape.count(None))
            for place, shape in shapes[:_TOLD_BY]
            if 0 not in shape
        ]

    def note(self, inputs: Sequence[Any]) -> None:
        """Look at the inputs of a call: eager tensors, one for each argument."""
        for place, known, unknown in self._told_by:
            given = inputs[place]
            size = num_elements(given) if is_eager(given) else 0
            dimension = round((size / known) ** (1 / unknown))
            if dimension > self.largest:
                self.largest = 1 << (dimension - 1).bit_length()
