"""Which tensors of a graph are recorded, and the ops that carry their values out of it.

The tensors of a graph are observed in groups.  A group costs one cheap op a tensor (TensorFlow's
``DebugNumericSummaryV2`` in its CURT_HEALTH mode, which runs at memory speed), one Pack, and one
PyFunc, the *sink*, that appends the packed array to a queue.  Only when a tensor of the group is
bad, an If runs a second Python function, which gets the tensors themselves (they are still alive)
and counts everything about the bad ones.  Groups are small enough that little is kept alive and
that little is lost when an op raises in the middle of a graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.framework import func_graph as func_graph_module
from tensorflow.python.ops import (
    control_flow_util_v2,
    gen_debug_ops,
    gen_functional_ops,
    gen_script_ops,
)

from tfdbg_tui.dump import skipped_ops, summaries, tensorflow_hooks
from tfdbg_tui.dump.graphs import OWN_SCOPE
from tfdbg_tui.dump.groups import DETAIL_WIDTH, Group, Row
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tfdbg_tui.dump.graphs import RecordedOp
    from tfdbg_tui.dump.options import Options

_REARRANGING_OPS = frozenset(
    (
        "EnsureShape",
        "ExpandDims",
        "PreventGradient",
        "Reshape",
        "Snapshot",
        "Squeeze",
        "StopGradient",
        "Transpose",
    )
)
"""Ops whose output has the elements of their first input."""

_GROUP_ROWS = 64
_GROUP_BYTES = 256 << 20
_ASSUMED_DIMENSION = 128
"""Stands for an unknown dimension when the bytes of a group are estimated."""
_SMALL = 512
"""Up to so many elements, one FULL_HEALTH kernel is cheaper than several fast ones."""
_EXACT_FLOAT32 = 1 << 24
"""A float32 sum of ones is exact up to here; larger tensors are counted by the detail function."""


@dataclass(frozen=True, slots=True)
class Observed:
    """A symbolic tensor to record, and what is known of it while tracing."""

    tensor: Any
    row: Row
    inputs: tuple[Any, ...]


def observed_tensors(
    ops: Sequence[RecordedOp], graph_id: str, options: Options
) -> Iterator[Observed]:
    """Yield the tensors among the outputs of some ops that the mode and filters let through."""
    for recorded in ops:
        op = recorded.op
        if op.type in skipped_ops.GRAPH:
            continue
        inputs = tuple(op.inputs)
        for slot, tensor in enumerate(op.outputs):
            if _is_recorded(tensor.dtype.base_dtype, options) and options.keeps(
                op.type, tensor.dtype
            ):
                row = row_of(tensor, graph_id, recorded.tensor_ids[slot], options)
                yield Observed(tensor, row, inputs)


def row_of(tensor: Any, graph_id: str, tensor_id: int, options: Options) -> Row:
    """Return what is known of a symbolic tensor while tracing."""
    shape = tensor.shape
    known = shape.as_list() if shape.rank is not None else None
    return Row(
        graph_id=graph_id,
        op_name=tensor.op.name,
        slot=tensor.value_index,
        tensor_id=tensor_id,
        dtype=tensor.dtype.base_dtype.as_datatype_enum,
        shape=tuple(known) if known is not None and None not in known else None,
        rank=shape.rank,
        device=tensorflow_hooks.full_device_name(tensor.device),
        watched=options.keeps(tensor.op.type, tensor.dtype),
    )


def _is_recorded(dtype: Any, options: Options) -> bool:
    if options.watches_health:
        return bool(dtype.is_floating or dtype.is_complex)
    if options.mode is TensorDebugMode.SHAPE:
        return bool(dtype.is_floating or dtype.is_integer or dtype.is_bool)
    return bool(dtype.is_numpy_compatible)


def groups_of(observed: Sequence[Observed]) -> Iterator[list[Observed]]:
    """Split tensors into groups of one device, limited in number and in (estimated) bytes."""
    by_device: dict[str, list[Observed]] = {}
    sizes: dict[str, int] = {}
    for item in observed:
        device = item.tensor.device
        group = by_device.setdefault(device, [])
        size = _estimated_bytes(item.tensor)
        if group and (len(group) >= _GROUP_ROWS or sizes[device] + size > _GROUP_BYTES):
            yield group
            group = by_device[device] = []
        if not group:
            sizes[device] = 0
        group.append(item)
        sizes[device] += size
    yield from (group for group in by_device.values() if group)


def _estimated_bytes(tensor: Any) -> int:
    dimensions = tensor.shape.as_list() if tensor.shape.rank is not None else [None]
    count = 1
    for dimension in dimensions:
        count *= _ASSUMED_DIMENSION if dimension is None else dimension
    return count * int(tensor.dtype.size or 8)


def add_group(
    graph: Any,
    items: Sequence[Observed],
    group: Group,
    iteration: Any,
    input_row: Callable[[Any], Row | None],
    after: Sequence[Any],
) -> Any:
    """Add the ops that record a group of tensors to their graph; return the one that must run.

    Args:
        graph: A FuncGraph that is about to become a function, or a v1 graph.
        items: The tensors, one for each row of `group`.
        group: Takes the values when the graph runs.
        iteration: The counter of the loop that the graph is the body of, or None.
        input_row: Returns the row of any recorded tensor of the graph.
        after: Sinks that must have run before this one.
    """
    builder = _GroupBuilder(items, group, iteration, input_row)
    with (
        tensorflow_hooks.no_graph_callbacks(),
        graph.as_default(),
        tf.control_dependencies(None),
        graph.name_scope(OWN_SCOPE + "/"),
        graph.device(None),
    ):
        return builder.build(after)


def make_output_wait(graph: Any, sinks: Sequence[Any]) -> None:
    """Make a loop's condition depend on its sinks: nothing else makes them run."""
    with (
        tensorflow_hooks.no_graph_callbacks(),
        graph.as_default(),
        graph.name_scope(OWN_SCOPE + "/"),
        tf.control_dependencies(sinks),
    ):
        graph.outputs[0] = tf.identity(graph.outputs[0])


