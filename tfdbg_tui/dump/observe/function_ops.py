"""The ops that are added to a function: for which of its tensors, and in which order they run."""

from __future__ import annotations

import dataclasses
import itertools
import logging
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import tensorflow as tf

from tfdbg_tui.dump.observe import instrument, observed, references, row_queue
from tfdbg_tui.dump.observe.compiled import CompiledBuffer
from tfdbg_tui.dump.observe.groups import Group
from tfdbg_tui.dump.observe.magnitudes import ExecutionCount
from tfdbg_tui.dump.observe.references import VariableMemory, When
from tfdbg_tui.dump.observe.rewritten import is_rewritten
from tfdbg_tui.dump.observe.v1_control_flow import ControlFlow
from tfdbg_tui.dump.tensorflow import devices, functions, graph_ops
from tfdbg_tui.dump.tensorflow.function_defs import EFFECTS
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfdbg_tui.dump.encode.group_plan import GroupPlan, Row
    from tfdbg_tui.dump.observe.graphs import GraphDefinitions, RecordedOp
    from tfdbg_tui.dump.observe.groups import Dump
    from tfdbg_tui.dump.observe.observed import Observed
    from tfdbg_tui.dump.observe.places import AddedGraph, Usage
    from tfdbg_tui.dump.options import Options
    from tfdbg_tui.dump.tensorflow.function_defs import FunctionBody, Uses
    from tfdbg_tui.dump.whole_tensors import WholeTensors

_log = logging.getLogger("tfdbg_tui")
_SLOW_TO_COMPILE = 64
"""What counts so many tensors takes XLA a minute or more on a GPU."""


