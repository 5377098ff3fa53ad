"""From a tensor to the tensors it was computed from, and to those computed from it.

Crosses every boundary that a value crosses: function arguments and outputs, branches and loops,
backward functions and the forward values they keep, eager tensors, and variables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.calls import BRANCHES, CALLS, LOOPS, Calls
from tfdbg_tui.diagnosis.events import TensorEvent, graph_op_of, op_type_of
from tfdbg_tui.diagnosis.timeline import At, Timeline
from tfdbg_tui.diagnosis.variables import Variables
from tfdbg_tui.logdir.graphs import TensorRef

if TYPE_CHECKING:
    from tfdbg_tui.logdir import GraphOp, Run

_MAX_DEPTH = 40

PASS_THROUGH = frozenset(
    {"Identity", "IdentityN", "StopGradient", "PreventGradient", "Snapshot", "CheckNumerics"}
)
"""Ops whose output k is their input k.  TensorFlow's writer does not record Identity."""


LIST_VALUES = {"TensorListFromTensor": 0, "TensorListPushBack": 1, "TensorListSetItem": 2}
"""Ops that put a tensor into a list (an RNN's inputs and outputs), and which input that is."""


@dataclass(frozen=True, slots=True)
class Producer:
    """An input of an event and where it comes from.

    Attributes:
        input_slot: Position among the inputs of the op.
        name: The tensor's name: ``op_name:slot`` in a graph, ``op_type:slot`` outside.
        event: The event that made it; None where none is recorded.
        inferred: Whether the link is a conclusion rather than something recorded.
        via: How the value got there: "graph", "argument", "call", "branch", "loop", "forward",
            "eager", "variable" or "output".
        op_type: Type of the op that makes the input, where known; it tells more than the event
            where nothing was recorded.
        lost: Whether the tensor is recorded at other times, but not then: a ring buffer has
            dropped it.
    """

    input_slot: int
    name: str
    event: TensorEvent | None
    inferred: bool
    via: str
    op_type: str | None = None
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a tensor.

    Attributes:
        input_slot: Which input of the consuming op it is.
        name: Name of the consuming op (in a graph) or its type (outside).
        event: The first output that the consumer made of it; None where none is recorded.
        inferred: Whether the link is a conclusion rather than something recorded.
        via: As in `Producer`.
        op_type: Type of the consuming op, where known.
    """

    input_slot: int
    name: str
    event: TensorEvent | None
    inferred: bool
    via: str
    op_type: str | None = None


class Dataflow:
    """Answers where the tensors of a run come from and go to; keeps what it has found out."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.calls = Calls(run)
        self.timeline = Timeline(run, self.calls)
        self.variables = Variables(run, self.calls, self.timeline)
        self._producers: dict[TensorEvent, tuple[Producer, ...]] = {}

    def producers(self, event: TensorEvent) -> tuple[Producer, ...]:
        """Return the inputs of the op that made a tensor, in order."""
        known = self._producers.get(event)
        if known is None:
            find = self._of_execution if event.kind == "execution" else self._of_graph_execution
            known = self._producers[event] = find(event)
        return known

    def consumers(self, event: TensorEvent) -> tuple[Use, ...]:
        """Return the uses of a tensor.

        Uses by Python code and by ops that left no record are not among them.
        """
        if event.kind == "execution":
            return self._uses_of_eager_tensor(event)
        op = graph_op_of(self._run, event)
        if op is None:
            return ()
        at = self.timeline.at(event.index)
        return tuple(self._uses(op.graph_id, TensorRef(op.name, event.slot), at, _MAX_DEPTH))

    def origin(self, event: TensorEvent) -> TensorEvent:
        """Return the tensor that an argument, a function's output or a copy really is."""
        for _ in range(_MAX_DEPTH):
            op_type = op_type_of(self._run, event)
            producers: tuple[Producer, ...] = ()
            if op_type == "Placeholder" or op_type in PASS_THROUGH:
                producers = self.producers(event)
            elif event.kind == "execution" and op_type and op_type.startswith("__"):
                producers = self.producers(event)
                producers = producers if producers and producers[0].via == "output" else ()
            if len(producers) != 1 or producers[0].event is None:
                return event
            event = producers[0].event
        return event

    def input(self, event: TensorEvent, ref: TensorRef) -> Producer:
        """Return where another tensor of an event's graph came from at the time of the event."""
        site = self._run.graph_executions.site(event.index)
        return self._resolve(site.graph_id, ref, self.timeline.at(event.index), _MAX_DEPTH)

    # Backwards, in graphs

    def _of_graph_execution(self, event: TensorEvent) -> tuple[Producer, ...]:
        op = graph_op_of(self._run, event)
        if op is None:
            return ()
        at = self.timeline.at(event.index)
        if op.op_type == "Placeholder":
            return (self._argument(op, at, _MAX_DEPTH),)
        if op.op_type == "ReadVariableOp":
            return (self._variable(event, op, at),)
        return tuple(
            replace(self._resolve(op.graph_id, ref, at, _MAX_DEPTH), input_slot=slot)
            for slot, ref in enumerate(op.inputs)
        )

    def _resolve(self, graph_id: str, ref: TensorRef, at: At, depth: int) -> Producer:
        """Return what made a tensor of a graph, as seen from a row."""
        op = self._run.op(graph_id, ref.op_name)
        op_type = op.op_type if op else None
        event = self.timeline.find(graph_id, ref, at)
        lost = event is None and self.timeline.is_traced(graph_id, ref)
        unknown = Producer(0, str(ref), event, False, "graph", op_type, lost)
        if event is not None or depth == 0:
            return unknown
        if op is None:
            callee = self.calls.callee(graph_id, ref.op_name)
            return self._output(callee, ref.slot, at, depth, unknown, "call", inferred=True)
        if op.op_type in PASS_THROUGH and op.inputs:
            source = op.inputs[min(ref.slot, len(op.inputs) - 1)]
            return self._resolve(graph_id, source, at, depth - 1)
        if op.op_type == "Placeholder":
            return self._argument(op, at, depth - 1)
        if op.op_type in LIST_VALUES and len(op.inputs) > LIST_VALUES[op.op_type]:
            anywhere = replace(at, iteration=None)
            value = op.inputs[LIST_VALUES[op.op_type]]
            found = self._resolve(graph_id, value, anywhere, depth - 1)
            return replace(found, inferred=True, op_type=op.op_type)
        called = self.calls.called_graphs(op)
        if op.op_type in CALLS and called:
            return self._output(called[0], ref.slot, at, depth, unknown, "call", inferred=False)
        if op.op_type in BRANCHES:
            return self._branch_output(op, called, ref, at, depth, unknown)
        if op.op_type in LOOPS and len(called) == 2:
            after = self._output(called[1], ref.slot, at, depth, unknown, "loop", inferred=False)
            if after.event is None and ref.slot < len(op.inputs):
                return self._resolve(graph_id, op.inputs[ref.slot], at, depth - 1)
            return after
        return unknown

    def _output(
        self,
        graph_id: str | None,
        slot: int,
        at: At,
        depth: int,
        unknown: Producer,
        via: str,
        *,
        inferred: bool,
    ) -> Producer:
        """Return the tensor behind an output of a called graph."""
        if graph_id is None or graph_id not in self._run.graphs:
            return unknown
        outputs = self.calls.outputs(graph_id)
        if slot >= len(outputs):
            return unknown
        found = self._resolve(graph_id, outputs[slot], at, depth - 1)
        return replace(found, inferred=found.inferred or inferred, via=via)

    def _branch_output(
        self,
        op: GraphOp,
        called: tuple[str, ...],
        ref: TensorRef,
        at: At,
        depth: int,
        unknown: Producer,
    ) -> Producer:
        """Return the tensor behind an output of the branch that was taken last."""
        found = [
            self._output(graph_id, ref.slot, at, depth, unknown, "branch", inferred=False)
            for graph_id in called
        ]
        recorded = [p for p in found if p.event is not None and p.event.kind == "graph_execution"]
        if not recorded:
            return unknown
        return max(recorded, key=lambda p: p.event.index if p.event else -1)

    def _argument(self, op: GraphOp, at: At, depth: int) -> Producer:
        """Return the caller's tensor that a function's argument stands for."""
        unknown = Producer(0, f"{op.name}:0", None, False, "argument", op.op_type)
        if depth <= 0:
            return unknown
        site = self.calls.call_site(op.graph_id)
        forward = self.calls.forward_tensor(op.graph_id, op.name)
        if forward is not None and not self.timeline.grouped:
            found = self._resolve(*forward, at, depth - 1)
            return replace(found, inferred=True, via="forward")
        if site is None:
            return self._eager_argument(op, at, unknown)
        if site.op is None:
            return self._guess_argument(op, site.caller_id, at, depth, unknown)
        via = "loop" if site.op.op_type in LOOPS else "argument"
        if site.op.op_type in LOOPS:
            again = self._loop_argument(op, site.op, at, depth, unknown)
            if again is not None:
                return again
        ref = self._call_input(op, site.op)
        if ref is None:
            return unknown
        found = self._resolve(site.caller_id, ref, at, depth - 1)
        return replace(found, inferred=found.inferred or site.inferred, via=via)

    def _loop_argument(
        self, op: GraphOp, loop: GraphOp, at: At, depth: int, unknown: Producer
    ) -> Producer | None:
        """Return what the previous iteration left in a loop's argument; None in the first one."""
        called = self.calls.called_graphs(loop)
        arguments = self.calls.arguments(op.graph_id)
        if len(called) != 2 or op.name not in arguments:
            return None
        slot = arguments.index(op.name)
        if at.iteration is not None:
            if at.iteration == 0:
                return None
            at = replace(at, iteration=at.iteration - 1)
        found = self._output(called[1], slot, at, depth - 1, unknown, "loop", inferred=False)
        if at.iteration is not None:
            return found
        if found.event is None or slot >= len(loop.inputs):
            return None
        start = self._resolve(loop.graph_id, loop.inputs[slot], at, depth - 1)
        both = (start.event, found.event)
        if (
            start.event is not None
            and start.event.kind == "graph_execution"
            and all(event.kind == "graph_execution" for event in both if event)
            and start.event.index > found.event.index
        ):
            return None  # the loop has been started anew since
        if self._callers_differ(at.row, found.event):
            return None
        return found

    def _callers_differ(self, row: int, event: TensorEvent) -> bool:
        """Whether a row and another event belong to different executions."""
        if event.kind != "graph_execution":
            return False
        return self.timeline.execution_of(row) != self.timeline.execution_of(event.index)

    def _call_input(self, argument: GraphOp, call: GraphOp) -> TensorRef | None:
        """Return the input of a call, If or While op that becomes an argument of its graph."""
        names = self.calls.arguments(argument.graph_id)
        if argument.name not in names:
            return None
        slot = names.index(argument.name)
        if call.op_type not in BRANCHES:
            return call.inputs[slot] if slot < len(call.inputs) else None
        inputs = call.inputs[1:]
        if self._run.graphs[argument.graph_id].signatures:
            return inputs[slot] if slot < len(inputs) else None
        # Branches are given the same arguments only after they were built: the order of creation
        # says little, but each argument is named after the tensor it stands for.
        named = [ref for ref in inputs if ("/" + argument.name).endswith("/" + ref.op_name)]
        if named:
            return max(named, key=lambda ref: len(ref.op_name))
        return inputs[slot] if slot < len(inputs) else None

    def _eager_argument(self, op: GraphOp, at: At, unknown: Producer) -> Producer:
        """Return the eager tensor that Python gave a function for an argument."""
        names = self.calls.arguments(op.graph_id)
        index = self.timeline.execution_of(at.row)
        if index is None or op.name not in names:
            return unknown
        inputs = self.timeline.execution(index).input_tensor_ids
        slot = names.index(op.name)
        if slot >= len(inputs):
            return unknown
        event = self.timeline.maker(inputs[slot], index)
        inferred = at.execution is None and not self._known_function(index)
        return replace(unknown, event=event, inferred=inferred)

    def _known_function(self, index: int) -> bool:
        return self._run.executions.kind(index).graph_id is not None

    def _guess_argument(
        self, op: GraphOp, caller_id: str, at: At, depth: int, unknown: Producer
    ) -> Producer:
        """Guess the caller's tensor behind an argument where the call op was not recorded."""
        caller = self._run.graphs[caller_id]
        if op.name in caller.ops:
            found = self._resolve(caller_id, TensorRef(op.name, 0), at, depth - 1)
            return replace(found, inferred=True, via="argument")
        candidates = self._loose_ends(caller_id, op.wall_time)
        mine = [
            name
            for name in self.calls.arguments(op.graph_id)
            if name not in caller.ops and not self._is_resource(op.graph_id, name)
        ]
        if op.name not in mine or len(candidates) < len(mine):
            return unknown
        ref = candidates[mine.index(op.name) - len(mine)]
        found = self._resolve(caller_id, ref, at, depth - 1)
        return replace(found, inferred=True, via="argument")

    def _loose_ends(self, graph_id: str, before: float) -> list[TensorRef]:
        """Return tensors of a graph that no recorded op uses, in order of creation.

        A call op that was not recorded must have used them.
        """
        graph = self._run.graphs[graph_id]
        ends = [
            (op.wall_time, TensorRef(op.name, 0))
            for op in list(graph.ops.values())
            if op.wall_time < before
            and op.num_outputs == 1
            and not graph.consumers(op.name)
            and op.op_type not in ("Const", "NoOp", "VarHandleOp")
            and not self._is_resource(graph_id, op.name)
        ]
        ends += self.calls.loose_outputs(graph_id, before)
        return [ref for _, ref in sorted(ends, key=lambda end: end[0])]

    def _is_resource(self, graph_id: str, op_name: str) -> bool:
        return self.variables.is_resource(graph_id, op_name)

    def _variable(self, event: TensorEvent, op: GraphOp, at: At) -> Producer:
        """Return what was last assigned to the variable that an op reads."""
        name = str(op.inputs[0]) if op.inputs else f"{op.name}:0"
        unknown = Producer(0, name, None, False, "variable", "VarHandleOp")
        for ref, earlier in self.variables.assigned(op):
            made = self._assigned_value(op.graph_id, ref, at, earlier=earlier)
            if made is not None and made != event:
                made_by = graph_op_of(self._run, made)
                op_type = made_by.op_type if made_by else None
                return Producer(0, str(ref), made, False, "variable", op_type)
        index = self.timeline.execution_of(at.row)
        if index is None or not op.inputs:
            return unknown
        handle = self.variables.handles(op.graph_id, index).get(op.inputs[0].op_name)
        if handle is None:
            return unknown
        found = self.variables.last_eager_assignment(handle[0], index)
        return replace(unknown, event=found, inferred=handle[1])

    def _assigned_value(
        self, graph_id: str, ref: TensorRef, at: At, *, earlier: bool
    ) -> TensorEvent | None:
        """Return the value last assigned: in this call, if that came first, or in one before."""
        if not self.timeline.grouped or earlier:
            return self.timeline.find(graph_id, ref, at)
        return self.timeline.before_call(graph_id, ref, at)

    # Backwards, outside of graphs

    def _of_execution(self, event: TensorEvent) -> tuple[Producer, ...]:
        execution = self.timeline.execution(event.index)
        if self._run.executions.kind(event.index).is_function:
            inside = self._function_output(event)
            if inside is not None:
                return (inside,)
        producers = []
        for slot, tensor_id in enumerate(execution.input_tensor_ids):
            made = self.timeline.maker(tensor_id, event.index)
            op_type = self._run.executions.kind(made.index).op_type if made else None
            name = f"{op_type}:{made.slot}" if made else f"tensor {tensor_id}"
            producers.append(Producer(slot, name, made, False, "eager", op_type))
        if execution.op_type == "ReadVariableOp" and execution.input_tensor_ids:
            found = self.variables.last_eager_assignment(execution.input_tensor_ids[0], event.index)
            return (Producer(0, producers[0].name, found, False, "variable", "VarHandleOp"),)
        return tuple(producers)

    def _function_output(self, event: TensorEvent) -> Producer | None:
        """Return the tensor inside a function that an output of its execution is."""
        kind = self._run.executions.kind(event.index)
        ids = [kind.graph_id] if kind.graph_id else self.calls.function_graphs(kind.op_type)
        grouped = self.timeline.grouped
        at = At(self._row_at(event.index), "", event.index if grouped else None)
        for graph_id in reversed(ids):
            if graph_id not in self._run.graphs:
                continue
            outputs = self.calls.outputs(graph_id, kind.op_type)
            if event.slot < len(outputs):
                found = self._resolve(graph_id, outputs[event.slot], at, _MAX_DEPTH)
                if (
                    found.event is not None
                    and found.event.kind == "graph_execution"
                    and self.timeline.execution_of(found.event.index) == event.index
                ):
                    return replace(found, via="output")
        return None

    def _row_at(self, index: int) -> int:
        """Return the first row recorded after an execution had finished."""
        traces = self._run.graph_executions
        time = float(self._run.executions.wall_times([index])[0])
        low, high = 0, len(traces)
        while low < high:
            middle = (low + high) // 2
            if float(traces.wall_times([middle])[0]) <= time:
                low = middle + 1
            else:
                high = middle
        return low

    # Forwards

    def _uses(self, graph_id: str, ref: TensorRef, at: At, depth: int) -> list[Use]:
        graph = self._run.graphs[graph_id]
        uses: list[Use] = []
        for use in graph.consumers(ref.op_name):
            if use.slot != ref.slot:
                continue
            op = graph.ops.get(use.op_name)
            op_type = op.op_type if op else None
            event = self.timeline.next(graph_id, use.op_name, at)
            if event is None and op is not None and op_type in PASS_THROUGH and depth:
                slot = use.input_slot if op_type == "IdentityN" else 0
                inner = self._uses(graph_id, TensorRef(op.name, slot), at, depth - 1)
                inner += self._uses_of_output(graph_id, TensorRef(op.name, slot), at, depth)
                if inner:
                    uses += inner
                    continue
            if event is None and op is not None and depth:
                uses += self._uses_inside(op, use.input_slot, at)
            uses.append(Use(use.input_slot, use.op_name, event, False, "graph", op_type))
        return uses

    def _uses_of_output(self, graph_id: str, ref: TensorRef, at: At, depth: int) -> list[Use]:
        """Return what becomes of a tensor as an output of its function."""
        outputs = self.calls.outputs(graph_id)
        if ref not in outputs:
            return []
        slot = outputs.index(ref)
        site = self.calls.call_site(graph_id)
        if site is None:
            index = self.timeline.execution_of(at.row)
            if index is None:
                return []
            kind = self._run.executions.kind(index)
            event = TensorEvent("execution", index, slot)
            return [Use(0, kind.op_type, event, False, "output", kind.op_type)]
        caller_id = site.caller_id
        if site.op is not None and site.op.op_type not in LOOPS:
            return self._uses(caller_id, TensorRef(site.op.name, slot), at, depth - 1)
        if site.op is not None:
            return []
        names = self.calls.call_names(caller_id, graph_id)
        uses = [self._uses(caller_id, TensorRef(name, slot), at, depth - 1) for name in names]
        return [replace(use, inferred=True) for found in uses for use in found]

    def _uses_inside(self, op: GraphOp, input_slot: int, at: At) -> list[Use]:
        """Return the arguments of called graphs that an input of a call, If or While becomes."""
        uses = []
        for graph_id in self.calls.called_graphs(op):
            graph = self._run.graphs.get(graph_id)
            for name in self.calls.arguments(graph_id) if graph else ():
                argument = self._run.op(graph_id, name)
                ref = self._call_input(argument, op) if argument else None
                if ref == op.inputs[input_slot]:
                    event = self.timeline.next(graph_id, name, at)
                    uses.append(Use(0, name, event, False, "argument", "Placeholder"))
        return uses

    def _uses_of_eager_tensor(self, event: TensorEvent) -> tuple[Use, ...]:
        outputs = self.timeline.execution(event.index).output_tensor_ids
        if event.slot >= len(outputs):
            return ()
        uses = []
        for index, slot in self.timeline.users(outputs[event.slot], event.index):
            kind = self._run.executions.kind(index)
            made = TensorEvent("execution", index, 0) if kind.num_outputs else None
            uses.append(Use(slot, kind.op_type, made, False, "eager", kind.op_type))
        return tuple(uses)