class _GroupBuilder:
    def __init__(
        self,
        items: Sequence[Observed],
        group: Group,
        iteration: Any,
        input_row: Callable[[Any], Row | None],
    ) -> None:
        self._items = items
        self._group = group
        self._iteration = iteration
        self._input_row = input_row
        self._columns: list[tuple[str, Any]] = []

    def build(self, after: Sequence[Any]) -> Any:
        mode = self._group.mode
        after = list(after)
        if mode is TensorDebugMode.NO_TENSOR:
            after += [item.tensor.op for item in self._items]
        elif mode is TensorDebugMode.FULL_TENSOR:
            self._columns += [("tensor", item.tensor) for item in self._items]
        elif mode is TensorDebugMode.SHAPE:
            after += self._add_shapes()
        else:
            self._add_health()
        if self._iteration is not None:
            self._columns.append(("iteration", self._iteration))
        self._group.columns = tuple(name for name, _ in self._columns)
        token = tensorflow_hooks.py_func_token(self._group.sink)
        with tf.control_dependencies(after):
            return gen_script_ops.py_func([c for _, c in self._columns], token, Tout=[])

    def _add(self, name: str, tensors: Sequence[Any]) -> Any | None:
        if not tensors:
            return None
        packed = tf.raw_ops.Pack(values=tensors, axis=0)
        self._columns.append((name, packed))
        return packed

    def _add_shapes(self) -> list[Any]:
        unknown = [item for item in self._items if item.row.shape is None]
        self._add("shape", [_summary(i.tensor, TensorDebugMode.SHAPE) for i in unknown])
        return [item.tensor.op for item in self._items if item.row.shape is not None]

    def _add_health(self) -> None:
        group = self._group
        full = group.mode is TensorDebugMode.FULL_HEALTH
        self._sort_rows(full)
        small = [self._items[i].tensor for i in group.small]
        self._add("full", [_summary(t, TensorDebugMode.FULL_HEALTH) for t in small])
        fast = [self._items[i] for i in group.fast]
        if not fast:
            return
        curt = self._add("curt", [_curt(item.tensor) for item in fast])
        if group.mode is TensorDebugMode.CURT_HEALTH:
            return
        unsized = [item.tensor for item in fast if item.row.size is None]
        sizes = self._add("size", [tf.raw_ops.Size(input=t, out_type=tf.int64) for t in unsized])
        if full:
            self._add_signs(fast)
        self._add_details(fast, curt, sizes)

    def _sort_rows(self, full: bool) -> None:
        """Decide how each row is summarised; constants and mere rearrangements cost nothing."""
        group = self._group
        sources: dict[str, int] = {}
        for number, item in enumerate(self._items):
            source = self._source(item, sources)
            if source is not None:
                group.aliases.append((number, source))
                sources[item.tensor.name] = source
                continue
            value = tf.get_static_value(item.tensor) if item.tensor.op.type == "Const" else None
            if value is not None:
                group.constants[number] = summaries.health_counts(value, extremes=group.adaptive)
                continue
            (group.small if full and _has_full_kernel(item) else group.fast).append(number)
            sources[item.tensor.name] = number

    def _source(self, item: Observed, sources: dict[str, int]) -> int | None:
        """Return the row that has the same elements as a tensor, or None."""
        if item.tensor.op.type not in _REARRANGING_OPS or item.row.rank is None:
            return None
        return sources.get(item.inputs[0].name)

    def _add_signs(self, items: Sequence[Observed]) -> None:
        sums: list[Any] = []
        squares: list[Any] = []
        for item in items:
            sign = tf.raw_ops.Sign(x=_for_sign(item.tensor))
            flat = tf.raw_ops.Reshape(tensor=sign, shape=[-1])
            total = tf.raw_ops.Sum(input=flat, axis=[0])
            half = tf.raw_ops.L2Loss(t=sign)
            for scalar, into in ((total, sums), (half, squares)):
                wide = scalar.dtype == tf.float64
                into.append(scalar if wide else tf.raw_ops.Cast(x=scalar, DstT=tf.float64))
        self._add("sign_sum", sums)
        self._add("half_nonzero", squares)

    def _add_details(self, items: Sequence[Observed], curt: Any, sizes: Any) -> None:
        """Add the If that counts everything about the bad tensors of a group."""
        group = self._group
        full = group.mode is TensorDebugMode.FULL_HEALTH
        condition = tf.raw_ops.Max(input=curt, axis=[0, 1]) > 0.0
        force = [full and (item.row.size or 0) > _EXACT_FLOAT32 for item in items]
        if any(force):
            condition = tf.constant(True)
        elif full and sizes is not None:
            condition |= tf.raw_ops.Max(input=sizes, axis=[0]) > _EXACT_FLOAT32
        tensors = [item.tensor for item in items]
        group.detail_inputs = [()] * len(items)
        if group.adaptive:
            self._add_inputs(items, tensors)
        group.exact_limit = _EXACT_FLOAT32 if full else None
        token = tensorflow_hooks.py_func_token(group.detail)
        details = _if(condition, [curt, *tensors], token)
        self._columns.append(("details", details))

    def _add_inputs(self, items: Sequence[Observed], tensors: list[Any]) -> None:
        """Let the details of a bad tensor include those of the inputs of its op."""
        group = self._group
        known = {item.tensor.name: index for index, item in enumerate(items)}
        for number, source in group.aliases:
            known[self._items[number].tensor.name] = known[self._items[source].tensor.name]
        constants = {self._items[number].tensor.name for number in group.constants}
        inputs = []
        for item in items:
            indices = []
            for tensor in item.inputs:
                dtype = tensor.dtype.base_dtype
                if not (dtype.is_floating or dtype.is_complex) or tensor.name in constants:
                    continue
                if tensor.name not in known:
                    row = self._input_row(tensor)
                    if row is None:
                        continue
                    known[tensor.name] = len(tensors)
                    tensors.append(tensor)
                    group.extra_rows.append(row)
                indices.append(known[tensor.name])
            inputs.append(tuple(indices))
        group.detail_inputs = inputs


