"""What the hooks of one dump tell of the program, and what becomes of it."""

from __future__ import annotations

import itertools
import sys
import time
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdbg_tui.dump import keras_steps, locks, steps, threads
from tfdbg_tui.dump.errors import BadTensorError, bad_tensor_message, reason_of
from tfdbg_tui.dump.interrupts import is_interrupt
from tfdbg_tui.dump.observe import callbacks, failed_runs, row_queue
from tfdbg_tui.dump.observe.calls import Moment
from tfdbg_tui.dump.observe.eager import ELEMENT_OPS, BadTensor, EagerExecutions
from tfdbg_tui.dump.observe.function_copies import CANNOT_TAKE_VALUES, FunctionCopies
from tfdbg_tui.dump.observe.function_ops import FunctionOps
from tfdbg_tui.dump.observe.graph_executions import GraphExecutions
from tfdbg_tui.dump.observe.graphs import GraphDefinitions
from tfdbg_tui.dump.observe.magnitudes import MeasuredSteps
from tfdbg_tui.dump.observe.places import Usage
from tfdbg_tui.dump.observe.program_functions import ProgramFunctions
from tfdbg_tui.dump.observe.run_order import RunOrder
from tfdbg_tui.dump.observe.sessions import Plan, SessionPlans, SessionRun
from tfdbg_tui.dump.record import stacks
from tfdbg_tui.dump.record.bad_reads import BadReads
from tfdbg_tui.dump.record.fit_batches import FitBatches
from tfdbg_tui.dump.record.variables import VariableRecords
from tfdbg_tui.dump.recording_switch import RecordingSwitch
from tfdbg_tui.dump.tensorflow import (
    devices,
    executors,
    functions,
    graph_state,
    hooks,
    own,
    variables,
)
from tfdbg_tui.dump.tensorflow.eager_tensor import FetchedTensor, is_eager, tensor_id
from tfdbg_tui.dump.tensorflow.listener import plain_name
from tfdbg_tui.dump.whole_tensors import WholeTensors
from tfdbg_tui.wire import events, omissions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from tfdbg_tui.dump.encode.group_plan import Values
    from tfdbg_tui.dump.encode.queue_rows import QueueRows
    from tfdbg_tui.dump.observe.calls import Call
    from tfdbg_tui.dump.observe.compiled import CompiledBuffer
    from tfdbg_tui.dump.observe.groups import Group
    from tfdbg_tui.dump.observe.places import AddedGraph
    from tfdbg_tui.dump.options import Options
    from tfdbg_tui.dump.record.recorder import Recorder
    from tfdbg_tui.dump.tensorflow.function_defs import FunctionBody
    from tfdbg_tui.dump.tensorflow.session_callables import Wanted

_numbers = itertools.count(1)
_MOST_LEFT = 1 << 20
"""So many bytes of what XLA has compiled wait to be read after a call: many calls may be short."""
_NOTED_OPS = ELEMENT_OPS | variables.CREATING_OPS


