"""How a graph knows that an execution has a settled pattern; see `encode.settled`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdbg_tui.dump.encode.queue_rows import KEY, WIDTH
from tfdbg_tui.dump.encode.settled import SettledPatterns, Source
from tfdbg_tui.dump.observe import coverage, magnitudes
from tfdbg_tui.dump.tensorflow import functions, resources
from tfdbg_tui.dump.tensorflow.op_maker import OpMaker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from tfdbg_tui.dump.encode.group_plan import GroupPlan
    from tfdbg_tui.dump.encode.settled import Makers
    from tfdbg_tui.dump.observe.observed import Observed

_NAME = "tfdbg_tui_settled"
_FEW = 16
"""To count in so many elements, together with those of other tensors, is almost for nothing."""
_FLOATS = frozenset((tf.float16, tf.bfloat16, tf.float32, tf.float64))


def patterns_of(
    plan: GroupPlan,
    items: Sequence[Observed],
    row_numbers: Mapping[str, int],
    tensors: Mapping[int, Any],
    number: int,
) -> SettledPatterns | None:
    """Return the settled patterns of a group, none so far; None where its graph cannot know them.

    Args:
        plan: The group's.
        items: Its tensors.
        row_numbers: The rows with the elements of tensors, by the tensors' names.
        tensors: What the graph has of each counted row.
        number: The group's.
    """
    if len(plan.unsized) > plan.sizes_put:
        return None
    if not {tensor.dtype.base_dtype for tensor in tensors.values()} <= _FLOATS:
        return None
    makers = _makers_of_rows(plan, items, row_numbers, tensors)
    alike: dict[Any, list[int]] = {}
    for row, tensor in tensors.items():
        if row not in makers:
            shape = plan.all_rows[row].shape
            alike.setdefault((tensor.dtype, row if shape is None else shape), []).append(row)
    sources = [Source(rows, plan.all_rows[rows[0]].size) for rows in alike.values()]
    return SettledPatterns(plan.counted, plan.looks, sources, makers, len(plan.unsized), number)


def _makers_of_rows(
    plan: GroupPlan,
    items: Sequence[Observed],
    row_numbers: Mapping[str, int],
    tensors: Mapping[int, Any],
) -> dict[int, Makers]:
    """Return what makes rows NaN all over that are likely to be so.

    They are where a training has turned to NaN: its variables, what loops hand on, and what is
    computed of these.  What is computed of nothing but variables, as they were before the step, is
    counted: where a step is skipped because of NaN they stay healthy.

    Args:
        plan: The group's.
        items: Its tensors.
        row_numbers: The rows with the elements of tensors, by the tensors' names.
        tensors: What the graph has of each counted row.
    """
    are_few = {row for row in tensors if (plan.all_rows[row].size or _FEW + 1) <= _FEW}
    likely = {row for row in tensors if row >= len(items)} - are_few
    as_read: set[int] = set()
    found: dict[int, Makers] = {}
    for row in (row for row in tensors if row < len(items)):
        item = items[row]
        inputs = {coverage.row_of(tensor, row_numbers) for tensor in item.inputs} - {None}
        if _is_as_read(item, row_numbers, tensors.keys(), as_read):
            as_read.add(row)
        is_given = not inputs and (plan.iterated or item.op_type == "ReadVariableOp")
        is_made = bool(likely & inputs) and not coverage.leaves_zeros(item.op_type)
        if is_made or (is_given and row not in are_few):
            likely.add(row)
        makers = plan.makers.get(row)
        if makers is not None and row not in are_few | as_read:
            are_likely = (maker in likely for maker in makers.rows)
            if (all if makers.all else any)(are_likely):
                found[row] = makers
    return found


def _is_as_read(
    item: Observed, row_numbers: Mapping[str, int], counted: AbstractSet[int], as_read: set[int]
) -> bool:
    """Return whether a tensor is computed of variables alone, as they were before the step.

    Args:
        item: The tensor.
        row_numbers: The rows with the elements of tensors, by the tensors' names.
        counted: The counted rows.
        as_read: The rows of earlier tensors of which that is so.
    """
    if _is_read_first(item.tensor):
        return True
    sources = [coverage.row_of(tensor, row_numbers) for tensor in item.inputs]
    of = [pair for pair in zip(item.inputs, sources, strict=True) if pair[1] in counted]
    return bool(of) and all(row in as_read or _is_read_first(tensor) for tensor, row in of)


def _is_read_first(tensor: Any) -> bool:
    """Return whether a tensor is a variable that nothing was done to before."""
    op = tensor.op
    while op.type == "Identity":
        op = op.inputs[0].op
    return bool(op.type == "ReadVariableOp" and not op.control_inputs)


def looked_up(
    ops: OpMaker,
    rows: Any,
    patterns: SettledPatterns,
    tensors: Mapping[int, Any],
    curt: Any,
    sizes: Sequence[Any],
    iteration: Any,
) -> tuple[Any, Any]:
    """Return the rows of an execution with the key of its pattern, and whether that is settled.

    Args:
        ops: Makes the ops that compute them, on the host.
        rows: See `row_ops.row_tensor`; they are there only where something may be bad.
        patterns: Those of the group.
        tensors: What the graph has of each counted row.
        curt: What the graph has seen of them; see `Group.detail`.
        sizes: The sizes of the rows that are not known while tracing.
        iteration: The int32 number of the iteration where the group is measured; else None.
    """
    flat = [tensors[row] for alike in patterns.sources for row in alike.rows]
    # To call a function takes as long as twenty ops, so all before is here, if only for bad rows.
    gated = ops.after([ops.op("Identity", rows)])
    table = resources.numbers_in_graph(gated, _NAME)
    number = gated.constant(patterns.number, tf.int64)
    any_settled = ops.tensor("Cast", resources.number_or_zero(gated, table, number), DstT=tf.bool)
    none, some = ops.op("Switch", rows, any_settled).outputs
    taken = [some, *flat, curt, *sizes, *([] if iteration is None else [iteration])]
    counting = _graph_that_counts(taken, patterns, len(sizes))
    counted, is_settled = functions.call(ops, counting, taken)
    is_none = ops.op("Switch", any_settled, any_settled).outputs[0]
    return ops.tensor("Merge", [none, counted]), ops.tensor("Merge", [is_none, is_settled])


def _graph_that_counts(taken: Sequence[Any], patterns: SettledPatterns, unsized: int) -> Any:
    """Return a graph that returns rows with the key of the pattern, and whether that is settled.

    Args:
        taken: What it takes; see `looked_up`.
        patterns: Those of the group.
        unsized: How many sizes it takes.
    """
    graph = functions.graph_that_takes(taken)
    ops = OpMaker(graph)
    given = iter(graph.inputs)
    rows = next(given)
    packs = [(alike, _packed(ops, [next(given) for _ in alike.rows])) for alike in patterns.sources]
    numbers = _counts(ops, packs)
    seen = ops.tensor("Reshape", next(given), ops.constant([-1], tf.int32))
    numbers.append(ops.tensor("Cast", seen, DstT=tf.float32))
    if unsized:
        packed = ops.tensor("Pack", [next(given) for _ in range(unsized)])
        is_there = ops.tensor("Greater", packed, ops.constant(0, tf.int64))
        numbers.append(ops.tensor("Cast", is_there, DstT=tf.float32))
    numbers.append(_measured(ops, next(given, None)))
    together = ops.tensor("ConcatV2", numbers, ops.constant(0, tf.int32))
    exact = ops.tensor("Cast", together, DstT=tf.int64)
    weighted = ops.tensor("Mul", exact, ops.constant(patterns.weights, tf.int64))
    total = ops.tensor("Sum", weighted, ops.constant(0, tf.int32))
    key = resources.number_or_zero(ops, resources.numbers_in_graph(ops, _NAME), total)
    unit = ops.constant(np.arange(WIDTH)[None] == KEY, tf.int64)
    rows = ops.tensor("AddV2", rows, ops.tensor("Mul", unit, key))
    graph.outputs = [rows, ops.tensor("Cast", key, DstT=tf.bool)]
    return graph


def _packed(ops: OpMaker, tensors: Sequence[Any]) -> Any:
    """Return the elements of tensors of one shape and type, those of each one after the other."""
    packed = ops.tensor("Pack", list(tensors)) if len(tensors) > 1 else tensors[0]
    if packed.shape.rank == 1:
        return packed
    return ops.tensor("Reshape", packed, ops.constant([-1], tf.int32))


def _counts(ops: OpMaker, packs: Sequence[tuple[Source, Any]]) -> list[Any]:
    """Return what is counted in the sources, in the order of `SettledPatterns.weights`.

    Most ops take longer to start than to run, so all sources of one type are tested together, where
    their sizes are known.

    Args:
        ops: Makes the ops.
        packs: The sources and their elements.
    """
    nan: dict[int, Any] = {}
    finite: list[Any] = []
    sized = {n: flat for n, (alike, flat) in enumerate(packs) if alike.size is not None}
    for dtype in dict.fromkeys(flat.dtype for flat in sized.values()):
        some = [n for n, flat in sized.items() if flat.dtype == dtype]
        together = _joined(ops, [sized[n] for n in some])
        finite.append(_sum_of_each(ops, _tested(ops, "IsFinite", together), 1))
        sizes = [(packs[n][0].size or 0) * len(packs[n][0].rows) for n in some]
        parts = _parts(ops, _tested(ops, "IsNan", together), sizes)
        nan |= dict(zip(some, parts, strict=True))
    counts = [
        _sum_of_each(ops, nan[n] if n in nan else _tested(ops, test, flat), len(alike.rows))
        for n, (alike, flat) in enumerate(packs)
        for test in alike.tests
    ]
    none = ops.constant([0], tf.float32)
    return [*counts, ops.tensor("AddN", finite) if len(finite) > 1 else next(iter(finite), none)]


def _joined(ops: OpMaker, flats: Sequence[Any]) -> Any:
    if len(flats) == 1:
        return flats[0]
    return ops.tensor("ConcatV2", list(flats), ops.constant(0, tf.int32))


def _parts(ops: OpMaker, joined: Any, sizes: Sequence[int]) -> Sequence[Any]:
    """Return the parts of a vector, given their sizes."""
    if len(sizes) == 1:
        return [joined]
    axis = ops.constant(0, tf.int32)
    split = ops.op("SplitV", joined, ops.constant(sizes, tf.int64), axis, num_split=len(sizes))
    parts: Sequence[Any] = split.outputs
    return parts


def _tested(ops: OpMaker, test: str, elements: Any) -> Any:
    """Return 1.0 for each element of which a test holds, and 0.0 for each other."""
    return ops.tensor("Cast", ops.tensor(test, elements), DstT=tf.float32)


def _sum_of_each(ops: OpMaker, ones: Any, rows: int) -> Any:
    """Return the sum of each of some rows, which are one after the other in a vector."""
    if rows == 1:
        return ops.tensor("Sum", ones, ops.constant([0], tf.int32), keep_dims=True)
    each = ops.tensor("Reshape", ones, ops.constant([rows, -1], tf.int32))
    return ops.tensor("Sum", each, ops.constant([1], tf.int32))


def _measured(ops: OpMaker, iteration: Any) -> Any:
    """Return 1 in a vector where what runs is measured, else 0."""
    if iteration is None:
        return ops.constant([0], tf.float32)
    found = magnitudes.or_measured(
        ops, magnitudes.in_graph(ops, iteration), ops.constant(0, tf.float64)
    )
    flat = ops.tensor("Reshape", found, ops.constant([1], tf.int32))
    return ops.tensor("Cast", flat, DstT=tf.float32)


def settle(patterns: SettledPatterns, total: int, key: int) -> None:
    """Let graphs know a settled pattern.

    Args:
        patterns: Those of the group.
        total: What the graph finds; see `SettledPatterns.weights`.
        key: The key of the pattern.
    """
    resources.put_number(_NAME, total, key)
    resources.put_number(_NAME, patterns.number, key)