def _has_full_kernel(item: Observed) -> bool:
    row = item.row
    cheap = row.rank is None or (row.size is not None and row.size <= _SMALL)
    return cheap and row.dtype in summaries.KERNEL_FLOATS


def _summary(tensor: Any, mode: TensorDebugMode) -> Any:
    with _beside(tensor):
        return gen_debug_ops.debug_numeric_summary_v2(
            tensor, tensor_id=0, tensor_debug_mode=int(mode), output_dtype=tf.float64
        )


def _beside(tensor: Any) -> Any:
    return tf.device(tensor.device or None)


def _curt(tensor: Any) -> Any:
    """Return ``[0, has NaN or infinity]`` of any floating or complex tensor."""
    dtype = tensor.dtype.base_dtype
    with _beside(tensor):
        if dtype.is_complex:
            tensor = tf.raw_ops.Bitcast(input=tensor, type=dtype.real_dtype)
        elif dtype.as_datatype_enum not in summaries.KERNEL_FLOATS or (
            # There is no bfloat16 kernel of the summary op for GPUs.
            dtype == tf.bfloat16 and tensorflow_hooks.has_accelerator()
        ):
            tensor = tf.raw_ops.Cast(x=tensor, DstT=tf.float32)
    return _summary(tensor, TensorDebugMode.CURT_HEALTH)


