"""Definitions of graphs: their ops in order, what each op calls, and each function's signature.

Ops are recorded when a graph becomes a function, by walking it.  So nothing is missed (TensorFlow's
own records lack every call of a function), names and called functions are final, and tracing costs
nothing.  A graph can become several functions (inference, forward); later walks add what is new.
"""

from __future__ import annotations

import uuid
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from tfdbg_tui.dump.tensorflow import function_defs, functions, graph_ops, graph_state, own
from tfdbg_tui.dump.tensorflow.eager_tensor import is_eager, tensor_id
from tfdbg_tui.wire import events, filesets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfdbg_tui.dump.record.recorder import Recorder
    from tfdbg_tui.dump.record.stacks import CodeLocations
    from tfdbg_tui.dump.tensorflow.locations import Location

_RAISING_OPS = frozenset(
    (
        *("Assert", "CheckNumerics", "CheckNumericsV2", "EnsureShape"),
        *("EagerPyFunc", "PyFunc", "PyFuncStateless"),
        *("BandedTriangularSolve", "Cholesky", "Eig", "Lu", "MatrixInverse", "MatrixSolve"),
        *("MatrixSolveLs", "MatrixSquareRoot", "MatrixTriangularSolve", "SelfAdjointEigV2"),
        *("TridiagonalSolve",),
    )
)
"""Op types that stop a call for what they are given: by purpose, for their Python, for a matrix."""

_INDEXING_OPS = frozenset(
    (
        *("GatherNd", "GatherV2", "ResourceGather", "ResourceGatherNd", "ScatterNd", "Slice"),
        *("SparseToDense", "TensorScatterAdd", "TensorScatterUpdate"),
    )
)
"""Op types that stop a call for an index.

Where it is made of floats it may be that of NaN; to wait before each of the others would take time,
and few programs get them wrong.
"""

_INDEX_DEPTH = 4  # integer ops: how far back from an index a Cast is looked for
_INDEX_INPUTS = 8  # of each of these ops


@dataclass(frozen=True, slots=True)
class RecordedOp:
    """An op of a graph on record; made when it is asked for, as a graph may be kept for long.

    Attributes:
        op: The op.
        tensor_ids: The numbers of its outputs.
        may_raise: Whether it, or what it calls, is likely to stop a call.
        calls: The graphs that it calls.
        in_scope: Whether what it computes is recorded.
    """

    op: Any
    tensor_ids: range
    may_raise: bool
    calls: tuple[str, ...]
    in_scope: bool


@dataclass(slots=True, eq=False, weakref_slot=True)
class _GraphState:
    """What is known of a graph; kept on the graph, so that it lives as long.

    Attributes:
        owner: Where the graph is recorded.
        graph_id: Its id.
        first_ids: The number of the first output of each of its ops; 0 for one not on record.
        num_outputs: How many outputs each had: a loop may get more.
        raising: The names of its ops that may stop a call, and of those that call such.
        unawaited: Those of these that do not wait for records.
        outside: The names of its ops of which nothing is recorded.
        calls: The ids of the graphs that its ops call, by the names of these.
        called: The same of all together.
        has_loops: Whether one of its ops, or of those that it calls, is a loop.
        scopes: The name scopes of its ops, and whether an op in each is recorded.
        lasting: Whether one of its ops assigns to a variable, prints, or the like.
        doubtful: Whether the shapes known while tracing may be wrong.
        trainable: The names of the variables that it was recorded of that they may be trained.
        locations: The serialized CodeLocation of each recorded op, where these are wanted.
        kept: What has to live as long as the graph.
    """

    owner: GraphDefinitions
    graph_id: str
    first_ids: array[int] = field(default_factory=lambda: array("q"))
    num_outputs: array[int] = field(default_factory=lambda: array("l"))
    raising: set[str] = field(default_factory=set)
    unawaited: set[str] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)
    calls: dict[str, tuple[str, ...]] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    has_loops: bool = False
    scopes: dict[str, bool] = field(default_factory=dict)
    lasting: bool = False
    doubtful: bool = False
    trainable: set[str] = field(default_factory=set)
    locations: dict[str, bytes] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)


