"""From tensors to what made them, across functions, loops, variables and eager code."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from tests.diagnosis.tiny import Program, floats
from tests.logdir.synthetic import execution_record, read, write_logdir
from tfdbg_tui.diagnosis.alerts import find_alerts
from tfdbg_tui.diagnosis.dataflow import Dataflow
from tfdbg_tui.diagnosis.events import TensorEvent, name_of, op_type_of, summary_of
from tfdbg_tui.logdir import open_run
from tfdbg_tui.wire import events

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs


def test_argument_of_the_tutorials_loss_is_the_softmax_of_the_model(
    logdirs: RecordedLogdirs,
) -> None:
    run = open_run(logdirs["mnist"])
    dataflow = Dataflow(run)
    log = find_alerts(run).first

    (probs,) = dataflow.producers(log)
    assert (probs.name, probs.via, probs.inferred) == ("probs:0", "argument", True)
    assert op_type_of(run, probs.event).startswith("__forward_model")
    softmax = dataflow.origin(probs.event)
    assert name_of(run, softmax) == "Softmax:0"
    assert summary_of(run, softmax).zero == summary_of(run, log).neg_inf > 0
    assert summary_of(run, softmax) == summary_of(run, probs.event)


def test_nearly_all_inputs_of_the_tutorials_alerts_are_found(logdirs: RecordedLogdirs) -> None:
    run = open_run(logdirs["mnist"])
    dataflow = Dataflow(run)
    found = Counter(
        producer.event is not None
        for event in find_alerts(run)
        if event.kind == "graph_execution"
        for producer in dataflow.producers(event)
        if producer.op_type != "Const"
    )
    assert found[True] > 0.95 * sum(found.values())


def test_producers_and_consumers_agree_within_graphs(logdirs: RecordedLogdirs) -> None:
    run = open_run(logdirs["control_flow"])
    dataflow = Dataflow(run)
    links = 0
    for index in range(len(run.graph_executions)):
        event = TensorEvent("graph_execution", index, run.graph_executions.site(index).output_slot)
        for use in dataflow.consumers(event):
            if use.event is None or use.event.kind != "graph_execution" or use.via != "graph":
                continue
            events = [producer.event for producer in dataflow.producers(use.event)]
            links += event in events
    assert links > 20


def test_a_loop_body_takes_what_its_last_iteration_left(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.graph("root", "")
    program.graph("f", "f", "root")
    program.op("f", "Placeholder", "x")
    program.graph("cond", "while_cond_1", "f")
    program.op("cond", "Placeholder", "while/Placeholder")
    program.graph("body", "while_body_2", "f")
    program.op("body", "Placeholder", "while/Placeholder")
    program.op("body", "Mul", "while/mul", "while/Placeholder:0", "while/Placeholder:0")
    program.op("body", "Identity", "while/Identity", "while/mul:0")
    program.op("f", "While", "while", "x:0")
    program.op("f", "Neg", "Neg", "while:0")
    for value in (2.0, 4.0):
        program.trace("body", "while/Placeholder", floats(value))
        program.trace("body", "while/mul", floats(value * value))
    program.trace("f", "Neg", floats(-16.0))
    program.execution("__inference_f_3", [1], {2: floats(-16.0)}, graph_id="f")
    dataflow = Dataflow(program.open())

    second, result = TensorEvent("graph_execution", 2, 0), TensorEvent("graph_execution", 4, 0)
    (again,) = dataflow.producers(second)
    assert (again.event, again.via) == (TensorEvent("graph_execution", 1, 0), "loop")
    (last,) = dataflow.producers(result)
    assert (last.event, last.via) == (TensorEvent("graph_execution", 3, 0), "loop")
    assert name_of(program.open(), TensorEvent("execution", 0, 0)) == "f:0", (
        "as its author knows it"
    )


def test_the_branch_that_was_taken_gives_the_result(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.graph("root", "")
    program.graph("f", "f", "root")
    program.op("f", "Placeholder", "x")
    program.op("f", "Greater", "Greater", "x:0")
    for branch, op_type in (("true", "Sqrt"), ("false", "Neg")):
        program.graph(branch, f"cond_{branch}_1", "f")
        program.op(branch, "Placeholder", f"cond/{op_type}/x")
        program.op(branch, op_type, f"cond/{op_type}", f"cond/{op_type}/x:0")
        program.op(branch, "Identity", "cond/Identity", f"cond/{op_type}:0")
    program.op("f", "If", "cond", "Greater:0", "x:0")
    program.op("f", "Identity", "cond/Identity", "cond:0")
    program.op("f", "Mean", "Mean", "cond/Identity:0")
    program.trace("false", "cond/Neg", floats(-1.0))
    program.trace("f", "Mean", floats(-1.0))
    dataflow = Dataflow(program.open())

    (source,) = dataflow.producers(TensorEvent("graph_execution", 1, 0))
    assert (source.event, source.via) == (TensorEvent("graph_execution", 0, 0), "branch")


def test_an_output_of_a_case_that_is_recorded_is_that_of_the_branch_with_the_same_value(
    tmp_path: Path,
) -> None:
    program = Program(tmp_path)
    program.graph("root", "")
    program.graph("f", "f", "root")
    program.op("f", "Placeholder", "x")
    for number, op_type in enumerate(("Sqrt", "Neg", "Log")):
        graph = f"branch{number}"
        program.graph(graph, f"a_case_branch{number}_{7 + number}", "f")
        program.op(graph, "Placeholder", f"a/case/{op_type}/x")
        program.op(graph, op_type, f"a/case/{op_type}", f"a/case/{op_type}/x:0")
        program.op(graph, "Identity", "a/case/Identity", f"a/case/{op_type}:0")
    program.op("f", "Case", "a/case", "index:0", "x:0")
    program.op("f", "Mean", "Mean", "a/case:0")
    for graph, name, value in (("branch1", "Neg", -1.0), ("branch2", "Log", -np.inf)):
        program.trace(graph, f"a/case/{name}", floats(value))
        program.trace("f", "a/case", floats(value))
    program.trace("f", "Mean", floats(-np.inf))
    dataflow = Dataflow(program.open())

    (case,) = dataflow.producers(TensorEvent("graph_execution", 4, 0))
    assert case.event == TensorEvent("graph_execution", 3, 0)
    (log,) = dataflow.producers(case.event)
    assert (log.event, log.via) == (TensorEvent("graph_execution", 2, 0), "branch")


def test_a_variable_leads_to_the_assignment_of_the_step_before(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.graph("root", "")
    program.graph("f", "step", "root")
    program.op("f", "Placeholder", "w")
    program.op("f", "ReadVariableOp", "Read", "w:0")
    program.op("f", "Mul", "Mul", "Read:0", "Read:0")
    program.op("f", "AssignSubVariableOp", "Assign", "w:0", "Mul:0", outputs=0)
    for value in (1.0, 2.0):
        program.trace("f", "Read", floats(value))
        program.trace("f", "Mul", floats(value * value))
        program.execution("__inference_step_1", [7], {}, graph_id="f")
    dataflow = Dataflow(program.open())

    (first,) = dataflow.producers(TensorEvent("graph_execution", 0, 0))
    assert first.event is None
    (second,) = dataflow.producers(TensorEvent("graph_execution", 2, 0))
    assert (second.event, second.via) == (TensorEvent("graph_execution", 1, 0), "variable")


def test_processes_number_their_eager_tensors_each_for_itself(tmp_path: Path) -> None:
    logdir = tmp_path / "logdir"
    for process in range(2):
        records = b""
        for number in range(20):
            made = events.Execution("Neg", 1, input_tensor_ids=[number], tensor_debug_mode=1)
            made.output_tensor_ids = [number + 1]
            records += execution_record(made, wall_time=1.7e9 + 2 * number + process)
        write_logdir(logdir, prefix=f"tfdbg_events.1700000000.{process}", executions=records)
    run = read(logdir)
    dataflow = Dataflow(run)
    for index in range(2, 40):
        (before,) = dataflow.producers(TensorEvent("execution", index, 0))
        assert before.event == TensorEvent("execution", index - 2, 0)
        (use,) = dataflow.consumers(before.event)
        assert use.event == TensorEvent("execution", index, 0)


def test_eager_tensors_are_found_by_their_ids(tmp_path: Path) -> None:
    program = Program(tmp_path)
    rng = np.random.default_rng(0)
    ids = np.cumsum(rng.integers(1, 4, size=300)).tolist()
    for number, tensor_id in enumerate(ids):
        earlier = ids[max(0, number - int(rng.integers(1, 60)))]
        program.execution("Neg", [earlier, -5], {tensor_id: floats(1.0)} if number % 7 else {})
    run = program.open()
    dataflow = Dataflow(run)

    made = {i for n, i in enumerate(ids) if n % 7}
    for index in range(1, 300):
        given, constant = dataflow.producers(TensorEvent("execution", index, 0))
        wanted = run.executions[index].input_tensor_ids[0]
        assert constant.event is None
        if wanted in made and wanted != ids[index]:
            assert run.executions[given.event.index].output_tensor_ids == (wanted,)
        else:
            assert given.event is None


def test_runs_of_a_function_that_overtake_one_another_are_noticed(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.graph("root", "")
    program.graph("f", "f", "root")
    program.op("f", "Neg", "Neg", "x:0")
    program.op("f", "Sqrt", "Sqrt", "Neg:0")
    for name in ("Neg", "Sqrt", "Neg", "Neg", "Sqrt", "Sqrt"):
        program.trace("f", name, floats(1.0))
    dataflow = Dataflow(program.open())
    rows = [TensorEvent("graph_execution", row, 0) for row in (1, 4, 5)]
    sources = [dataflow.producers(row)[0].event for row in rows]
    overtaken = [dataflow.timeline.overtaken(*pair) for pair in zip(rows, sources, strict=True)]
    assert overtaken == [False, True, True]


def test_a_copy_is_known_by_its_counts_and_its_number(tmp_path: Path) -> None:
    program = Program(tmp_path)
    gradient = floats(np.nan, np.nan, 1)
    program.execution("Mul", [1], {2: gradient})
    program.execution("Square", [3], {5: gradient}, given=(gradient,))  # 3 is a copy of 2
    program.execution("Sub", [3], {6: floats(np.nan, 1, 1)}, given=(gradient,))  # and not of 5
    program.execution("Neg", [4], {7: floats(np.inf, 0)}, given=(floats(-np.inf, 0),))
    dataflow = Dataflow(program.open())
    for index, expected in ((1, TensorEvent("execution", 0, 0)), (3, None)):
        (producer,) = dataflow.producers(TensorEvent("execution", index, 0))
        assert (producer.event, producer.inferred) == (expected, expected is not None)
    (again,) = dataflow.producers(TensorEvent("execution", 2, 0))
    assert again.event == TensorEvent("execution", 0, 0)