def _for_sign(tensor: Any) -> Any:
    """Return a float32 or float64 tensor with the signs of any floating tensor."""
    dtype = tensor.dtype.base_dtype
    with _beside(tensor):
        if dtype.is_complex:
            return tf.raw_ops.ComplexAbs(x=tensor, Tout=dtype.real_dtype)
        if dtype in (tf.float32, tf.float64):
            return tensor
        return tf.raw_ops.Cast(x=tensor, DstT=tf.float32)


def _if(condition: Any, inputs: list[Any], token: str) -> Any:
    """Return the PyFunc of `inputs` where the condition holds, else an empty array."""

    def then(*arguments: Any) -> Any:
        result = gen_script_ops.py_func(list(arguments), token, Tout=[tf.float64])[0]
        result.set_shape([None, DETAIL_WIDTH])
        return result

    def otherwise(*_: Any) -> Any:
        return tf.zeros([0, DETAIL_WIDTH], tf.float64)

    specs = [tf.TensorSpec(t.shape, t.dtype) for t in inputs]
    branches = [_branch(name, f, specs) for name, f in (("then", then), ("else", otherwise))]
    output = gen_functional_ops._if(condition, inputs, [tf.float64], *branches)[0]
    if tensorflow_hooks.has_accelerator():
        # Lowered to Switch and Merge, the tensors stay on the device unless the branch is taken.
        tensorflow_hooks.set_bool_attribute(output.op, "_lower_using_switch_merge", True)
    return output


def _branch(name: str, function: Any, specs: Sequence[Any]) -> str:
    unique = control_flow_util_v2.unique_fn_name(OWN_SCOPE + "/", name)
    graph = func_graph_module.FuncGraph(unique)
    tensorflow_hooks.mark_as_own(graph)
    func_graph_module.func_graph_from_py_func(
        unique, function, [], {}, signature=specs, func_graph=graph, add_control_dependencies=False
    )
    created: str = control_flow_util_v2.create_new_tf_function(graph)
    return created
