"""TensorFlow 1 sessions: what `Session.run` runs along with what the program asks for.

A session computes only what its fetches and targets need, so a sink may run along only where all
that it looks at is computed anyway.  Sinks are made for the first run that needs them, and shared
by all later runs that compute the same tensors.  Tensors that a run overwrites in place are looked
at in a run of their own before it; see `references`.  Each v1 branch (made of Switch and Merge) has
sinks of its own, which run if it is taken, and so has each v1 loop (made of Enter and Exit), where
they run in each iteration.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

import tensorflow as tf

from tfdbg_tui.dump import locks
from tfdbg_tui.dump.encode.causes import Measured
from tfdbg_tui.dump.observe import (
    failed_runs,
    instrument,
    magnitudes,
    observed,
    references,
    rewritten,
    row_ops,
    run_order,
    update_order,
)
from tfdbg_tui.dump.observe.references import VariableMemory, When
from tfdbg_tui.dump.observe.session_sinks import RunSinks, SharedSinks, SinkMaker
from tfdbg_tui.dump.observe.v1_control_flow import ControlFlow
from tfdbg_tui.dump.tensorflow import (
    devices,
    graph_ops,
    graph_state,
    own,
    session_hooks,
    session_stages,
)
from tfdbg_tui.wire.events import SESSION_RUN
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from tfdbg_tui.dump.observe.calls import Call
    from tfdbg_tui.dump.observe.graphs import GraphDefinitions, RecordedOp
    from tfdbg_tui.dump.observe.groups import Dump
    from tfdbg_tui.dump.observe.observed import Observed
    from tfdbg_tui.dump.observe.places import RunFeeds
    from tfdbg_tui.dump.options import Options
    from tfdbg_tui.dump.tensorflow.session_callables import Wanted

_TOO_SMALL = (
    "TensorFlow does not optimize so small a graph, and would do so with the ops that record, and"
    " choose by device which implementation of a function runs"
)

_NAMED_FETCHES = 3
"""So many fetches are named in the name of a run."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What runs besides the fetches of the program.

    Attributes:
        name: What the run is called in the dump.
        before: Sinks to run before the program's run.
        along: Sinks to run in it.
        targets: The ops that the program asks for, or what runs in their place; see `update_order`.
        fetches: The tensors that it asks for, or what is computed in their place.
        feeds: What it is fed with besides the feeds of the program.
        step: The global step that the run counts up, as it is before; None where it does not.
        needs: Which groups have to be recorded before another, of those that run once.
        switches: What lets its loops and functions know if they are measured; see
            `magnitudes.switches`.
        rows: What the session fetches to take out what its loops put into the queue; nothing where
            there are none.
    """

    name: str
    before: Sequence[Any]
    along: Sequence[Any]
    targets: Sequence[Any]
    fetches: Sequence[Any]
    feeds: RunFeeds
    step: Any
    needs: run_order.Needs
    switches: dict[Measured, Any]
    rows: Sequence[Any]


@dataclass(slots=True)
class SessionRun:
    """One run of a session.

    Attributes:
        plan: What runs besides the fetches of the program.
        call: What is recorded of the run.
        feeds: What is fed besides the feeds of the program, as sessions want it.
        switch: The op to run before all; None where nothing changes.
        computed_again: Whether it has failed, and what it had computed is on record all the same.
    """

    plan: Plan
    call: Call
    feeds: dict[Any, Any]
    switch: Any
    computed_again: bool = False


@dataclass(slots=True)
class _GraphState:
    """What was added to a graph for one dump; kept on the graph, so that it lives as long."""

    owner: SessionPlans
    feeds: RunFeeds | None = None
    version: int = 0
    ops_seen: int = 0
    changes_shapes: bool = False
    has_references: bool = False
    ops: dict[str, RecordedOp] = field(default_factory=dict)
    observed: dict[tuple[str, bool], tuple[Observed, ...]] = field(default_factory=dict)
    sinks: SharedSinks = field(default_factory=dict)
    plans: dict[Any, Plan] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    switches: dict[Measured, Any] = field(default_factory=dict)
    rows: Sequence[Any] = ()
    know_rows: WeakSet[Any] = field(default_factory=WeakSet)  # sessions that can fetch these
    measured: WeakKeyDictionary[Any, Measured] = field(default_factory=WeakKeyDictionary)


class SessionPlans:
    """Finds, for each set of fetches and feeds, the sinks to run along.

    Args:
        dump: Takes the values, and says what is not on record.
        options: The user's.
        graphs: Records the ops.
    """

    def __init__(self, dump: Dump, options: Options, graphs: GraphDefinitions) -> None:
        self._dump = dump
        self._options = options
        self._graphs = graphs
        self._lock = locks.new()
        self._names: set[str] = set()

    def plan(self, session: Any, wanted: Wanted) -> Plan | None:
        """Return what to run along with what a program wants, adding it to the graph if necessary.

        Args:
            session: Runs it.
            wanted: What it wants.

        Returns:
            None where the run cannot be recorded, which then is on record.
        """
        graph = session.graph
        target = session_hooks.target_of(session)
        if target:
            self.skip_once(
                graph,
                f"what the session of {target.decode()} runs",
                "it may run in another process, which has no dump writer",
            )
            return None
        with self._lock:
            state = self._state(graph)
            is_small = len(state.ops) < session_hooks.fewest_optimized(session)
            if is_small and graph_state.state_of(graph).calls_chosen:
                self.skip_once(graph, "what Session.run runs", _TOO_SMALL)
                return None
            fed = frozenset(tensor.name for tensor in wanted.fed)
            doubtful = self._are_shapes_doubtful(graph, state, wanted)
            items = *wanted.targets, *wanted.fetches, *wanted.sources
            key = tuple(item.name for item in items), fed, doubtful
            plan = state.plans.get(key)
            if plan is None:
                with graph_ops.unfinalized(graph):
                    plan = self._make(graph, state, wanted, fed, doubtful=doubtful)
                state.plans[key] = plan
            return plan

    def switch(self, session: Any, plan: Plan, measured: Measured) -> Any:
        """Return the op that lets a session's loops and functions know of what they are to tell.

        Args:
            session: The session.
            plan: What it runs next.
            measured: Of what in that the extremes are recorded.

        Returns:
            None where they know.
        """
        if not plan.switches:
            return None
        with self._lock:
            known = self._state(session.graph).measured
            if known.get(session, Measured.NOTHING) is measured:
                return None
            known[session] = measured
            return plan.switches[measured]

    def stage(self, session: Any, plan: Plan) -> session_stages.SessionStage | None:
        """Return what the loops of a session put rows into.

        Args:
            session: The session.
            plan: What it runs next.

        Returns:
            None where there are none in the run.
        """
        if not plan.rows:
            return None
        with self._lock:
            know_rows = self._state(session.graph).know_rows
            if session not in know_rows:
                session_stages.extend(session)
                know_rows.add(session)
        return session_stages.SessionStage(session, plan.rows)

    def plan_again(self, session: Any, wanted: Wanted, error: BaseException) -> Plan | None:
        """Return what records what a run had computed when an op raised, by computing it again.

        Args:
            session: The session.
            wanted: What the program wanted of it.
            error: What was raised.

        Returns:
            None where an op may give something else than it gave then.
        """
        if not isinstance(error, tf.errors.OpError) or _has_lost_nothing(error):
            return None
        graph = session.graph
        with self._lock:
            fed = frozenset(tensor.name for tensor in wanted.fed)
            reached = _reached(self._state(graph), wanted.ops, fed)
        ops = [recorded.op for recorded in reached]
        others, loop = failed_runs.computed_before(error, wanted, ops)
        if others is None or not all(map(failed_runs.is_repeatable, others)):
            return None
        again = self.plan(session, replace(wanted, targets=others, fetches=(), sources=()))
        if loop and again is not None:
            self._skip_iteration(session, wanted, loop)
        return again

    def _skip_iteration(self, session: Any, wanted: Wanted, loop: Sequence[Any]) -> None:
        """Say in the dump what is not on record of a v1 loop in which an op has raised.

        Args:
            session: The session.
            wanted: What the program wanted of it.
            loop: The ops of the loop that had all they need.
        """
        graph = session.graph
        state, run = self._state(graph), self.plan(session, wanted)
        ops = [state.ops[op.name] for op in loop]
        if run is not None and self._observed(graph, state, ops, doubtful=False):
            what = f"what a loop of {run.name} computed in the iteration that failed"
            self.skip_once(graph, what, "a loop of Enter and Exit cannot be computed in part")

    def run_failed(self, graph: Any, run: SessionRun, error: BaseException) -> None:
        """Say in the dump that what a run had computed when it raised is not on record.

        Args:
            graph: The graph of the session.
            run: The run, at its end.
            error: What was raised.
        """
        if not (_has_lost_nothing(error) or _cannot_be_fetched(run, error)):
            what = f"what {run.plan.name} computed before it failed"
            self.skip_once(graph, what, failed_runs.why_lost(error))

    def skip_once(self, graph: Any, what: str, reason: str) -> None:
        """Say in the dump, once a graph, that something in it is not on record.

        Args:
            graph: The graph of the session.
            what: What is not on record.
            reason: Why.
        """
        with self._lock:
            state = self._state(graph)
            if what not in state.skipped:
                state.skipped.add(what)
                self._dump.skip(what, reason, graph)

    def _state(self, graph: Any) -> _GraphState:
        kept = graph_state.state_of(graph)
        state: _GraphState | None = kept.sessions
        if state is None or state.owner is not self:
            state = kept.sessions = _GraphState(self)
        if state.version != graph.version:
            num_ops = len(graph.get_operations())
            new = self._graphs.ops(graph, state.ops_seen)
            state.ops_seen = num_ops
            state.ops.update((recorded.op.name, recorded) for recorded in new)
            state.changes_shapes |= any(references.changes_shapes(r.op) for r in new)
            state.has_references |= any(references.makes_reference(r.op) for r in new)
            state.version = graph.version
            self._graphs.record_trainable(graph)
        return state

    def _are_shapes_doubtful(self, graph: Any, state: _GraphState, wanted: Wanted) -> bool:
        """Whether tensors may have other shapes than known: also where a shape itself is fed."""
        computed = any(not tensor.op.type.startswith("Placeholder") for tensor in wanted.fed)
        doubtful = state.changes_shapes or self._graphs.are_shapes_doubtful(graph)
        return computed or not wanted.fits or doubtful

    def _make(
        self,
        graph: Any,
        state: _GraphState,
        wanted: Wanted,
        fed: frozenset[str],
        *,
        doubtful: bool,
    ) -> Plan:
        name = self._name([*wanted.fetches, *wanted.targets])
        self._graphs.record_run(name, graph, [tensor.name for tensor in wanted.fetches])
        if state.feeds is None:
            state.feeds = instrument.add_run_feeds(graph)
        asked = wanted.ops
        ops = _reached(state, asked, fed)
        flow = ControlFlow(recorded.op for recorded in ops)
        run_ops = [recorded.op for recorded in ops]
        memory = VariableMemory(run_ops if state.has_references else (), fed)
        copies: dict[str, Any] = {}
        if memory.is_written:
            with own.scope(graph):
                copies = update_order.copies_in_order(
                    graph, run_ops, frozenset(op.name for op in asked), memory, fed, flow
                )
        switches, rows = self._switches_and_rows(graph, state, ops, flow)
        maker = SinkMaker(
            *(self._dump, self._options, self._graphs, graph, state.ops, state.feeds),
            doubtful=doubtful,
        )
        sinks = RunSinks(maker, state.sinks, flow, copies)
        items = self._observed(graph, state, ops, doubtful=doubtful)
        running, before = _looked_at(run_ops, memory, flow, fed)
        gone = self._rewritten(state, run_ops, wanted)
        items = [item for item in items if item.tensor.name not in gone]
        running, before = running - gone, before - gone
        self._skip_unseen(graph, items, running | before | fed)
        return Plan(
            name,
            before=sinks.before(items, before),
            along=sinks.along(items, running),
            targets=[copies.get(op.name, op) for op in wanted.targets],
            fetches=[update_order.replaced(tensor, copies) for tensor in wanted.fetches],
            feeds=state.feeds,
            step=_global_step(graph, ops),
            needs=run_order.needs_of(sinks.groups, flow.ops),
            switches=switches,
            rows=rows,
        )

    def _rewritten(
        self, state: _GraphState, run_ops: Sequence[Any], wanted: Wanted
    ) -> frozenset[str]:
        """Return the names of the tensors that TensorFlow does not compute unless looked at.

        Args:
            state: What is known of the graph.
            run_ops: What the run computes.
            wanted: What the program wants of it.
        """
        is_optimized = len(state.ops) >= rewritten.FEWEST_OPTIMIZED
        if self._options.mode is TensorDebugMode.NO_TENSOR or not is_optimized:
            return frozenset()
        only_user = rewritten.users_in_run(run_ops, wanted.fetches)
        tensors = (tensor for op in run_ops for tensor in op.outputs)
        return frozenset(t.name for t in tensors if rewritten.is_rewritten(t, only_user))

    def _skip_unseen(self, graph: Any, items: Sequence[Observed], seen: AbstractSet[str]) -> None:
        """Say in the dump which of a run's tensors can never be looked at.

        Args:
            graph: The graph.
            items: The tensors to record.
            seen: The names of those that are looked at, or that the program feeds.
        """
        unseen = [item.tensor for item in items if item.tensor.name not in seen]
        if not all(map(graph_ops.is_reference, unseen)):
            self.skip_once(
                graph,
                "what runs read of a variable between two updates of it",
                "the second update may overwrite it before it is looked at",
            )

    def _switches_and_rows(
        self, graph: Any, state: _GraphState, ops: Sequence[RecordedOp], flow: ControlFlow
    ) -> tuple[dict[Measured, Any], Sequence[Any]]:
        """Return the switches of what is measured in a run, and what fetches its rows.

        Args:
            graph: The graph.
            state: What is known of it; both are kept there.
            ops: What the run computes.
            flow: Its control flow.
        """
        loops = [r for r in ops if flow.position(r.op).loops or self._graphs.runs_loop(r)]
        asks = bool(loops) or any(recorded.calls for recorded in ops)
        puts_rows = bool(loops) and instrument.tells_in_rows(self._options.mode)
        with own.scope(graph):
            if asks and self._options.measures and not state.switches:
                state.switches = magnitudes.switches(graph)
            if puts_rows and not state.rows:
                state.rows = row_ops.fetches_in_graph(graph)
        return state.switches if asks else {}, state.rows if puts_rows else ()

    def _observed(
        self, graph: Any, state: _GraphState, ops: Sequence[RecordedOp], *, doubtful: bool
    ) -> list[Observed]:
        """Return the tensors to record; those of each op are found once."""
        graph_id = self._graphs.graph_id(graph)
        found: list[Observed] = []
        for recorded in ops:
            key = recorded.op.name, doubtful
            known = state.observed.get(key)
            if known is None:
                tensors = observed.observed_tensors(
                    *([recorded], graph_id, self._options),
                    shapes_doubtful=doubtful,
                    names=devices.Names(),
                )
                known = state.observed[key] = tuple(tensors)
            found += known
        return found

    def _name(self, wanted: Sequence[Any]) -> str:
        """Return a name for a run, after what it fetches; no two runs have the same."""
        names = [item.name.removesuffix(":0") for item in wanted]
        more = len(names) - _NAMED_FETCHES
        text = ", ".join(names[:_NAMED_FETCHES]) + (f", {more} more" if more > 0 else "")
        name, number = f"{SESSION_RUN}{text})", 1
        while name in self._names:
            number += 1
            name = f"{SESSION_RUN}{text}) #{number}"
        self._names.add(name)
        return name


def _reached(state: _GraphState, wanted: Iterable[Any], fed: frozenset[str]) -> list[RecordedOp]:
    """Return the ops that run, in order of creation."""
    names: set[str] = set()
    todo = list(wanted)
    while todo:
        op = todo.pop()
        if op.name in names:
            continue
        names.add(op.name)
        todo += [tensor.op for tensor in op.inputs if _is_computed(tensor, fed)]
        todo += op.control_inputs
    return [recorded for name, recorded in state.ops.items() if name in names]


def _has_lost_nothing(error: BaseException) -> bool:
    """Return whether an error is no failure of what a run computes, or was raised before it ran."""
    return failed_runs.is_expected(error) or failed_runs.is_refused(error)


def _cannot_be_fetched(run: SessionRun, error: BaseException) -> bool:
    """Return whether a run has ended, and only what it was to hand out is nothing for NumPy."""
    order = run.call.order
    has_ended = order is not None and order.is_complete() and getattr(error, "op", None) is None
    return has_ended and not all(t.dtype.is_numpy_compatible for t in run.plan.fetches)


def _looked_at(
    ops: Sequence[Any], memory: VariableMemory, flow: ControlFlow, fed: frozenset[str]
) -> tuple[set[str], set[str]]:
    """Return the names of the tensors that are looked at while a run computes, and before it.

    Args:
        ops: What it computes.
        memory: What it overwrites in place.
        flow: Its control flow.
        fed: What is fed: that has not been made by its op.
    """
    outputs = [t for op in ops for t in op.outputs if _is_computed(t, fed)]
    running, before = (
        {tensor.name for tensor in outputs if memory.when(tensor) is when}
        for when in (When.RUNNING, When.BEFORE)
    )
    return running, before - {t.name for t in outputs if flow.position(t.op).loops}


def _is_computed(tensor: Any, fed: frozenset[str]) -> bool:
    """Whether an op makes the value of a tensor; a placeholder makes what it is fed."""
    return tensor.name not in fed or tensor.op.type == "Placeholder"


def _global_step(graph: Any, ops: Sequence[RecordedOp]) -> Any:
    """Return the global step of a run that counts it up, else None."""
    for variable in graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_STEP):
        step = graph.as_graph_element(variable)
        storage = variable.handle.op if hasattr(variable, "handle") else step.op
        for recorded in ops:
            counts = recorded.op.type in ("AssignAdd", "AssignAddVariableOp")
            if counts and recorded.op.inputs[0].op.name == storage.name:
                return step
    return None
