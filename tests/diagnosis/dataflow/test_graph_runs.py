"""What belongs to one run of a loop's body, a branch or a function, of many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program
from tfdbg_tui.diagnosis.dataflow import Dataflow
from tfdbg_tui.diagnosis.dataflow.calls import Calls
from tfdbg_tui.diagnosis.dataflow.graph_runs import GraphRuns
from tfdbg_tui.diagnosis.dataflow.links import PASS_THROUGH
from tfdbg_tui.diagnosis.dataflow.trace_rows import TraceRows
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.diagnosis.report.diagnosis import Diagnosis
from tfdbg_tui.logdir import Run, open_run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs


@pytest.fixture(scope="module")
def run(logdirs: RecordedLogdirs) -> Run:
    return open_run(logdirs["nested_loops"])


@pytest.fixture(scope="module")
def dataflow(run: Run) -> Dataflow:
    return Dataflow(run)


def events_of(run: Run, op_name: str) -> list[TensorEvent]:
    return [
        event for event in events(run) if op_name == run.graph_executions.site(event.index).op_name
    ]


def events(run: Run) -> list[TensorEvent]:
    traces = run.graph_executions
    return [
        TensorEvent("graph_execution", row, traces.site(row).output_slot)
        for row in range(len(traces))
    ]


def test_a_use_of_a_tensor_is_computed_from_it(run: Run, dataflow: Dataflow) -> None:
    links = 0
    for event in events(run):
        for use in dataflow.consumers(event):
            if use.event is not None and use.event.kind == "graph_execution":
                links += 1
                assert event in [producer.event for producer in dataflow.producers(use.event)]
    assert links > 250


def test_what_a_tensor_was_computed_from_came_before_it_in_the_same_iteration(
    run: Run, dataflow: Dataflow
) -> None:
    for event in events(run):
        for producer in dataflow.producers(event):
            source = producer.event
            if source is None:
                continue  # integers, and what Python gives the functions
            assert source.index < event.index
            made, taken = (run.graph_executions[i] for i in (source.index, event.index))
            if made.graph_id == taken.graph_id and taken.op_type != "Placeholder":
                assert made.iteration == taken.iteration


def test_a_loop_inside_of_another_begins_with_what_its_own_iteration_gives_it(
    run: Run, dataflow: Dataflow
) -> None:
    """The inner loop of `powers` begins with x, which is another one in each iteration."""
    arguments = [
        event
        for event in events_of(run, "while/while/Placeholder_1")
        if run.graphs[run.graph_executions.site(event.index).graph_id].name.startswith(
            "while_while_body"
        )
        and run.graph_executions[event.index].iteration == 0
        and dataflow.producers(event)[0].op_type == "Placeholder"
    ]
    sources = [dataflow.producers(event)[0].event for event in arguments]
    assert len(sources) == len(set(sources)) == 3
    given = [run.graph_executions[source.index].iteration for source in sources if source]
    assert given == [0, 1, 2]


def test_the_root_is_in_the_branch_that_was_taken(run: Run) -> None:
    (root,) = Diagnosis(run).report().roots
    assert (root.op_type, root.certainty) == ("Sqrt", "proved")
    assert root.location is not None
    assert root.location.line == 15


def test_a_step_forth_is_a_step_back(run: Run, dataflow: Dataflow) -> None:
    steps = dataflow.neighbours
    seen = 0
    for event in events(run):
        node = steps.of_event(event)
        if node.op_type in PASS_THROUGH:
            continue  # Backwards it is passed by.
        for use in steps.uses(node):
            if node.kind == "argument" and use.kind != "op":
                continue  # Backwards, what every iteration has alike comes from around the loop.
            seen += 1
            assert event in [given.event for given in steps.inputs(use)], (node, use)
    assert seen > 250


def test_what_a_graph_is_given_and_does_not_use_is_no_use(run: Run, dataflow: Dataflow) -> None:
    steps = dataflow.neighbours
    names = {use.name for event in events(run) for use in steps.uses(steps.of_event(event))}
    assert names
    assert not [name for name in names if "redundant_placeholder" in name]


def test_what_every_iteration_has_alike_comes_from_around_the_loop(
    run: Run, dataflow: Dataflow
) -> None:
    (given,) = events_of(run, "targets")
    arguments = events_of(run, "while/strided_slice/targets")
    assert [run.graph_executions[event.index].iteration for event in arguments] == [0, 1, 2, 3]
    assert [dataflow.producers(event)[0].event for event in arguments] == [given] * 4


def test_uses_of_a_copy_are_those_of_the_tensor(run: Run, dataflow: Dataflow) -> None:
    steps = dataflow.neighbours
    for event in events(run):
        assert not {use.op_type for use in steps.uses(steps.of_event(event))} & PASS_THROUGH


def test_a_tensor_that_is_recorded_again_begins_no_run(tmp_path: Path) -> None:
    """As ADAPTIVE records a finite tensor, of which something bad was computed."""
    program = Program(tmp_path)
    program.graph("g", "f")
    names = ("Neg", "Sqrt", "Exp")
    for name in names:
        program.op("g", "Neg", name)
    rows = [*names, "Neg", *names]
    for name in rows:
        program.trace("g", name, np.ones(9))
    run = program.open()
    runs = GraphRuns(run, Calls(run), TraceRows(run), lambda _row: (0, None))
    found = [runs.of_row("g", row) for row in range(len(rows))]
    assert [one.number if one else None for one in found] == [0, 0, 0, 0, 1, 1, 1]
