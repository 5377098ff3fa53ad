"""The tree of Graph Structure: its rows, and what is folded, left out and followed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program
from tfdbg_tui.diagnosis.events import TensorEvent, name_of
from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.navigation import NowhereError, first_focus
from tfdbg_tui.tui.panes import pane_named
from tfdbg_tui.tui.session.focus import OpName
from tfdbg_tui.tui.session.focusing import focus_event, focus_op, focused_event
from tfdbg_tui.tui.session.snapshot import Snapshot
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from pathlib import Path

    from tfdbg_tui.tui.session.focus import Focus

ROWS = pane_named("graph_structure").rows


def at(snapshot: Snapshot, target: str) -> Focus:
    focus = navigation.goto(snapshot, first_focus(snapshot), target)
    return replace(focus, pane="graph_structure")


def names(snapshot: Snapshot, focus: Focus) -> list[str]:
    return [text.replace(":0", "") for text in ROWS.texts(snapshot, focus)]


def event_of(snapshot: Snapshot, index: int) -> TensorEvent:
    site = snapshot.run.graph_executions.site(index)
    return TensorEvent("graph_execution", index, site.output_slot)


def test_inputs_stand_above_and_uses_below_across_functions(mnist: Snapshot) -> None:
    focus = at(mnist, "trace:141")
    rows = names(mnist, focus)
    middle = ROWS.position(mnist, focus)
    assert middle is not None
    assert rows[middle - 3 : middle + 3] == [
        "Softmax", "model returns output 0", "Python calls loss(probs)",
        "Log",
        "mul", "Mean",
    ]  # fmt: skip
    assert any("call dense_layer(" in row for row in rows[:middle])


def test_one_side_gets_the_rows_that_the_other_has_not(mnist: Snapshot) -> None:
    tree = mnist.tree(at(mnist, "trace:141"))
    assert tree is not None
    above, below = tree.centre, len(tree.rows) - 1 - tree.centre
    assert below < 8 < 20 < above, "nothing but the end of the function is below"


def test_variables_lead_to_the_step_before(mnist: Snapshot) -> None:
    focus = at(mnist, "trace:137")
    read = mnist.tree(focus)
    assert read is not None
    variable = read.rows[read.centre - 1]
    assert (variable.node.kind, variable.state) == ("variable", "folded")
    focus = navigation.step_sideways(mnist, navigation.move(mnist, focus, -1), 1)
    tree = mnist.tree(focus)
    assert tree is not None
    assigned = tree.rows[tree.place((*variable.path, 0))].node.event
    assert assigned is not None
    assert assigned in [producer.event for producer in mnist.sources(event_of(mnist, 137))]


def test_a_row_is_folded_and_unfolded(mnist: Snapshot) -> None:
    focus = at(mnist, "trace:141")
    count = ROWS.count(mnist, focus)
    below = navigation.move(mnist, focus, 1)
    folded = navigation.step_sideways(mnist, below, -1)
    assert ROWS.count(mnist, folded) < count
    assert ROWS.count(mnist, navigation.step_sideways(mnist, folded, 1)) == count
    to_middle = navigation.step_sideways(mnist, folded, -1)
    assert ROWS.position(mnist, to_middle) == ROWS.position(mnist, focus)


def test_what_does_not_lead_to_nan_can_be_left_out(mnist: Snapshot) -> None:
    focus = navigation.toggle_bad_branches(mnist, at(mnist, "trace:142"))
    tree = mnist.tree(focus)
    assert tree is not None
    ends = [row for row in tree.rows if row.state != "open"]
    assert all(row.bad for row in ends)
    assert len(tree.rows) < ROWS.count(mnist, navigation.toggle_bad_branches(mnist, focus))
    assert "Log" in names(mnist, focus)
    assert "Neg" not in names(mnist, focus)


def test_nothing_is_left_out_where_nothing_is_bad(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.execution("Abs", [], {9: np.ones(4, np.float32)})
    snapshot = Snapshot(made.open())
    with pytest.raises(NowhereError, match="no tensor with NaN"):
        navigation.toggle_bad_branches(snapshot, at(snapshot, "exec:0"))


def test_enter_crosses_a_boundary(mnist: Snapshot) -> None:
    focus = at(mnist, "trace:141")
    argument = navigation.move(mnist, focus, -1)
    there = navigation.enter(mnist, argument)
    event = focused_event(mnist, there)
    assert event is not None
    assert name_of(mnist.run, event) == "Softmax:0"
    assert there.pane == "graph_structure"


def test_enter_on_a_call_goes_to_its_computation_in_the_same_execution(
    control_flow: Snapshot,
) -> None:
    entered = 0
    for index in range(0, len(control_flow.run.graph_executions), 5):
        focus = focus_event(control_flow, first_focus(control_flow), event_of(control_flow, index))
        tree = control_flow.tree(focus)
        assert tree is not None
        for row in tree.rows[: tree.centre]:
            if row.node.kind != "call" or row.state == "leaf":
                continue
            chosen = replace(focus, pane="graph_structure", branch=row.path)
            inside = navigation.enter(control_flow, chosen)
            event = focused_event(control_flow, inside)
            if event is None or event.kind != "graph_execution":
                continue
            executions = {control_flow.execution_of(i) for i in (index, event.index)}
            entered += len(executions) == 1
    assert entered > 20


def test_consumers_are_the_reverse_of_inputs(mnist: Snapshot, control_flow: Snapshot) -> None:
    for snapshot, least in ((mnist, 0.7), (control_flow, 0.85)):
        found = []
        for index in range(0, len(snapshot.run.graph_executions), 3):
            event = event_of(snapshot, index)
            for source in snapshot.sources(event):
                if source.event is not None and source.via in ("graph", "argument", "call"):
                    uses = snapshot.neighbours.recorded_uses(source.event)
                    found.append(event in uses)
        assert sum(found) > least * len(found)


def test_the_way_to_a_tensors_input_leads_back(mnist: Snapshot) -> None:
    log = navigation.first_alert(mnist, first_focus(mnist))
    softmax = navigation.to_producer(mnist, log)
    assert navigation.to_consumer(mnist, softmax).graph_execution == log.graph_execution


def test_eager_ops_stand_in_a_tree_too(mnist: Snapshot) -> None:
    focus = at(mnist, "exec:11")
    rows = names(mnist, focus)
    assert rows[ROWS.position(mnist, focus) or 0] == "AddV2"
    assert "AssignVariableOp" in rows


def test_of_what_leaves_an_input_pipeline_it_is_told_where_it_comes_out(tmp_path: Path) -> None:
    for number, (name, told) in enumerate((("Dataset_map_f", "IteratorGetNext"), ("f", "no rec"))):
        made = Program(tmp_path / str(number))
        made.graph("g", name)
        made.op("g", "Abs", "Abs", "x:0")
        made.trace("g", "Abs", np.ones(4, np.float32))
        snapshot = Snapshot(made.open())
        with pytest.raises(NowhereError, match=told):
            navigation.to_consumer(snapshot, at(snapshot, "trace:0"))


def test_enter_on_an_output_without_record_is_about_that_output(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("g", "f")
    made.op("g", "IteratorGetNext", "next", outputs=2)
    made.op("g", "Abs", "picture", "next:0")
    made.op("g", "Cast", "label", "next:1")
    for name in ("next", "picture", "label"):
        made.trace("g", name, np.ones(4, np.float32))
    snapshot = Snapshot(made.open())
    focus = navigation.enter(snapshot, navigation.move(snapshot, at(snapshot, "trace:2"), -1))
    middle = snapshot.middle(focus)
    assert middle is not None
    assert (middle.name, middle.slot, middle.event) == ("next", 1, None)
    again = navigation.goto(snapshot, focus, "trace:0")
    middle = snapshot.middle(again)
    assert middle is not None
    assert (middle.slot, middle.event) == (0, event_of(snapshot, 0))


def test_the_last_record_of_an_output_counts_in_whatever_mode(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("g", "f")
    made.op("g", "Log", "log")
    for mode in (TensorDebugMode.CONCISE_HEALTH, TensorDebugMode.FULL_HEALTH):
        made.trace("g", "log", np.ones(4, np.float32), mode=mode)
    snapshot = Snapshot(made.open())
    middle = snapshot.middle(focus_op(snapshot, at(snapshot, "trace:1"), OpName("g", "log"), 0))
    assert middle is not None
    assert middle.event == event_of(snapshot, 1)


@pytest.mark.parametrize("handle", [1, 2, 3])
def test_a_variable_that_python_uses_has_its_name(tmp_path: Path, handle: int) -> None:
    made = Program(tmp_path)
    made.variable(1, name="lstm/dense/kernel")
    made.variable(2, name="momentum", slot_of=1)
    told = {1: "lstm/dense/kernel", 2: "momentum of lstm/dense/kernel"}.get(handle, "")
    number = np.ones(4, np.float32)
    made.execution("Abs", [], {9: number})
    made.execution("AssignVariableOp", [handle, 9], {})
    made.execution("ReadVariableOp", [handle], {10: number})
    made.execution("Neg", [10], {11: number})
    snapshot = Snapshot(made.open())
    words = f"variable {told}".rstrip()
    assert words in names(snapshot, at(snapshot, "exec:0"))
    assert words in names(snapshot, at(snapshot, "exec:3"))


@pytest.mark.parametrize("known", [True, False])
def test_a_variable_that_a_function_reads_has_its_name(tmp_path: Path, *, known: bool) -> None:
    made = Program(tmp_path)
    if known:
        made.variable(1, name="lstm/dense/kernel")
    made.graph("f", "step")
    made.op("f", "Placeholder", "Add/ReadVariableOp/resource")
    made.op("f", "ReadVariableOp", "Add/ReadVariableOp", "Add/ReadVariableOp/resource:0")
    made.op("f", "Neg", "Neg", "Add/ReadVariableOp:0")
    made.function("f", "__inference_step_1", "Add/ReadVariableOp/resource", captured=(1,))
    number = np.ones(4, np.float32)
    made.execution("__inference_step_1", [], {9: number})
    made.trace("f", "Add/ReadVariableOp", number)
    made.trace("f", "Neg", number)
    snapshot = Snapshot(made.open())
    words = "variable lstm/dense/kernel" if known else "variable read in Add"
    assert words in names(snapshot, at(snapshot, "trace:1"))