class GraphDefinitions:
    """Records the graphs of one file set.

    Args:
        recorder: Takes the records.
        locations: Interns stack traces.
        keep_locations: Whether `location` is going to be asked.
    """

    def __init__(
        self, recorder: Recorder, locations: CodeLocations, *, keep_locations: bool
    ) -> None:
        self._recorder = recorder
        self._locations = locations
        self._next_id = 1
        # A runtime function has its graph kept, so what can be called is always found here.
        self._states: WeakValueDictionary[str, _GraphState] = WeakValueDictionary()
        self._functions: WeakValueDictionary[str, _GraphState] = WeakValueDictionary()
        self._reachable: dict[str, frozenset[str]] = {}
        self._keep_locations = keep_locations

    def graph_id(self, graph: Any) -> str:
        """Return the id of a graph; records it, after the graph around it, when it is new."""
        return self._state(graph).graph_id

    def _state(self, graph: Any) -> _GraphState:
        kept = graph_state.state_of(graph)
        state: _GraphState | None = kept.recorded
        if state is not None and state.owner is self:
            return state
        outer = graph_state.outer_graph(graph)
        outer_id = self.graph_id(outer) if outer is not None else ""
        state = _GraphState(self, str(uuid.uuid4()))
        kept.recorded = self._states[state.graph_id] = state
        name = getattr(graph, "name", None) or ""
        self._define(debugged_graph=events.DebuggedGraph(state.graph_id, name, outer_id).encode())
        return state

    def keep(self, graph: Any, what: Any) -> None:
        """Keep an object for as long as a graph is there."""
        self._state(graph).kept.append(what)

    def _define(self, **message: bytes) -> None:
        self._recorder.define(filesets.GRAPHS, events.DebugEvent(**message))  # type: ignore[arg-type]

    def graph_of_function(self, name: str) -> str | None:
        """Return the id of the graph behind a runtime function, where it was recorded."""
        state = self._functions.get(name)
        return state.graph_id if state is not None else None

    def reachable(self, graph_id: str) -> frozenset[str]:
        """Return the graphs that an execution of a graph can run, itself included."""
        found = self._reachable.get(graph_id)
        if found is None:
            seen, todo = {graph_id}, [graph_id]
            while todo:
                state = self._states.get(todo.pop())
                new = state.called - seen if state is not None else set()
                seen |= new
                todo += new
            found = self._reachable[graph_id] = frozenset(seen)
        return found

    def have_lasting_effects(self, graph_ids: frozenset[str]) -> bool:
        """Return whether any of some graphs assigns to a variable, prints, or the like."""
        states = (self._states.get(graph_id) for graph_id in graph_ids)
        return any(state is not None and state.lasting for state in states)

    def location(self, graph_id: str, op_name: str) -> bytes:
        """Return the serialized CodeLocation of a recorded op."""
        return self._states[graph_id].locations[op_name]

    def user_line(self, op: Any) -> str:
        """Return ``file:line in function`` of the user's own that makes an op, or ""."""
        return self._locations.user_line(self._locations.of_op(op).encoded)

    def are_shapes_doubtful(self, graph: Any) -> bool:
        """Return whether a graph's tensors may have other shapes than known while tracing."""
        return self._state(graph).doubtful or graph_state.are_shapes_doubtful(graph)

    def has_loops(self, graph: Any) -> bool:
        """Return whether a graph, or what it calls, has loops."""
        return self._state(graph).has_loops

    def runs_loop(self, recorded: RecordedOp) -> bool:
        """Return whether an op is a loop, or calls a graph that has loops."""
        states = (self._states.get(graph_id) for graph_id in recorded.calls)
        has_loops = any(state is not None and state.has_loops for state in states)
        return has_loops or functions.is_loop(recorded.op)

    def record_ops(self, graph: Any) -> None:
        """Record the ops that were added to a graph since the last time."""
        state = self._state(graph)
        for op in graph.get_operations()[len(state.first_ids) :]:
            state.first_ids.append(0)
            state.num_outputs.append(len(op.outputs))
            if not op.name.startswith(own.SCOPE):
                state.first_ids[-1] = self._record_op(graph, state, op)

    def record_trainable(self, graph: Any) -> None:
        """Record which variables of the graph of a session may be trained, since the last time."""
        state = self._state(graph)
        for name in graph_ops.trainable_variables(graph):
            if name not in state.trainable:
                state.trainable.add(name)
                record = events.Variable(name=name, trainable=1, graph_id=state.graph_id)
                self._define(variable=record.encode())

    def ops(self, graph: Any, start: int = 0) -> list[RecordedOp]:
        """Return the ops of a graph, recording those that are new.

        Args:
            graph: The graph.
            start: How many of its ops, with those of ours, to leave out.
        """
        self.record_ops(graph)
        state = self._state(graph)
        ops, known = graph.get_operations()[start:], (state.first_ids, state.num_outputs)
        ids = zip(*(numbers[start:] for numbers in known), strict=True)
        return [
            _recorded_op(state, op, range(first_id, first_id + num_outputs))
            for op, (first_id, num_outputs) in zip(ops, ids, strict=False)
            if first_id
        ]

    def _record_op(self, graph: Any, state: _GraphState, op: Any) -> int:
        """Record an op; return the number of its first output."""
        outputs = op.outputs
        ids = range(self._next_id, self._next_id + len(outputs))
        self._next_id = ids.stop
        called = self._called_graphs(op)
        self._note_effects(state, op, called)
        location = self._locations.of_op(op)
        if self._keep_locations:
            state.locations[op.name] = location.encoded
        creation = events.GraphOpCreation(
            op_type=op.type,
            op_name=op.name,
            graph_name=getattr(graph, "name", None) or "",
            graph_id=state.graph_id,
            input_names=[tensor.name for tensor in op.inputs],
            num_outputs=len(outputs),
            code_location=location.encoded,
            output_tensor_ids=list(ids),
            called_graph_ids=called,
            output_dtypes=[tensor.dtype.as_datatype_enum for tensor in outputs],
            collective_keys=graph_ops.collective_keys(op),
            layer=location.layer,
        )
        self._define(graph_op_creation=creation.encode())
        if not self._is_in_scope(graph, state, op, location):
            state.outside.add(op.name)
        return ids.start

    def _note_effects(self, state: _GraphState, op: Any, called: list[str]) -> None:
        """Note what is asked about a graph because of one of its ops.

        Args:
            state: What is known of the graph.
            op: The op.
            called: The graphs that it calls.
        """
        callees, outputs = [self._states[graph_id] for graph_id in called], op.outputs
        reference = any(map(graph_ops.is_reference, outputs))
        state.lasting |= reference or (graph_ops.is_stateful(op) and not outputs)
        may_raise = op.type in _RAISING_OPS or _takes_index_of_floats(op)
        if may_raise or any(callee.raising for callee in callees):
            state.raising.add(op.name)
        state.has_loops |= functions.is_loop(op) or any(callee.has_loops for callee in callees)
        state.doubtful |= any(callee.doubtful for callee in callees)
        if called:
            state.calls[op.name] = tuple(called)
            state.called.update(called)
            self._reachable.clear()

    def _is_in_scope(self, graph: Any, state: _GraphState, op: Any, location: Location) -> bool:
        """Return whether an op is recorded.

        TensorFlow keeps nothing of some ops for their gradients, but names these after the ops, or
        their scopes.
        """
        scope = op.name.rpartition("/")[0]
        in_scope = self._locations.is_in_scope(location, location.layer)
        forward = scope.rpartition("gradient_tape/")[2] if "gradient_tape/" in scope else ""
        if not forward:
            state.scopes[scope] = in_scope or state.scopes.get(scope, False)
        if in_scope or not forward or not location.in_places:
            return in_scope
        if graph_ops.has_op(graph, forward):
            return forward not in state.outside
        parts = forward.split("/")
        around = ("/".join(parts[:end]) for end in range(len(parts), 0, -1))
        innermost = next((each for each in around if each in state.scopes), "")
        return state.scopes.get(innermost, False)

    def _called_graphs(self, op: Any) -> list[str]:
        called = []
        for name in function_defs.function_attributes(op.type):
            value = op.get_attr(name)
            for function in value if isinstance(value, list) else [value]:
                name = own.original_name(function.name)
                graph_id = self.graph_of_function(name)
                if graph_id is not None:
                    called.append(graph_id)
        return called

    def note_unawaited(self, graph: Any, op: Any) -> None:
        """Note that an op that may stop a call does not wait for records."""
        self._state(graph).unawaited.add(op.name)

    def is_recorded_before(self, graph_ids: Iterable[str], op_name: str) -> bool:
        """Return whether what was computed before an op raised is on record, as it waits for that.

        Args:
            graph_ids: The graphs that may hold the op.
            op_name: Its name, perhaps after that of what calls its graph.
        """
        states = filter(None, map(self._states.get, graph_ids))
        waiting = (state.raising.difference(state.calls, state.unawaited) for state in states)
        return any(f"/{op_name}".endswith(f"/{name}") for names in waiting for name in names)

    def record_function(self, name: str, graph: Any, attrs: Any) -> None:
        """Record that a graph becomes a runtime function, with its inputs, outputs, captures.

        Args:
            name: Name of the function.
            graph: Its FuncGraph.
            attrs: Its attributes.
        """
        state = self._state(graph)
        state.doubtful = self.are_shapes_doubtful(graph)
        graph_state.state_of(graph).has_doubtful_shapes = state.doubtful
        self._functions[name] = state
        captures = [*functions.captured_tensors(graph), *functions.deferred_captures(graph)]
        signature = events.GraphSignature(
            graph_id=state.graph_id,
            function_name=name,
            input_names=[tensor.name for tensor in graph.inputs],
            output_names=[tensor.name for tensor in graph.outputs],
            captured_names=[_graph_tensor_name(tensor) for tensor in captures],
            captured_tensor_ids=[_eager_tensor_id(tensor) for tensor in captures],
            forward_graph_id=self._forward_graph_id(graph, attrs),
        )
        self._define(graph_signature=signature.encode())

    def record_run(self, name: str, graph: Any, output_names: list[str]) -> None:
        """Record what a session runs of a graph as a function of its own.

        Args:
            name: The name of its executions.
            graph: A v1 graph.
            output_names: The tensors that are fetched.
        """
        state = self._functions[name] = self._state(graph)
        signature = events.GraphSignature(state.graph_id, name, output_names=output_names)
        self._define(graph_signature=signature.encode())

    def record_compiled(self, graph: Any) -> None:
        """Record that XLA compiles a function's graph."""
        signature = events.GraphSignature(self._state(graph).graph_id, "", compiled=1)
        self._define(graph_signature=signature.encode())

    def _forward_graph_id(self, graph: Any, attrs: Any) -> str:
        if functions.forward_function_name(attrs) is None:
            return ""
        for tensor in functions.captured_tensors(graph):
            if not is_eager(tensor) and hasattr(tensor, "graph"):
                return self.graph_id(tensor.graph)
        return ""