class FunctionOps:
    """Adds the ops that record functions.

    Args:
        dump: Takes the values, and says what is not on record.
        options: The user's.
        graphs: Records the ops of the program.
        whole_tensors: What is recorded whole.
    """

    def __init__(
        self, dump: Dump, options: Options, graphs: GraphDefinitions, whole_tensors: WholeTensors
    ) -> None:
        self._dump = dump
        self._options = options
        self._graphs = graphs
        self._whole_tensors = whole_tensors
        self._whole_options = dataclasses.replace(options, mode=TensorDebugMode.FULL_TENSOR)
        # In the order in which the graphs were traced: called ones before those that call them.
        self._buffers: WeakValueDictionary[int, CompiledBuffer] = WeakValueDictionary()
        self._buffer_numbers = itertools.count()
        self._has_warned = False

    def buffers(self, graph_ids: frozenset[str]) -> list[CompiledBuffer]:
        """Return where the compiled ones among some graphs leave their values."""
        buffers = self._buffers.values() if self._buffers else ()
        return [buffer for buffer in buffers if buffer.graph_id in graph_ids]

    def add(self, graph: Any, body: FunctionBody, added: AddedGraph) -> None:
        """Add the ops that record a function, as far as it uses its graph.

        Args:
            graph: What the function was made of.
            body: The function.
            added: Takes the ops.
        """
        ops = self._graphs.ops(graph)
        added.makers = {recorded.op.name: recorded for recorded in ops}
        ops = self._outside_v1_control_flow(graph, ops)
        ops = [recorded for recorded in ops if body.runs(recorded.op)]
        added.unreadable = self._unreadable(graph, ops) | self._rewritten(added, ops)
        if added.usage.compiled:
            self._add_compiled(added, graph, ops)
            return
        if added.usage.in_session and not added.usage.stateless:
            self._add_by_outputs(added, graph, body, ops)
            return
        if added.usage.stateless:
            row_queue.expect_rows_of_datasets()
        if not added.in_session:
            row_queue.watch()
        sinks, last = self._add_groups(added, graph, ops)
        may_call = (recorded.op for recorded in ops if recorded.calls)
        calls = [op for op in may_call if added.records_in(op)]
        if not (sinks or calls):
            return
        if sinks and (added.usage.stateless or functions.is_loop_condition(graph)):
            # Nothing else makes them run.
            outputs = added.outputs()
            added.graph.outputs = instrument.add_waiting(added.graph, outputs, sinks)
        elif functions.is_loop_graph(graph) and calls:
            # The next iteration may begin while what this one calls still runs: the records of the
            # inner graphs, which have no iteration, would mix.
            added.graph.outputs = [
                given if _is_same(graph, number) else _waiting(added.graph, given, last)
                for number, given in enumerate(added.outputs())
            ]
        # A backward graph has no automatic control dependencies: once TensorFlow has inlined
        # the calls in it, nothing would make the sinks of the called functions run.  Those of a
        # loop run with it; to require it would be to require all of its variables.
        added.finish(sinks, [op for op in calls if not functions.is_loop(op)])

    def _add_by_outputs(
        self, added: AddedGraph, graph: Any, body: FunctionBody, ops: list[RecordedOp]
    ) -> None:
        """Let the outputs wait for the sinks of what they are computed from.

        A session computes of a branch or a loop, as part of its own graph, no more than the outputs
        that a run uses.
        """
        ops_by_uses: dict[Uses, list[RecordedOp]] = {}
        for recorded in ops:
            ops_by_uses.setdefault(body.uses_of(recorded.op), []).append(recorded)
        sinks = {
            uses: self._add_groups(added, graph, some)[0] for uses, some in ops_by_uses.items()
        }

        def sinks_for(number: int) -> list[Any]:
            return [sink for uses, some in sinks.items() if number in uses for sink in some]

        added.graph.outputs = [
            _waiting(added.graph, output, sinks_for(number))
            for number, output in enumerate(added.outputs())
        ]
        added.finish(sinks_for(EFFECTS), [])

    def _outside_v1_control_flow(self, graph: Any, ops: list[RecordedOp]) -> list[RecordedOp]:
        flow = ControlFlow(recorded.op for recorded in ops)
        positions = [flow.position(recorded.op) for recorded in ops]
        outside = [r for r, p in zip(ops, positions, strict=True) if not (p.loops or p.branches)]
        if len(outside) < len(ops):
            number = len(ops) - len(outside)
            what = f"{number} ops in loops and branches of TensorFlow 1 in {graph.name}"
            self._dump.skip(what, "their tensors cannot leave them", graph)
        return outside

    def _unreadable(self, graph: Any, ops: list[RecordedOp]) -> frozenset[str]:
        """Return the names of the tensors of a graph that must not be looked at while it runs.

        What was written for TensorFlow 1 and is called as a function has reference variables.
        """
        run_ops = [recorded.op for recorded in ops]
        if not any(map(references.makes_reference, run_ops)):
            return frozenset()
        memory = VariableMemory(run_ops, frozenset())
        outputs = (tensor for op in run_ops for tensor in op.outputs)
        found = [tensor for tensor in outputs if memory.when(tensor) is not When.RUNNING]
        if any(t.dtype.is_floating and not graph_ops.is_reference(t) for t in found):
            what = f"what {graph.name} reads of a variable before it updates that"
            self._dump.skip(what, "it may be overwritten before it is looked at", graph)
        return frozenset(tensor.name for tensor in found)

    def _rewritten(self, added: AddedGraph, ops: list[RecordedOp]) -> frozenset[str]:
        """Return the names of the tensors that TensorFlow does not compute unless looked at."""
        if self._options.mode is TensorDebugMode.NO_TENSOR:
            return frozenset()
        outputs = (tensor for recorded in ops for tensor in recorded.op.outputs)
        return frozenset(t.name for t in outputs if is_rewritten(t, added.user))

    def _add_compiled(self, added: AddedGraph, graph: Any, ops: list[RecordedOp]) -> None:
        options = self._options
        if options.mode is TensorDebugMode.FULL_TENSOR:
            options = dataclasses.replace(options, mode=TensorDebugMode.CONCISE_HEALTH)
        if added.usage.whole_tensors and any(map(self._is_whole, ops)):
            names = ", ".join(self._whole_tensors.names)
            self._dump.skip(f"the elements of {names} in {graph.name}", "XLA compiles it", graph)
        graph_id = self._graphs.graph_id(graph)
        doubtful = self._graphs.are_shapes_doubtful(graph)
        found = observed.observed_tensors(
            ops, graph_id, options, shapes_doubtful=doubtful, names=added.devices
        )
        items = [item for item in found if added.has(item.tensor)]
        if items:
            counter = functions.loop_counter(graph)
            plan = observed.plan_of(
                items,
                self._options,
                options.mode,
                iterated=counter is not None,
                measured=self._options.measures,
            )
            group = Group(plan, self._dump)
            self._warn_of_compiling(graph, len(items))
            buffer = CompiledBuffer(added, items, group, counter)
            self._buffers[next(self._buffer_numbers)] = buffer
            added.kept.append(buffer)
            self._graphs.record_compiled(graph)
            added.finish([buffer.op], [])

    def _warn_of_compiling(self, graph: Any, tensors: int) -> None:
        """Tell the user once why nothing happens for so long."""
        if self._has_warned or tensors < _SLOW_TO_COMPILE or not devices.has_accelerator():
            return
        self._has_warned = True
        _log.warning(
            "tfdbg-tui: XLA compiles %s with what records it, which may take minutes;"
            " without XLA, compile(..., jit_compile=False), it does not",
            graph.name,
        )

    def _add_groups(
        self, added: AddedGraph, graph: Any, ops: list[RecordedOp]
    ) -> tuple[list[Any], list[Any]]:
        """Add the ops that record the outputs of some ops.

        An op that may stop the graph waits for the sinks of what was created before it, so that
        the tensors that made it raise are on record; one that calls a graph does, so that records
        follow the flow of data into that graph, and what comes after it waits for it, so that they
        follow it out again, if there are any of that graph.  It also waits for earlier ones that
        run a graph which it runs too: the records of its runs then come in the order of the calls.
        None of that holds for what runs whether or not there are data.

        Returns:
            The sinks, and what ends last: the last sink, or the calls after it.
        """
        sinks: list[Any] = []
        start = 0
        after = added.first_awaited()
        last_calls: dict[str, Any] = {}
        for end, recorded in enumerate(ops):
            is_call = bool(recorded.calls) and added.records_in(recorded.op)
            if is_call:
                runs = {
                    inner for called in recorded.calls for inner in self._graphs.reachable(called)
                }
                earlier = {last_calls[i].name: last_calls[i] for i in runs if i in last_calls}
                added.wait(recorded.op, earlier.values())
                end_of_call = self._end_of(added, recorded.op)
                last_calls.update(dict.fromkeys(runs, end_of_call))
            if recorded.may_raise or recorded.calls:
                between = self._add_segment(added, graph, ops[start:end], after)
                if added.runs_at_once(recorded.op):
                    self._graphs.note_unawaited(graph, recorded.op)
                else:
                    added.wait(recorded.op, between or after)
                sinks += between
                after = between[-1:] or after
                after = [*after, end_of_call] if is_call else after
                start = end
        # The last sink does not wait for what the last iteration of a loop records.
        ends = added.usage.outermost and not self._graphs.has_loops(graph)
        between = self._add_segment(added, graph, ops[start:], after, ends=ends)
        last = between[-1:] or [added.op(op) for op in after]
        if ends and last and not added.numbered and instrument.tells_in_rows(self._options.mode):
            between.append(instrument.add_end(added, last))
        return sinks + between, last

    def _is_whole(self, recorded: RecordedOp) -> bool:
        """Return whether the elements of what an op makes are recorded."""
        return self._whole_tensors.has(
            recorded.op.name, lambda: self._graphs.user_line(recorded.op)
        )

    def _is_measured(self, usage: Usage, iteration: Any) -> bool:
        """Return whether a graph is measured in some steps.

        What runs many times a step and cannot count would call Python each time; another process
        does not know in which steps.
        """
        uncounted = usage.in_loop and iteration is None and not usage.stateless
        return self._options.measures and not (usage.device or uncounted)

    def _end_of(self, added: AddedGraph, call: Any) -> Any:
        """Return the op to wait for until a call has ended: of a loop, for one of its variables."""
        if not functions.is_loop(call):
            return call
        return instrument.add_waiting(added.graph, [added.tensor(call.outputs[0])], [])[0].op

    def _add_segment(
        self,
        added: AddedGraph,
        graph: Any,
        ops: list[RecordedOp],
        previous: list[Any],
        *,
        ends: bool = False,
    ) -> list[Any]:
        """Add the ops that record the outputs of some ops; return the sinks.

        Args:
            added: Takes the ops.
            graph: The graph.
            ops: The ops of the graph.
            previous: What the sinks wait for.
            ends: Whether what runs ends with the last sink.
        """
        counter = functions.loop_counter(graph)
        iteration = counter
        if counter is None and self._options.measures:
            iteration = added.iteration()
        measured = self._is_measured(added.usage, iteration)
        device = added.usage.device
        input_row = self._input_rows(graph, added)
        earlier = [added.op(op) for op in previous]
        sinks: list[Any] = []
        groups = list(self._groups(added, graph, ops))
        for number, (items, mode, first_only) in enumerate(groups, 1):
            plan = observed.plan_of(
                items,
                self._options,
                mode,
                iterated=counter is not None,
                measured=measured,
                caller=device,
            )
            plan.first_only = first_only
            group = Group(plan, self._dump, self._executions(plan, added.usage))
            added.kept.append(row_queue.KeepAlive(group))
            # The sinks wait for each other: records come in order of creation.
            after = sinks[-1:] or earlier
            is_last = number == len(groups) and not plan.first_only
            is_end = ends and is_last and instrument.goes_into_queue(added, plan)
            last = added.number_of_call() if is_end else None
            sinks.append(
                instrument.add_group(added, items, group, iteration, input_row, after, ends=last)
            )
        return sinks

    def _groups(
        self, added: AddedGraph, graph: Any, ops: list[RecordedOp]
    ) -> Iterator[tuple[list[Observed], TensorDebugMode, bool]]:
        """Return what is recorded together, how, and whether `first_only`, in order of the ops."""
        graph_id = self._graphs.graph_id(graph)
        doubtful = self._graphs.are_shapes_doubtful(graph)
        is_whole = self._is_whole if added.usage.whole_tensors else lambda recorded: False
        for whole, some in itertools.groupby(ops, is_whole):
            options = self._whole_options if whole else self._options
            found = observed.observed_tensors(
                list(some), graph_id, options, shapes_doubtful=doubtful, names=added.devices
            )
            had = [item for item in found if added.has(item.tensor)]
            others: list[Observed] = []
            for item in had:
                if self._is_first_only(added, graph, item):
                    yield [item], options.mode, True
                else:
                    others.append(item)
            grouped = observed.groups_of(others, added.usage.dimension)
            yield from ((items, options.mode, False) for items in grouped)

    def _is_first_only(self, added: AddedGraph, graph: Any, item: Observed) -> bool:
        """Return whether no more than the first executions of a large input are recorded.

        What is given to an inner function is on record outside; what a function captures stays as
        it is, and so do data of which a dataset takes one batch after the other.
        """
        usage = added.usage
        if not (self._options.adaptive and self._options.measures) or usage.device:
            return False
        if usage.in_session or not observed.is_large_and_taken_in_parts(item):
            return False
        captured = functions.capture_inputs(graph)
        return not usage.outermost or any(item.tensor is tensor for tensor in captured)

    def _executions(self, plan: GroupPlan, usage: Usage) -> ExecutionCount | None:
        """Return what says which executions of a group are measured, if not the dump does."""
        if plan.first_only:
            return ExecutionCount(None, first_only=True)
        # A dataset's functions run ahead of the steps that use what they make.
        counts_itself = plan.measured and usage.stateless
        return ExecutionCount(self._options.magnitudes_every) if counts_itself else None

    def _input_rows(self, graph: Any, added: AddedGraph) -> Callable[[Any], Row | None]:
        """Return what gives the row of a tensor that an op of a graph takes."""
        graph_id = self._graphs.graph_id(graph)
        doubtful = self._graphs.are_shapes_doubtful(graph)

        def input_row(tensor: Any) -> Row | None:
            maker = observed.maker_of(tensor, added.makers)
            if maker is None or not added.has(tensor) or not observed.fits_numpy(tensor):
                return None
            return observed.row_of(
                tensor,
                graph_id,
                maker,
                self._options,
                shapes_doubtful=doubtful,
                names=added.devices,
            )

        return input_row


def _waiting(graph: Any, output: Any, sinks: list[Any]) -> Any:
    """Return an output that waits for sinks; a resource stays what it is, as loops want it."""
    if not sinks or output.dtype == tf.resource:
        return output
    return instrument.add_waiting(graph, [output], sinks)[0]


def _is_same(body: Any, number: int) -> bool:
    """Return whether a loop's body hands an argument on as it is."""
    made = body.outputs[number].op
    while made.type == "Identity":
        made = made.inputs[0].op
    return made is body.inputs[number].op
