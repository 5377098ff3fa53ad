"""Where the way back of a gradient is cut: ops that have none, between a loss and variables."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tfdbg_tui.diagnosis.dataflow.calls import CONTROL
from tfdbg_tui.diagnosis.dataflow.variables import READS
from tfdbg_tui.diagnosis.events import TensorEvent, op_type_of, stack_id_of, summary_of
from tfdbg_tui.diagnosis.gradients import has_own_gradient
from tfdbg_tui.diagnosis.history import computed
from tfdbg_tui.diagnosis.locations import location_of
from tfdbg_tui.diagnosis.op_traits import OF_WEIGHTS
from tfdbg_tui.diagnosis.untrained import keys_of
from tfdbg_tui.diagnosis.updates import variables_read
from tfdbg_tui.diagnosis.worklist import Worklist
from tfdbg_tui.wire.dtypes import MAX_FINITE, dtype_name

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Set

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.logdir import GradientRequest, GraphOp, Run

    Key = tuple[int, int]

_MOST = 20_000  # ops that are looked at
_LAYERS = 64  # products before a loss, of which one is of a variable that is asked for
_HAVE_NO_GRADIENT = frozenset(
    {
        *("StopGradient", "Round", "Rint", "Floor", "Ceil", "FloorDiv", "FloorMod", "OneHot"),
        *("PyFunc", "PyFuncStateless", "Bucketize", "Bincount", "NonMaxSuppressionV3"),
    }
)
"""Of those that give floating-point numbers; what gives integers or flags has none either."""
_OF_SHAPES = frozenset({"Shape", "ShapeN", "Size", "Rank"})
"""Of how large a tensor is, not of its numbers."""
_PENALTIES = frozenset({"L2Loss", "Square", "Abs"})
_SAME_NUMBERS = frozenset({"Cast", "Identity", "Reshape"})
_FLOATING = frozenset({*MAX_FINITE, "complex64", "complex128", "resource", "variant"})


@dataclass(frozen=True, slots=True)
class Cut:
    """An op that lets no gradient through to variables.

    Attributes:
        event: A tensor that the op makes, or takes, or what is made of it: one that is on record.
        text: Its type and its line.
        keys: The variables that it is made of, the nearest first.
    """

    event: TensorEvent
    text: str
    keys: tuple[Key, ...]


class _Ops(NamedTuple):
    """The ops that a loss is made of: those of a graph, or executions.

    Attributes:
        given: Returns the ops that made what an op takes.
        is_cut: Tells whether an op has no gradient.
        read: Returns the variables that an op reads.
        cut: Describes an op, given the variables behind it; None where nothing there is on record.
    """

    given: Callable[[Any], Iterable[Hashable]]
    is_cut: Callable[[Any], bool]
    read: Callable[[Any], Set[Key]]
    cut: Callable[[Any, tuple[Key, ...]], Cut | None]


def has_no_gradient(op: GraphOp) -> bool:
    """Return whether an op of a graph lets no gradient through to the numbers that it takes."""
    dtypes = {dtype_name(number).removesuffix("_ref") for number in op.output_dtypes}
    no_floats = bool(dtypes) and dtypes.isdisjoint(_FLOATING)
    is_of_numbers = bool(op.inputs) and op.op_type not in _OF_SHAPES
    return op.op_type in _HAVE_NO_GRADIENT or (no_floats and is_of_numbers)


def find_cuts(dataflow: Dataflow, wanted: Set[Key]) -> Iterator[Cut]:
    """Yield the ops that keep the gradients of losses from some variables.

    First those that keep them from no others: what is trained may lie behind others as well, and
    has its gradient by way of other ops.

    Args:
        dataflow: Of the run.
        wanted: The variables.
    """
    others = {variable.key for variable in dataflow.run.variables if variable.trainable} - wanted
    told: set[Hashable] = set()
    of_others: list[Cut] = []
    for request in dataflow.run.gradient_requests:
        unconnected = keys_of(request, request.unconnected)
        if wanted.isdisjoint(unconnected):
            continue
        loss, ops = _loss(dataflow, request)
        for op in _before(loss, ops, ops.is_cut) if loss is not None else ():
            if op in told or not ops.is_cut(op):
                continue
            told.add(op)
            behind = _before(op, ops, lambda _: False)
            keys = tuple(dict.fromkeys(key for one in behind for key in ops.read(one)))
            found = ops.cut(op, keys) if wanted & {*keys} else None
            if found is not None and others.isdisjoint(keys):
                yield found
            elif found is not None:
                of_others.append(found)
    yield from of_others


def find_cuts_beside_penalties(dataflow: Dataflow) -> Iterator[Cut]:
    """Yield the ops that keep the gradients of losses from all kernels but by way of penalties.

    Penalties are made of variables alone.  Only in graphs, whose ops are all known; what a function
    does that a graph calls is not looked at.

    Args:
        dataflow: Of the run.
    """
    for request in dataflow.run.gradient_requests:
        loss, ops = _loss(dataflow, request)
        asked = keys_of(request, request.asked)
        if request.target is None or loss is None:
            continue
        reached = _before(loss, ops, ops.is_cut)
        calls = any(op.op_type in CONTROL for op in reached)
        if calls or not _only_penalties(dataflow, {*reached}, asked, ops):
            continue
        for cut in filter(ops.is_cut, reached):
            behind = _before(cut, ops, lambda _: False)
            kernels = [one for one in behind if one.op_type in OF_WEIGHTS]
            keys = [key for one in kernels for given in ops.given(one) for key in ops.read(given)]
            found = ops.cut(cut, tuple(dict.fromkeys(keys))) if asked & {*keys} else None
            if found is not None:
                yield found
                break


def find_penalties_of_eager_code(dataflow: Dataflow) -> tuple[TensorEvent, set[Key]] | None:
    """Return the last product of a layer before an eager loss that is made of penalties alone.

    With the variables that are asked for.  What the layers make of them goes through NumPy, or an
    op that has no gradient.  None where any loss of the program is made of them in another way, or
    of what functions give.

    Args:
        dataflow: Of the run.
    """
    run, found = dataflow.run, None
    for request in run.gradient_requests:
        loss, ops = _loss(dataflow, request)
        asked = keys_of(request, request.asked)
        if loss is None or request.target is not None:
            return None
        reached = _before(loss, ops, ops.is_cut)
        types = {op_type_of(run, event) for event in reached if ops.read(event) & asked} - READS
        calls = any(run.executions.kind(event.index).is_function for event in reached)
        if calls or not types or not types <= _PENALTIES:
            return None
        rows = run.executions.of_kinds(lambda kind: kind.op_type in OF_WEIGHTS)
        before = rows[rows < loss.index][-_LAYERS:].tolist()
        products = (TensorEvent("execution", row, 0) for row in reversed(before))
        product = next((one for one in products if variables_read(dataflow, one) & asked), None)
        found = (product, asked) if product is not None else found
    return found


def _only_penalties(dataflow: Dataflow, reached: set[GraphOp], asked: Set[Key], ops: _Ops) -> bool:
    """Whether what a loss is made of takes variables for penalties, and for nothing else.

    Args:
        dataflow: Of the run.
        reached: The ops that a gradient comes to.
        asked: The variables whose gradients are asked for.
        ops: These ops and others.
    """
    read = Worklist(op for op in reached if ops.read(op) & asked)
    for op in read:
        graph = dataflow.run.graphs[op.graph_id]
        users = [graph.ops[use.op_name] for use in graph.consumers(op.name)]
        users = [user for user in users if user in reached]
        if any(user.op_type not in _SAME_NUMBERS | _PENALTIES for user in users):
            return False
        read.add(*(user for user in users if user.op_type in _SAME_NUMBERS))
    return bool(read.seen)


def _before(last: Hashable, ops: _Ops, stops: Callable[[Any], bool]) -> list[Any]:
    """Return an op and those that it is made of, the nearest first.

    Args:
        last: The op.
        ops: It and others.
        stops: Tells of which ops what they are made of is left out.
    """
    waiting, found = deque([last]), {last: None}
    while waiting and len(found) < _MOST:
        op = waiting.popleft()
        for made in () if stops(op) else ops.given(op):
            if made not in found:
                found[made] = None
                waiting.append(made)
    return list(found)


def _loss(dataflow: Dataflow, request: GradientRequest) -> tuple[Any, _Ops]:
    if request.target is not None:
        loss = dataflow.run.op(request.target_graph_id, request.target.op_name)
        return loss, _ops_of_graph(dataflow)
    made = dataflow.timeline.maker_in(request.file_set, request.target_id)
    return made, _executions(dataflow)


def _ops_of_graph(dataflow: Dataflow) -> _Ops:
    run = dataflow.run

    def given(op: GraphOp) -> Iterator[GraphOp]:
        ops = run.graphs[op.graph_id].ops
        names = (ref.op_name for ref in op.inputs if op.op_type not in _OF_SHAPES)
        return (ops[name] for name in names if name in ops)

    def read(op: GraphOp) -> Set[Key]:
        if op.op_type not in READS:
            return frozenset()
        return {(run.graphs[op.graph_id].file_set, dataflow.variables.handle(op))}

    def cut(op: GraphOp, keys: tuple[Key, ...]) -> Cut | None:
        graph = run.graphs[op.graph_id]
        uses = [use.op_name for use in graph.consumers(op.name)]
        near = [op.name, *uses, *(ref.op_name for ref in op.inputs)]
        found = (event for name in near for event in computed(dataflow, op.graph_id, name))
        event = next(found, None)
        if event is None:
            return None
        first = replace(event, index=int(dataflow.timeline.rows_of(event.index)[0]))
        return Cut(first, _text(run, op.op_type, op.stack_id), keys)

    return _Ops(given, has_no_gradient, read, cut)


def _executions(dataflow: Dataflow) -> _Ops:
    run = dataflow.run

    def given(event: TensorEvent) -> Iterator[TensorEvent]:
        if op_type_of(run, event) in (*READS, *_OF_SHAPES):
            return iter(())
        made = (producer.event for producer in dataflow.producers(event))
        return (one for one in made if one is not None and one.kind == "execution")

    def is_cut(event: TensorEvent) -> bool:
        op_type, summary = op_type_of(run, event), summary_of(run, event)
        # Integers may leave no record.
        is_float = summary is not None and summary.dtype in (None, *_FLOATING)
        has_none = op_type in _HAVE_NO_GRADIENT or (op_type == "Cast" and not is_float)
        return has_none and not has_own_gradient(run, event)

    def cut(event: TensorEvent, keys: tuple[Key, ...]) -> Cut:
        op_type = op_type_of(run, event) or ""
        return Cut(event, _text(run, op_type, stack_id_of(run, event)), keys)

    return _Ops(given, is_cut, lambda event: variables_read(dataflow, event), cut)


def _text(run: Run, op_type: str, stack_id: int | None) -> str:
    line = location_of(run, stack_id)
    return f"{op_type} at {line.short}" if line else op_type