def _takes_index_of_floats(op: Any) -> bool:
    """Whether an op takes elements by numbers that were floating-point."""
    return op.type in _INDEXING_OPS and any(
        tensor.dtype.is_integer and _was_float(tensor, _INDEX_DEPTH) for tensor in op.inputs
    )


def _was_float(tensor: Any, depth: int) -> bool:
    """Whether an integer tensor is made of floating-point ones that were converted."""
    given = [t for t in tensor.op.inputs[:_INDEX_INPUTS] if not t.dtype.is_bool]
    if tensor.op.type == "Cast":
        return any(t.dtype.is_floating for t in given)
    integers = (t for t in given if t.dtype.is_integer)
    return depth > 0 and any(_was_float(t, depth - 1) for t in integers)


def _recorded_op(state: _GraphState, op: Any, tensor_ids: range) -> RecordedOp:
    name = op.name
    return RecordedOp(
        op,
        tensor_ids,
        may_raise=name in state.raising,
        calls=state.calls.get(name, ()),
        in_scope=name not in state.outside,
    )


def _eager_tensor_id(tensor: Any) -> int:
    return tensor_id(tensor) if is_eager(tensor) else -1


def _graph_tensor_name(tensor: Any) -> str:
    is_symbolic = not is_eager(tensor) and hasattr(tensor, "graph")
    return str(tensor.name) if is_symbolic else ""
