"""Where the ops that record are made: in a graph of their own, or among those of a v1 graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import tensorflow as tf

from tfdbg_tui.dump.encode.causes import Measured
from tfdbg_tui.dump.observe import update_order
from tfdbg_tui.dump.observe.observed import ASSUMED_DIMENSION
from tfdbg_tui.dump.tensorflow import devices, functions, graph_ops, own, tensor_ops
from tfdbg_tui.dump.tensorflow.eager_tensor import tensor_id
from tfdbg_tui.dump.tensorflow.function_defs import AFTER, CALL, CAPTURE, ITERATION, AddedOps
from tfdbg_tui.dump.tensorflow.functions import capture_inputs, captured_tensors
from tfdbg_tui.dump.tensorflow.op_maker import OpMaker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfdbg_tui.dump.observe.calls import Call
    from tfdbg_tui.dump.observe.graphs import RecordedOp
    from tfdbg_tui.dump.tensorflow.function_defs import FunctionBody, Slots


_OF_THIS_PROCESS = frozenset(("PyFunc", "Stage"))
"""Types of ops that work nowhere but in this process."""


class Place(Protocol):
    """Where ops that record are made.

    Attributes:
        graph: The graph that they are made in.
        drained: Whether `row_queue` takes out what they put into the queue.
        in_session: Whether that is the queue of a session.
        measured: What says in `graph` whether what runs is measured, once a group has asked.
        run_is_measured: Where a session runs the graph, 1.0 if the run is measured, else 0.0.
        repeated: Whether the ops may run many times in a call, and do not call Python for that.
        settles: Whether those ops may ask for what is settled (see `settled`): they may have a
            state for TensorFlow, and all tensors are on the CPU.
        counts_ops: Whether Python is to look at a few tensors, as each op costs more, or as it
            alone knows which executions are measured.
        dimension: What a dimension is taken to be that is not known while tracing.
    """

    graph: Any
    drained: bool
    in_session: bool
    measured: Any
    run_is_measured: Any
    repeated: bool
    settles: bool
    counts_ops: bool
    dimension: int

    def tensor(self, tensor: Any) -> Any:
        """Return what stands in `graph` for a tensor of the program, or None."""

    def only_user(self, tensor: Any) -> Any:
        """Return the op that alone takes a tensor of the program; None where several do.

        None as well where the tensor, or what else that op takes, cannot be computed again here.
        """


class RunFeeds(NamedTuple):
    """The placeholders of a graph that a session feeds in each run.

    Attributes:
        serial: Number of the run.
        measured: 1.0 where the run is measured, else 0.0.
    """

    serial: Any
    measured: Any

    def values(self, call: Call) -> dict[Any, Any]:
        """Return what they are fed with in a run, as sessions want it."""
        measured = np.float64(call.measured > Measured.NOTHING)
        return {self.serial.ref(): np.int64(call.serial), self.measured.ref(): measured}


class V1Graph:
    """A v1 graph that takes the ops itself: what it consists of is all that a session can run.

    Args:
        graph: The graph.
        feeds: What a run is fed with.
        copies: What runs in place of ops of the program, by the names of these.
    """

    drained = False
    in_session = True
    measured = None
    repeated = False
    settles = False
    dimension = ASSUMED_DIMENSION

    iteration = None

    def __init__(self, graph: Any, feeds: RunFeeds, copies: Mapping[str, Any]) -> None:
        self.graph = graph
        self.counts_ops = not devices.has_accelerator()
        self.serial, self.run_is_measured = feeds
        self._copies = copies

    def tensor(self, tensor: Any) -> Any:
        """Return the tensor that is computed; of a reference, what it refers to."""
        return tensor_ops.dereferenced(update_order.replaced(tensor, self._copies))

    def only_user(self, tensor: Any) -> Any:
        """Return None: what a session computes it of may be overwritten."""

    def called(self, sink: Any) -> Any:
        """Return the op of the v1 graph that runs a sink: the sink."""
        return sink


class Usage(NamedTuple):
    """What a function is made for.

    Attributes:
        stateless: It must have no side effects for TensorFlow, as in a dataset, which could not be
            saved otherwise.
        compiled: XLA compiles it, so no Python can run inside of it.
        in_session: A session of TensorFlow 1 runs it, which has queues of its own.
        in_loop: It runs in each iteration of a loop.
        counted: It takes the number of the iteration of that loop.
        ordered: Its first sink waits for what stands before the call, which does not wait itself.
        after_data: What it takes may be made of an element of an iterator, which may have none.
        outermost: Python calls it.
        used: The outputs that its caller uses; None for all.
        device: The device that it runs on, where that is another process's; "" for here.
        whole_tensors: Which choice of tensors is recorded whole; 0 for none.
        dimension: What a dimension is taken to be that is not known while tracing.
    """

    stateless: bool = False
    compiled: bool = False
    in_session: bool = False
    in_loop: bool = False
    counted: bool = False
    ordered: bool = False
    after_data: bool = False
    outermost: bool = False
    used: Slots = None
    device: str = ""
    whole_tensors: int = 0
    dimension: int = ASSUMED_DIMENSION

    @property
    def orders_inside(self) -> bool:
        """Whether what it calls may be `ordered`."""
        return not (self.stateless or self.in_session)


class AddedGraph:
    """A graph of ops that record, to be added to a function.

    Args:
        body: The function.
        usage: What the function is made for.
        without_data: See `without_data.done_without_data`.

    Attributes:
        ops: The ops of the finished graph; None where there is nothing to add.
        children: The runtime functions that they call.
        captures: Eager tensors that they use, by the names of arguments for them; the iteration of
            the loop around and `AFTER`, which are no tensors yet, are among them as None.
        numbered: Whether they use `number_of_call`.
        makers: The ops of the program's graph by their names.
        devices: The names of devices.
        unreadable: The names of tensors that must not be looked at; see `references` and
            `rewritten`.
        kept: What has to live as long as a function with these ops.
    """

    def __init__(
        self, body: FunctionBody, usage: Usage, without_data: frozenset[str] = frozenset()
    ) -> None:
        self._body = body
        self._without_data = without_data
        self._inputs: dict[str, Any] = {}
        self._waits: dict[str, list[Any]] = {}
        self.usage = usage
        self.devices = devices.Names(usage.device)
        # In a session what runs once costs less by Python; what datasets run ahead is of no run.
        self.drained = not usage.in_session or (usage.in_loop and not usage.stateless)
        self.in_session = usage.in_session
        # A session goes through all ops of a branch that is not taken: Python costs less there.
        is_elsewhere = usage.device or usage.in_session
        self.repeated = (usage.in_loop or usage.stateless) and not is_elsewhere
        is_plain = not (usage.stateless or usage.device or usage.in_session)
        self.settles = is_plain and not devices.has_accelerator()
        # The sets of a session do not know the executions of a dataset's functions; Python does.
        self.counts_ops = usage.in_session and usage.stateless
        self.dimension = usage.dimension
        self.measured: Any = None
        self.run_is_measured: Any = None
        self.graph = own.new_graph()
        self.ops: AddedOps | None = None
        self.children: list[Any] = []
        self.captures: dict[str, Any] = {}
        self.numbered = False
        self.makers: Mapping[str, RecordedOp] = {}
        self.unreadable: frozenset[str] = frozenset()
        self.kept: list[Any] = []

    def has(self, tensor: Any) -> bool:
        """Return whether the function computes a tensor of its graph that may be looked at."""
        return tensor.name not in self.unreadable and self._body.reference(tensor) is not None

    def tensor(self, tensor: Any) -> Any:
        """Return the input that stands for a tensor; None if the function does not compute it."""
        if tensor.graph is self.graph:
            return tensor
        reference = self._body.reference(tensor)
        if reference is None:
            return None
        return self._stand_in(reference, tensor.dtype, tensor.shape, tensor.device)

    def only_user(self, tensor: Any) -> Any:
        """Return the op that alone takes a tensor, or None; see `Place`."""
        usage = self.usage
        if usage.in_session or usage.device or devices.has_accelerator():
            return None
        user = self.user(tensor)
        is_there = user is not None and all(map(self.has, (*tensor.op.inputs, *user.inputs)))
        return user if is_there else None

    def user(self, tensor: Any) -> Any:
        """Return the op that takes a tensor; None where several do, or the caller of the function.

        Args:
            tensor: A tensor of the program's graph.
        """
        users = {op.name: op for op in tensor.consumers() if self._body.runs(op)}
        if len(users) != 1:
            return None
        returned = {reference for reference, _ in self._body.outputs()}
        return None if self._body.reference(tensor) in returned else next(iter(users.values()))

    def records_in(self, op: Any) -> bool:
        """Return whether something records what an op of the function calls."""
        return any(map(own.is_copy, self._body.calls(op)))

    def number_of_call(self) -> Any:
        """Return what is different in each call; see `row_queue.last_number`."""
        self.numbered = True
        return self._stand_in(CALL, tf.int32, [])

    def iteration(self) -> Any:
        """Return what stands for the iteration of the loop around, if the function takes it."""
        return self._stand_in(ITERATION, tf.int32, []) if self.usage.counted else None

    def first_awaited(self) -> list[Any]:
        """Return what the first sink waits for."""
        return [self._stand_in(AFTER, tf.int32, []).op] if self.usage.ordered else []

    def op(self, op: Any) -> Any:
        """Return the op of an input that stands for an op; nothing but waiting makes sense."""
        if op.graph is self.graph:
            return op
        return self._stand_in(self._body.node_name(op.name), "bool").op

    def outputs(self) -> list[Any]:
        """Return the inputs that stand for the outputs of the function."""
        return [self._stand_in(*output) for output in self._body.outputs()]

    def _stand_in(self, reference: str, dtype: Any, shape: Any = None, device: str = "") -> Any:
        found = self._inputs.get(reference)
        if found is None:
            name = f"input_{len(self._inputs)}"
            found = graph_ops.new_input(self.graph, name, dtype, shape, device)
            self._inputs[reference] = found
        return found

    def runs_at_once(self, op: Any) -> bool:
        """Return whether an op of the function must not wait for what may come to no end.

        That is so where it has run without a dump when an iterator has no more elements.
        """
        is_without = self._body.node_name(op.name) in self._without_data
        return is_without and not self._body.takes_after(op.name)

    def wait(self, op: Any, awaited: Iterable[Any]) -> None:
        """Make an op of the function wait for others, of the function's or of ours.

        One that hands `AFTER` on to what it calls runs at once, and the first sink there waits.
        """
        self._waits.setdefault(op.name, []).extend(awaited)

    def finish(self, sinks: Iterable[Any], calls: Iterable[Any]) -> None:
        """Set the attributes.

        Args:
            sinks: Ops of the graph that have to run.
            calls: Ops of the function that have to run, for what they call holds sinks.
        """
        graph = self.graph
        ordered = [op_name for op_name in self._waits if self._body.takes_after(op_name)]
        given = [(op_name, self._after(self._waits.pop(op_name))) for op_name in ordered]
        self.captures = {
            f"{CAPTURE}{tensor_id(tensor)}": tensor for tensor in captured_tensors(graph)
        }
        graph.inputs = [*self._inputs.values(), *capture_inputs(graph)]
        definition, self.children = functions.definition_of(graph)
        if self.usage.device:
            _place_here(definition)
        if self.usage.stateless and self._body.definition.signature.is_stateful:
            self.children = functions.hide_state(graph, definition, self.children)
        references = [*self._inputs, *self.captures]
        self.captures |= dict.fromkeys(name for name in (ITERATION, AFTER) if name in self._inputs)
        required = [op.name for op in (*sinks, *calls)]
        waits = [(name, [op.name for op in awaited]) for name, awaited in self._waits.items()]
        self.ops = AddedOps(definition, references, required, waits, given)

    def _after(self, awaited: Sequence[Any]) -> str:
        """Return the name of a new op whose number is there once others have run."""
        ops = OpMaker(self.graph, "/device:CPU:0", [self.op(op) for op in awaited])
        return str(ops.constant(0, tf.int32).op.name)


def _place_here(definition: Any) -> None:
    """Let what another process runs hand over in this one what it has seen."""
    for node in definition.node_def:
        if node.op in _OF_THIS_PROCESS:
            node.device = devices.own_cpu()
