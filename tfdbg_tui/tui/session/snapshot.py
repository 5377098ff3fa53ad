"""A run as far as it has been read, and what diagnosis says of it, for the panes to show.

Immutable for whoever looks; it only remembers what it has read from the files before.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdbg_tui.diagnosis import (
    EMPTY,
    RUNNING,
    Dataflow,
    LayersOfOps,
    TensorEvent,
    batch_text,
    counted_text,
    file_name,
    find_alerts,
    find_gaps,
    is_blind,
    location_of,
    name_of,
    readable_function,
    step_before,
    step_of,
    summary_of,
    typed_summary,
)
from tfdbg_tui.logdir import TensorRef, UnreadableError
from tfdbg_tui.query import RowTests
from tfdbg_tui.tui.session.focus import OpName, SourcePlace
from tfdbg_tui.tui.session.folding import FoldedRow, fold_library_frames
from tfdbg_tui.tui.session.job import job_of
from tfdbg_tui.tui.session.tree import Path, Tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from tfdbg_tui.diagnosis import AlertCounts, Alerts, Explanation, Finding, Node, Producer
    from tfdbg_tui.logdir import (
        GraphExecution,
        Run,
        StackFrame,
        TensorSummary,
    )
    from tfdbg_tui.logdir.index.executions import Executions
    from tfdbg_tui.logdir.index.traces import GraphExecutions
    from tfdbg_tui.query import Kind
    from tfdbg_tui.tui.session.focus import Focus, Sort
    from tfdbg_tui.tui.session.job import Job

    TreeKey = tuple[Node, frozenset[Path], bool, int]

COUNTED_ALERTS = 5_000
"""Of how many alerts the records are read to count kinds of bad values."""

_RECORDS = 4096
_TREES = 16  # kept


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """What a filter has selected so far.

    Attributes:
        rows: Rows of the run's list, ascending.
        next_row: The first row that has not been looked at.
        complete: Whether there are no more.
        unfit: Outputs of executions in `rows` that do not fit themselves, by row and slot.
        unknown: How many rows do not say what the filter asks for.
    """

    rows: npt.NDArray[np.int64]
    next_row: int
    complete: bool
    unfit: frozenset[tuple[int, int]] = frozenset()
    unknown: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Sorted:
    """What a pane lists, in the order of a column.

    Attributes:
        sort: By what.
        filter: The filter of the pane.
        rows: What it lists: rows of the run's list, or positions of alerts.
        unknown: Of how many, which come last, the number is not on record.
    """

    sort: Sort
    filter: str
    rows: npt.NDArray[np.int64]
    unknown: int = 0


NOTHING_YET = Listed(np.zeros(0, np.int64), 0, complete=False)


class Snapshot:
    """A run and its alerts and dataflow.

    Made in the thread that loads: finding alerts and sorting them takes time.

    Args:
        run: The run.
        previous: The snapshot before this one of the same run.

    Attributes:
        run: The run.
        alerts: Its tensors with NaN or ∞, in order of time.
        alert_counts: How many alerts hold NaN, -∞, +∞; over the first `counted_alerts`.
        counted_alerts: How many alerts `alert_counts` covers.
        alerts_by_op_type: Number of alerts of each op type, most first.
        is_blind: Whether it says nothing about NaN and ∞, having been recorded so.
        gaps: What is not on record; that the program still runs, or that nothing has been recorded
            or read yet, is shown elsewhere.
        dataflow: Where its tensors come from and go to.
        listed: What filters have selected so far, by the list and the filter.
        sorted: What has been sorted, by the name of the pane.
        explanation: What diagnosis says of it, or of an earlier state of the run; None until then.
        job: The job of several processes that the run is one of; None where it is of none.
        worker: Which of them it is.
    """

    explanation: Explanation | None = None
    # Of findings in gradients: the stack traces of the ops that they are the gradients of.
    _forward_stacks: Mapping[int | OpName | None, int] = MappingProxyType({})
    job: Job | None = None
    worker: int = 0
    listed: Mapping[tuple[Kind, str], Listed] = MappingProxyType({})
    sorted: Mapping[str, Sorted] = MappingProxyType({})

    def __init__(self, run: Run, previous: Snapshot | None = None) -> None:
        self.run = run
        self.alerts: Alerts = find_alerts(run, previous.alerts if previous is not None else None)
        self.counted_alerts = min(len(self.alerts), COUNTED_ALERTS)
        self.alert_counts = self._count_alerts(previous)
        self.alerts_by_op_type = self.alerts.by_op_type
        self.is_blind = is_blind(run)
        gaps = find_gaps(run)
        goes_on = not run.progress.complete or any(gap.kind == RUNNING for gap in gaps)
        told_elsewhere = {RUNNING, EMPTY} if goes_on else {RUNNING}
        self.gaps = tuple(gap for gap in gaps if gap.kind not in told_elsewhere)
        self.dataflow = Dataflow(run)
        self.graph_execution = lru_cache(_RECORDS)(self._graph_execution)
        self.execution = lru_cache(_RECORDS)(run.executions.__getitem__)
        self.producers = self.dataflow.producers
        self.sources = lru_cache(256)(self._sources)
        self.execution_of = self.dataflow.timeline.execution_of
        self.neighbours = self.dataflow.neighbours
        self._trees: dict[TreeKey, Tree] = {}
        self.computation = lru_cache(_RECORDS)(self._computation)
        self._stack = lru_cache(256)(run.stack)
        self._location = lru_cache(256)(lambda stack_id: location_of(run, stack_id))
        self._folded = lru_cache(256)(lambda stack_id: fold_library_frames(self._stack(stack_id)))
        self.source = lru_cache(16)(run.source)
        self._fit_batch = lru_cache(_RECORDS)(run.fit_batch)
        self.row_tests = lru_cache(2)(partial(RowTests, run))
        self.layer = lru_cache(_RECORDS)(LayersOfOps(run).of_event)

    def _count_alerts(self, previous: Snapshot | None) -> AlertCounts:
        # Counting reads each alert's record: not twice.
        if previous is not None and previous.alerts.is_earlier_than(self.alerts):
            if previous.counted_alerts == self.counted_alerts:
                return previous.alert_counts
            if self.counted_alerts == len(self.alerts):
                return self.alerts.count_more_kinds(previous.alert_counts, previous.alerts)
        return self.alerts.count_kinds(np.arange(self.counted_alerts))

    def events(self, kind: Kind) -> GraphExecutions | Executions:
        """Return a list of the run."""
        run = self.run
        return run.graph_executions if kind == "graph_execution" else run.executions

    def step(self, event: TensorEvent) -> int | None:
        """Return the training step of an event; None where it is in none, or not known to be."""
        return step_of(self.dataflow, event)

    def step_text(self, event: TensorEvent) -> str:
        """Return the training step of an event as text; "" where there is none.

        Of a cause that is in none it is the one that diagnosis gives: that which uses it first.  Of
        what is made between two steps, as in a validation, it is the one before: "after step 7".
        """
        step, before = self._when(event)
        return "" if step is None else f"{before}step {step:,}{counted_text(self.run)}"

    def batch_text(self, event: TensorEvent) -> str:
        """Return which batch of Keras' `fit` the step of an event is; "" where that is unknown."""
        step, _ = self._when(event)
        batch = None if step is None else self._fit_batch(step)
        return batch_text(batch) if batch else ""

    def process_text(self, event: TensorEvent) -> str:
        """Return which of several processes of the run has recorded an event, from 0; else ""."""
        processes = len(self.run.files.file_sets)
        if processes == 1:
            return ""
        executions, traces = self.run.executions, self.run.graph_executions
        of_graph = event.kind == "graph_execution"
        recorded = traces.site(event.index) if of_graph else executions.kind(event.index)
        return f"process {recorded.file_set}, one of {processes:,}"

    def step_before(self, event: TensorEvent) -> int | None:
        """Return the step after which an event was; None where it is in one, or before all."""
        return step_before(self.dataflow, event)

    def _when(self, event: TensorEvent) -> tuple[int | None, str]:
        """Return the step that tells when an event was, and what to say before it."""
        step = self.step(event)
        if step is not None:
            return step, ""
        finding = self._finding(event)
        if finding is not None and finding.step is not None:
            return finding.step, "made ahead of " * finding.made_ahead
        return self.step_before(event), "after "

    @property
    def used_in(self) -> dict[int, int]:
        """The step that first uses what a pipeline made ahead; see `Explanation`."""
        return self.explanation.used_in if self.explanation else {}

    def _finding(self, event: TensorEvent) -> Finding | None:
        """Return the cause whose first tensor an event is."""
        number = self.explanation.group_of(event) if self.explanation else None
        if self.explanation is None or number is None:
            return None
        finding = self.explanation.groups[number].finding
        return finding if finding.event == event else None

    def explained(self, explanation: Explanation) -> Snapshot:
        """Return the same snapshot with an explanation, if that is of the same run."""
        if not explanation.is_of(self.run):
            return self
        twin = copy(self)
        twin.explanation = explanation
        twin._forward_stacks = {
            self._subject(group.finding.event): group.finding.forward_stack_id
            for group in explanation.groups
            if group.finding.forward_stack_id is not None
        }
        return twin

    def _subject(self, event: TensorEvent) -> int | OpName:
        """Return what is focused where a tensor is: its execution, or its op in a graph."""
        if event.kind == "execution":
            return event.index
        site = self.run.graph_executions.site(event.index)
        return OpName(site.graph_id, site.op_name)

    def within(self, jobs: Sequence[Job]) -> Snapshot:
        """Return the same snapshot with the one of some jobs that it is of."""
        twin = copy(self)
        twin.job, twin.worker = job_of(jobs, self.run) or (None, 0)
        return twin

    def listing(self, listed: Mapping[tuple[Kind, str], Listed]) -> Snapshot:
        """Return the same snapshot with what filters have selected."""
        twin = copy(self)
        twin.listed = MappingProxyType(dict(listed))
        return twin

    def sorting(self, found: Mapping[str, Sorted]) -> Snapshot:
        """Return the same snapshot with what has been sorted."""
        twin = copy(self)
        twin.sorted = MappingProxyType(dict(found))
        return twin

    def sorted_in(self, pane: str, focus: Focus) -> Sorted | None:
        """Return what a pane lists in the order that is asked for; None until it is known."""
        found = self.sorted.get(pane)
        wanted = focus.sort_of(pane), focus.filter_of(pane)
        return found if found and (found.sort, found.filter) == wanted else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What is missing and wrong with the dump, and, once diagnosed, what it cannot prove."""
        problems: Iterable[object] = self.run.problems
        if self.explanation is not None:
            problems = self.explanation.report.problems
        of_job = self.job.notes if self.job else ()
        return (*map(str, self.gaps), *map(str, problems), *of_job)

    def frames(self, focus: Focus) -> tuple[StackFrame, ...]:
        """Return the stack trace of what was focused last, outermost frame first.

        Of a gradient that is a root or a suspect it is the stack trace of the op that it is the
        gradient of, and behind that its own, from `own_frames` on.
        """
        return tuple(chain.from_iterable(map(self._stack, self._stack_ids(focus))))

    def own_frames(self, focus: Focus) -> int:
        """Return where the stack trace of a gradient begins behind that of its op; 0 elsewhere."""
        return sum(len(self._stack(stack_id)) for stack_id in self._stack_ids(focus)[:-1])

    def folded_frames(self, focus: Focus) -> list[FoldedRow]:
        """Return the rows of that stack trace when the frames of libraries are folded.

        Behind the stack trace of an op that of its gradient is one row.
        """
        stack_ids = self._stack_ids(focus)
        if len(stack_ids) < 2:
            return [row for stack_id in stack_ids for row in self._folded(stack_id)]
        own = FoldedRow(self.own_frames(focus), len(self.frames(focus)) - 1)
        return [*self._folded(stack_ids[0]), own]

    def _stack_ids(self, focus: Focus) -> tuple[int, ...]:
        """Return the stack traces of what was focused last, the one to look at first."""
        focused = focus.execution if focus.subject == "execution" else focus.op
        forward = self._forward_stacks.get(focused)
        own = self._stack_id(focus)
        return tuple(stack_id for stack_id in (forward, own) if stack_id is not None)

    def _stack_id(self, focus: Focus) -> int | None:
        if focus.subject == "execution" and focus.execution is not None:
            return self.run.executions.stack_ids[focus.execution]
        if focus.subject == "op" and focus.op is not None:
            op = self.run.op(focus.op.graph_id, focus.op.name)
            return op.stack_id if op else None
        return None

    def place_of_user(self, focus: Focus) -> SourcePlace | None:
        """Return the user's line behind a stack trace that does not show it, where it is known."""
        stack_id = self._stack_id(focus)
        location = None if stack_id is None else self._location(stack_id)
        if location is None:
            return None
        host = self._stack(stack_id)[0].host if stack_id is not None else ""
        return SourcePlace(host, location.file, location.line)

    def line(self, stack_id: int) -> str:
        """Return the user's line of a stack trace as ``file.py:12``; "" where it is not known."""
        location = self._location(stack_id)
        return location.short if location else ""

    def find_place(self, path: str, line: int) -> SourcePlace | None:
        """Return a line of the first source file whose path ends in `path`."""
        for host, known in self.run.source_paths:
            ends = known.endswith("/" + path.lstrip("/")) or file_name(known) == path
            if known == path or ends:
                return SourcePlace(host, known, max(1, line))
        return None

    def graph_name(self, graph_id: str | None) -> str:
        """Return a graph's name as its author knows it, or words for it."""
        graph = self.run.graphs.get(graph_id) if graph_id else None
        if graph is None:
            return "unknown graph"
        return readable_function(graph.name) or "main graph"

    def tensor_name(self, event: TensorEvent) -> str:
        """Return ``op_name:slot``; of a call the function as its author knows it."""
        return name_of(self.run, event)

    def summary(self, event: TensorEvent) -> TensorSummary | None:
        """Return what was recorded of a tensor's values; None where there is nothing."""
        if event.kind == "graph_execution":
            return self.graph_execution(event.index).summary
        return summary_of(self.run, event)

    def _graph_execution(self, index: int) -> GraphExecution:
        trace = self.run.graph_executions[index]
        return replace(trace, summary=typed_summary(self.run, trace))

    def tensor(self, event: TensorEvent) -> npt.NDArray[Any] | None:
        """Return a tensor itself; None where it was not recorded, or cannot be read any more."""
        try:
            if event.kind == "graph_execution":
                return self.run.graph_executions.tensor(event.index)
            return self.run.executions.tensor(event.index, event.slot)
        except UnreadableError:
            return None

    def is_bad(self, event: TensorEvent) -> bool:
        """Whether a tensor holds a NaN or an infinity."""
        return self.alerts.position(event) is not None

    def _sources(self, event: TensorEvent) -> tuple[Producer, ...]:
        """Return the producers of a tensor; instead of a function's call, what it returned."""
        return tuple(map(self._inside, self.producers(event)))

    def _inside(self, producer: Producer) -> Producer:
        while producer.event is not None and producer.event.kind == "execution":
            returned = self.producers(producer.event)
            if len(returned) != 1 or returned[0].via != "output" or returned[0].event is None:
                break
            producer = replace(producer, event=returned[0].event)
        return producer

    def middle(self, focus: Focus) -> Node | None:
        """Return what stands in the middle of Graph Structure: what was focused last."""
        if focus.subject == "execution" and focus.execution is not None:
            return self.neighbours.of_event(TensorEvent("execution", focus.execution, focus.slot))
        if focus.op is None:
            return None
        row = focus.graph_execution
        at = len(self.run.graph_executions) - 1 if row is None else row
        if row is None or focus.output is not None or not self._computes(row, focus.op):
            row = self.computation(focus.op, focus.output, at)
        if row is None:
            output = focus.output or 0
            return self.neighbours.of_op(focus.op.graph_id, focus.op.name, output, max(0, at))
        slot = self.run.graph_executions.site(row).output_slot
        return self.neighbours.of_event(TensorEvent("graph_execution", row, slot))

    def _computes(self, row: int, op: OpName) -> bool:
        site = self.run.graph_executions.site(row)
        return (site.graph_id, site.op_name) == (op.graph_id, op.name)

    def tree(self, focus: Focus) -> Tree | None:
        """Return the tree around what was focused last; None where nothing is.

        It reads many records where that is an eager op.
        """
        key = self.tree_key(focus)
        if key is None or key in self._trees:
            return self._trees.get(key) if key else None
        middle, forks, only_bad, unfolded = key
        tree = Tree(
            middle,
            self.neighbours,
            self.is_bad,
            toggled=forks,
            only_bad=only_bad,
            unfolded=unfolded,
        )
        if len(self._trees) >= _TREES:
            self._trees.clear()
        self._trees[key] = tree
        return tree

    def known_tree(self, focus: Focus) -> Tree | None:
        """Return the tree, if it has been found before."""
        key = self.tree_key(focus)
        return self._trees.get(key) if key else None

    def tree_key(self, focus: Focus) -> TreeKey | None:
        """Return what decides how the tree looks; None where there is none."""
        middle = self.middle(focus)
        return (middle, focus.forks, focus.bad_branches, focus.unfolded) if middle else None

    def first_computation(self, op: OpName) -> int | None:
        """Return the first row that computed an output of an op."""
        rows = self.run.graph_executions.rows_of
        sites = self.dataflow.timeline.sites(op.graph_id, op.name)
        return min((int(row) for _, site_id in sites for row in rows(site_id)[:1]), default=None)

    def _computation(self, op: OpName, slot: int | None, at: int) -> int | None:
        """Return the last row up to `at` that computed an output (any, for None) of an op."""
        timeline = self.dataflow.timeline
        slots = {site.output_slot for site, _ in timeline.sites(op.graph_id, op.name)}
        tensors = (TensorRef(op.name, one) for one in slots if slot in (None, one))
        events = (timeline.last_before(op.graph_id, tensor, at + 1) for tensor in tensors)
        return max((event.index for event in events if event is not None), default=None)