class ProgramListener:
    """Listens to the program through the hooks, and hands records to the recorder.

    Args:
        options: What the user asked for.
        recorder: Takes the records.

    Attributes:
        active: Whether it listens.
        whole_tensors: What is recorded whole.
        measured: Says which steps, and what else, are measured.
        switch: Says whether what runs now is recorded.
    """

    def __init__(self, options: Options, recorder: Recorder) -> None:
        self.active = False
        self.whole_tensors = WholeTensors()
        self.measured = MeasuredSteps(options.magnitudes_every if options.measures else 0)
        self._options = options
        self._recorder = recorder
        self._number = next(_numbers)
        self._variables = VariableRecords(recorder)
        self._bad_reads = BadReads(recorder)
        self._locations = stacks.CodeLocations(
            recorder, recorder.host, self._variables, options.scope
        )
        self._graphs = GraphDefinitions(
            recorder, self._locations, keep_locations=options.on_bad == "raise"
        )
        keras_steps.number_batches_anew()
        self._fit_batches = FitBatches(recorder)
        self._hooks = hooks.Hooks(self, self._locations)
        self._eager = EagerExecutions(
            options, recorder, self._graphs, self._locations, self.measured, self.whole_tensors
        )
        self._graph_executions = GraphExecutions(
            options, recorder, self._graphs, self._locations, self._eager.calls
        )
        self._functions = ProgramFunctions()
        self._copies = FunctionCopies(
            self._functions,
            self._observe_function,
            self._not_observed,
            self.function_left_out,
            self._only_results,
        )
        self._sessions = SessionPlans(self, options, self._graphs)
        self._function_ops = FunctionOps(self, options, self._graphs, self.whole_tensors)
        self._graph_lock = locks.new()
        self._watches_bad = options.watches_bad
        self.switch = RecordingSwitch(
            options, recorder, lambda: self.active, self._hooks.watch_eager_ops
        )
        callbacks.dumps.add(self)

    @property
    def calls(self) -> Collection[Call]:
        """The calls that run now."""
        return self._eager.calls.values()

    def listen(self) -> None:
        """Begin to listen."""
        self.active = True
        try:
            self._hooks.install()
            steps.listeners.append(self._step_changed)
        except Exception as error:
            self.stop()
            self._recorder.lose(omissions.STOPPED, "the program", error)

    def stop(self) -> None:
        """End listening."""
        self.active = False
        try:
            self._hooks.uninstall()
            self.measured.end()
        except Exception as error:
            self._recorder.lose(omissions.SKIPPED, "what came after the dump", error)
        if self._step_changed in steps.listeners:
            steps.listeners.remove(self._step_changed)

    def give_back(self) -> None:
        """Let go of what nothing needs any more once no call is recorded."""
        self._copies.give_back()
        self._locations.give_back()

    def hook_failed(self, error: BaseException, what: str, graph_id: str = "") -> None:
        """Tell in the logdir what an error of ours has cost; the program goes on.

        Args:
            error: The error; what is meant for the program is raised again.
            what: What is not on record, as "the graph loss".
            graph_id: The graph that it is about, if it is known.
        """
        if isinstance(error, BadTensorError):
            raise error
        if is_interrupt(error):
            self._recorder.omit(omissions.SKIPPED, what, reason_of(error), graph_id)
            raise error
        assert isinstance(error, Exception)
        self._recorder.lose(omissions.SKIPPED, what, error, graph_id)

    def exported_as_it_is(self, error: Exception) -> None:
        """Say in the logdir that what the program exported may hold ops that record."""
        self._recorder.omit(omissions.EXPORTED, "an export", reason_of(error))

    def skip(self, what: str, reason: str, graph: Any = None) -> None:
        """Say in the logdir that a graph or op is not recorded, and why.

        Args:
            what: What is not on record, as "the graph loss".
            reason: Why, in one sentence.
            graph: The graph that it is about, if it is about one.
        """
        graph_id = self._graphs.graph_id(graph) if graph is not None else ""
        self._recorder.omit(omissions.SKIPPED, what, reason, graph_id)

    def now(self) -> Moment:
        """Return which calls run now."""
        return self._eager.now()

    def is_measured(self, iteration: int) -> bool:
        """Return whether what runs now is measured, in an iteration of a loop."""
        return self.measured.graph(iteration)

    def _step_changed(self, number: int | None, batch: steps.FitBatch | None) -> None:
        try:
            # Datasets run ahead of the steps.
            row_queue.mark(self.now, of_datasets=False)
            self._fit_batches.step_changes(number, batch)
            if self.switch.step_changes(number) and number is not None:
                self.measured.step_begins(number)
            self.switch.apply()
        except BaseException as error:
            self.hook_failed(error, "which graph executions are of which step")

    def eager_op(self, op_type: Any, inputs: Any, attributes: Any, outputs: Any) -> None:
        """See `Listener`: record an eager op."""
        if self._is_over():
            return
        if op_type in _NOTED_OPS:
            self._note_op(op_type, outputs)
        bad = self._eager.op(op_type, inputs, attributes, outputs)
        if op_type in variables.CHANGING_OPS and tensor_id(inputs[0]) in self._variables.trained:
            self.measured.trained(tensor_id(inputs[0]))
        if bad is not None:
            self._bad_eager(bad)

    def _note_op(self, op_type: Any, outputs: Any) -> None:
        if op_type in ELEMENT_OPS:
            row_queue.mark(self.now)  # What a dataset's functions made is older than its element.
        else:
            self._variable_created(outputs)

    def _variable_created(self, handles: Any) -> None:
        slot = variables.slot_created(sys._getframe(1))
        if slot is not None:
            self._variables.created(tensor_id(handles[0]), slot)

    def gradients_asked(
        self, target: Any, asked: Any, answers: Any, watched: Any, frame: Any
    ) -> None:
        """See `Listener`: record it."""
        if self._recorder.broken:
            return
        place = events.GradientRequest(self._locations.here(frame).encoded)
        if is_eager(target):
            place.target_id = tensor_id(target)
        elif isinstance(target, tf.Tensor):
            place.target_graph_id = self._graphs.graph_id(target.graph)
            place.target_name = target.name
        if self._variables.are_of_no_layer(asked):
            self._locations.ask_layers_again()
        self._variables.gradients_asked(asked, answers, watched, place)

    def gradients_begin(self) -> bool:
        """Note that a tape computes gradients; return whether its end is to be told."""
        if self._is_over():
            return False
        self._eager.tape_ops.begin()
        self.measured.gradients_begin()
        return True

    def gradients_end(self, given: Sequence[int], frame: Any) -> None:
        """See `Listener`: record which ops made what a tape gives."""
        told = self._eager.tape_ops.end(given)
        if told is not None and not self._recorder.broken:
            self._variables.gradients_given(self._locations.here(frame).encoded, *told)

    def bad_read(self, number: int) -> None:
        """See `Listener`: record it."""
        if self._records():
            self._bad_reads.add(number)

    def call_begins(self, name: str) -> Call | None:
        """Note that a function starts."""
        if self._is_over():
            return None
        with row_queue.begins():
            if self._eager.calls:
                row_queue.mark(self.now)  # The rows so far cannot be of the new call.
            call = self._eager.begin_call(name, devices.remote() or "")
        call.measured = self.measured.call_begins(name)
        return call

    def function_to_run(
        self,
        name: str,
        call: Call | None = None,
        inputs: Sequence[Any] = (),
        *,
        stateless: bool = False,
    ) -> tuple[str, list[Any]]:
        """Return the name of the function to run in place of one of the program's.

        Args:
            name: Name of the program's function.
            call: The call of it that begins.
            inputs: What it is called with.
            stateless: Whether it is for a dataset, which gives no more than its own arguments.

        Returns:
            The name, and what the function takes after the arguments of the program's.
        """
        if not self._records():
            return name, []
        elsewhere = devices.remote()
        if elsewhere is not None and stateless:
            self.function_left_out(name, f"it runs on {elsewhere}, which is another process")
            return name, []
        choice = self.whole_tensors.choice
        outermost = call is not None and elsewhere is None
        usage = Usage(
            stateless=stateless,
            outermost=outermost,
            device=elsewhere or "",
            whole_tensors=choice,
            dimension=self._functions.dimension(name, inputs),
        )
        copy = self._copies.of(name, usage)
        if copy is not None and stateless and copy.captures:
            self.function_left_out(name, CANNOT_TAKE_VALUES)
            return name, []
        if copy is None:
            return name, []
        if call is not None:
            call.copy = copy
        taken = list(copy.captures.values())
        if copy.numbered and call is not None:
            taken.append(row_queue.last_number(call, self.now))
        return copy.name, taken

    def call_ends(self, call: Call | None, inputs: Any, outputs: Any) -> None:
        """See `Listener`: record an execution."""
        if call is None:
            return
        is_session_run = call.order is not None  # which hands no buffer to what XLA compiles
        buffers = [] if is_session_run else self._function_ops.buffers(call.graphs)
        then = self._take_from(buffers, call) if buffers else None
        self._rows_end(call, needed_now=self._watches_bad, then=then)
        if self._recorder.broken:
            return
        is_much = sum(buffer.nbytes for buffer in buffers) > _MOST_LEFT
        if then is not None and (self._watches_bad or is_much):
            row_queue.drain()
        bad = self._eager.end_call(call, inputs, outputs)
        if not self._watches_bad:
            return
        message = self._graph_executions.take_bad_message(call)
        # What a call has neither returned nor kept, it has left out again.
        stays = bad or not call.graphs or self._graphs.have_lasting_effects(call.graphs)
        if message is not None and stays:
            self._raise(message)
        if bad is not None:
            self._bad_eager(bad)

    def call_fails(self, call: Call | None, inputs: Any, error: BaseException) -> None:
        """See `Listener`: record an execution that raised."""
        if call is None:
            return
        if call.copy is not None and isinstance(error, tf.errors.OpError):
            self._tell_unrecorded(call, error)
        self._rows_end(call, needed_now=self._watches_bad, failed=True)
        self._graph_executions.take_bad_message(call)
        if not self._recorder.broken:
            self._eager.end_call(call, inputs, None, error)

    def _tell_unrecorded(self, call: Call, error: tf.errors.OpError) -> None:
        """Say in the dump that what a function had computed when an op raised is not on record."""
        failed = failed_runs.failed_op(error.message)
        is_recorded = failed and self._graphs.is_recorded_before(call.graphs, failed)
        if not (is_recorded or failed_runs.is_expected(error) or failed_runs.is_refused(error)):
            what = f"what {plain_name(call.name)} computed before it failed"
            self.skip(what, failed_runs.why_lost(error))

    def _rows_end(
        self,
        call: Call,
        *,
        needed_now: bool,
        failed: bool = False,
        then: Callable[[], None] | None = None,
    ) -> None:
        """Note that a call puts no more rows into the queue, and is not in progress."""
        try:
            if call.stage is not None:
                row_queue.run_ends(call.stage)
            if call.order is not None:
                call.order.hand_on_kept()
            if needed_now:
                row_queue.drain()
            if failed:
                row_queue.mark(self.now)  # What would have come last may be missing.
            else:
                row_queue.end(call, self.now, then)
        finally:
            call.copy = None
            self._eager.calls.pop(call.serial, None)

    def _bad_eager(self, bad: BadTensor) -> None:
        self._recorder.bad_tensor_seen()
        if self._options.on_bad == "raise":
            line = self._locations.user_line(bad.location)
            self._raise(bad_tensor_message(bad.op_name, bad.slot, bad.counts, line))

    def _raise(self, message: str) -> None:
        self._recorder.omit(omissions.RAISED, message, "on_bad")
        raise BadTensorError(message)

    def function_variant(self) -> Any:
        """Return a key of its own for each way in which functions are instrumented."""
        if not self.active:
            return None
        return (
            self._number,
            graph_state.are_shapes_doubtful_now(),
        )

    def function_created(self, function: Any, graph: Any, attrs: Any) -> None:
        """See `Listener`: record it."""
        if not self.active or self._recorder.broken or own.is_graph(graph):
            return
        with self._graph_lock:
            try:
                self._graphs.record_ops(graph)
            finally:  # its calls are on record, whatever becomes of what it computes
                name = functions.function_name(function)
                self._graphs.record_function(name, graph, attrs)
            self._functions.add(function, graph)

    def _observe_function(self, graph: Any, body: FunctionBody, added: AddedGraph) -> None:
        with self._graph_lock:
            self._function_ops.add(graph, body, added)

    def function_left_out(self, name: str, reason: str) -> None:
        """Say in the dump that a function of the program runs as it is."""
        if self._records():
            self.skip(f"the function {plain_name(name)}", reason)

    def _only_results(self, name: str, reason: str) -> None:
        if self._records():
            what = f"the function {plain_name(name)}"
            self._recorder.omit(omissions.RESULTS_ONLY, what, reason)

    def _not_observed(self, graph: Any, error: BaseException) -> None:
        self.hook_failed(error, f"the graph {graph.name}", self._graphs.graph_id(graph))

    def _records(self) -> bool:
        return not self._is_over() and self.switch.is_on

    def _is_over(self) -> bool:
        """Return whether nothing is recorded any more; a hook that the program wrapped stays."""
        if not self.active or self._recorder.broken or threads.is_own():
            self._recorder.tell_fork()
            return True
        if self._recorder.rest_mark.is_set:
            self._recorder.rest_mark.clear()
        return False

    def _wants(self, graph: Any) -> bool:
        return self._records() and not own.is_graph(graph)

    def session_extends(self, session: Any) -> None:
        """See `Listener`: let its ops call the copies that record, while they may change."""
        if self.active and not self._recorder.broken:
            with self._graph_lock:
                self._copies.use_in(session.graph)

    def session_run_begins(self, session: Any, wanted: Wanted) -> SessionRun | None:
        """See `Listener`: instrument what its fetches need."""
        graph = session.graph
        if self._is_over():
            return None
        with self._graph_lock:
            self._copies.use_in(graph)
            if not self._wants(graph):
                return None
            plan = self._sessions.plan(session, wanted)
        if plan is None:
            return None
        stage = self._sessions.stage(session, plan)
        if stage is not None:
            row_queue.run_begins(stage)
        call = self._eager.begin_call(plan.name)
        call.stage = stage
        call.order = RunOrder(plan.needs)
        call.measured = self.measured.run_begins(plan.name)
        switch = self._sessions.switch(session, plan, call.measured)
        return SessionRun(plan, call, plan.feeds.values(call), switch)

    def session_counted(self, run: SessionRun, steps: Any) -> None:
        """Note the training step of a run."""
        run.call.step = int(steps[0]) if steps else None

    def session_run_ends(self, run: SessionRun, fetches: Any, outputs: Any) -> None:
        """See `Listener`: record an execution."""
        self.call_ends(run.call, (), [*map(FetchedTensor, fetches, outputs)])

    def session_plan_again(self, session: Any, wanted: Wanted, error: BaseException) -> Plan | None:
        """See `Listener`: what records it computes it again."""
        if not self._wants(session.graph):
            return None
        with self._graph_lock:
            return self._sessions.plan_again(session, wanted, error)

    def session_run_fails(self, session: Any, run: SessionRun, error: BaseException) -> None:
        """See `Listener`: record an execution that raised."""
        self.call_fails(run.call, (), error)
        if not self._recorder.broken and not run.computed_again:
            self._sessions.run_failed(session.graph, run, error)

    def session_skipped(self, session: Any, what: str, reason: str) -> None:
        """See `Listener`: say so in the dump."""
        if self._wants(session.graph):
            self._sessions.skip_once(session.graph, f"what {what} runs", reason)

    def _take_from(
        self, buffers: Sequence[CompiledBuffer], call: Call
    ) -> Callable[[], None] | None:
        """Take what the compiled functions of a call left behind; return what records it."""
        if executors.is_async():
            self.skip("what XLA has compiled", omissions.BY_ASYNC)
            return None
        cause = Moment(time.time(), steps.current, ()).cause_by(call.serial)
        left = [(buffer, buffer.take()) for buffer in buffers]

        def record() -> None:
            try:
                for buffer, values_left in left:
                    for values in buffer.values_in(values_left, call.measured):
                        self._graph_executions.add(buffer.group, values, cause)
            except Exception as error:
                self.hook_failed(error, "what XLA has compiled")

        return record

    def traces_taken(self, group: Group, values: Values) -> None:
        """Queue what the sink of a group got from one execution of its graph."""
        if self._recorder.broken:
            return
        given, now = values.pop("serial", None), self.now()
        plan = group.plan
        cause = now.cause_by(int(given[0])) if given else now.cause_of(plan.graph_id, plan.caller)
        call = self._eager.calls.get(cause.serial)
        if call is not None and call.stage is not None:
            row_queue.take_rows(call.stage)  # The loops that these are of came before.
        self._graph_executions.add(group, values, cause)

    def write_soon(self) -> None:
        """Have what was taken so far written, without waiting for it."""
        self._recorder.write_soon()

    def rows_taken(self, groups: Sequence[Group], taken: QueueRows) -> None:
        """Queue what graphs handed over since the last time."""
        if not self._recorder.broken and self.active:
            self._graph_executions.add_rows(groups, taken)
