"""What actions do, without a screen: functions from a snapshot and a focus to a focus."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tests.tui.conftest import search
from tfdbg_tui.diagnosis.events import name_of
from tfdbg_tui.diagnosis.report.explanation import Explanation
from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.navigation import NowhereError, first_focus
from tfdbg_tui.tui.panes import numbered_panes, pane_named, present_panes
from tfdbg_tui.tui.panes.stack_trace import FRAMES
from tfdbg_tui.tui.session.focusing import (
    focus_frame,
    focus_graph_execution,
    focused_event,
)
from tfdbg_tui.tui.session.snapshot import Listed, Snapshot
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from pathlib import Path

    from tfdbg_tui.tui.session.focus import Focus

PANES_OF_A_RUN = [spec.name for spec in numbered_panes() if not spec.missing]


@pytest.fixture
def start(mnist: Snapshot) -> Focus:
    return first_focus(mnist)


def focused_name(snapshot: Snapshot, focus: Focus) -> str:
    event = focused_event(snapshot, focus)
    assert event is not None
    return name_of(snapshot.run, event)


def test_opens_on_the_first_events_with_a_stack_trace(mnist: Snapshot, start: Focus) -> None:
    assert (start.execution, start.graph_execution, start.pane) == (0, 0, "alerts")
    assert start.place is not None
    assert start.place.path.endswith("debug_mnist.py")


def test_a_healthy_run_without_extremes_opens_on_its_first_step(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("data", "data", "root")
    made.graph("train", "train", "root")
    made.op("data", "Mul", "scaled")
    made.op("train", "MatMul", "dense")
    for number in range(3):
        made.execution("Fill", [], {number: floats(1.0)})
    for step in range(4):
        made.trace("data", "scaled", floats(1.0))
        made.trace("train", "dense", floats(1.0))
        made.execution("__inference_train_7", [], {10 + step: floats(1.0)}, graph_id="train")
    snapshot = Snapshot(made.open())
    snapshot = snapshot.explained(Explanation(snapshot.run, snapshot.alerts))
    focus = navigation.open_on_root(snapshot, first_focus(snapshot))
    assert (focused_name(snapshot, focus), focus.graph_execution) == ("dense:0", 1)
    assert (focus.execution, focus.pane) == (3, "alerts")
    elsewhere = navigation.move_to(snapshot, replace(focus, pane="timeline"), 2)
    assert navigation.open_on_root(snapshot, elsewhere) == elsewhere


def test_first_alert_stands_on_the_users_line(mnist: Snapshot, start: Focus) -> None:
    focus = navigation.first_alert(mnist, start)
    assert focused_name(mnist, focus) == "Log:0"
    assert focus.pane == "graph_execution"
    assert focus.place is not None
    source = mnist.source(focus.place.host, focus.place.path)
    assert source is not None
    assert "tf.math.log(probs)" in source.lines[focus.place.line - 1]


def test_alerts_go_forth_and_back_and_end(mnist: Snapshot, start: Focus) -> None:
    first = navigation.step_alert(mnist, start, 1)
    second = navigation.step_alert(mnist, first, 1)
    assert [focused_name(mnist, f) for f in (first, second)] == ["Log:0", "mul:0"]
    assert navigation.step_alert(mnist, second, -1).alert == first.alert
    with pytest.raises(NowhereError, match="first alert"):
        navigation.step_alert(mnist, first, -1)


def test_producer_is_followed_into_another_function(mnist: Snapshot, start: Focus) -> None:
    log = navigation.first_alert(mnist, start)
    softmax = navigation.to_producer(mnist, log)
    assert focused_name(mnist, softmax) == "Softmax:0"
    graph = softmax.op and mnist.graph_name(softmax.op.graph_id)
    assert (graph, softmax.pane) == ("model", "graph_execution")


def test_consumer_is_the_next_bad_tensor(mnist: Snapshot, start: Focus) -> None:
    focus = navigation.to_consumer(mnist, navigation.first_alert(mnist, start))
    assert focused_name(mnist, focus) == "mul:0"


def test_enter_goes_all_the_way_from_alert_to_source(mnist: Snapshot, start: Focus) -> None:
    panes = []
    focus = start
    for _ in range(4):
        focus = navigation.enter(mnist, focus)
        panes.append(focus.pane)
    assert panes == ["graph_execution", "graph_structure", "stack_trace", "source_code"]


def test_enter_on_a_neighbour_recentres(mnist: Snapshot, start: Focus) -> None:
    log = replace(navigation.first_alert(mnist, start), pane="graph_structure")
    consumer = navigation.move(mnist, log, 1)
    focus = navigation.enter(mnist, consumer)
    assert focus.op is not None
    assert (focus.op.name, focus.branch) == ("mul", ())


def test_the_same_op_is_followed_from_step_to_step(mnist: Snapshot, start: Focus) -> None:
    softmax = navigation.goto(mnist, start, "trace:19")
    later = navigation.step_computation(mnist, softmax, 1)
    assert focused_name(mnist, later) == "Softmax:0"
    assert later.graph_execution is not None
    assert later.graph_execution > 19
    assert navigation.step_computation(mnist, later, -1).graph_execution == 19
    eager = navigation.goto(mnist, start, "exec:70")
    again = navigation.step_computation(mnist, eager, 1)
    assert again.execution is not None
    assert again.execution > 70
    assert (again.place, focused_name(mnist, again)) == (eager.place, focused_name(mnist, eager))
    for step in (-1, 1):
        rows = [softmax.graph_execution]
        with contextlib.suppress(NowhereError):
            while True:
                focus = navigation.goto(mnist, start, f"trace:{rows[-1]}")
                rows.append(navigation.step_computation(mnist, focus, step).graph_execution)
        assert rows == sorted(set(rows), reverse=step < 0), "no row twice, and an end"


def test_what_turns_bad_is_followed_across_modes_of_recording(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("f", "f")
    made.op("f", "Log", "log")
    modes = (TensorDebugMode.CONCISE_HEALTH, TensorDebugMode.FULL_HEALTH) * 2
    for step, mode in enumerate(modes):
        value = floats(1.0, np.nan if mode == TensorDebugMode.FULL_HEALTH else 2.0)
        made.trace("f", "log", value, mode=mode, serial=step)
        made.execution("Exp", [], {step: value}, mode=mode, line=7, serial=step)
    snapshot = Snapshot(made.open())
    for kind, pane in (("graph_execution", "graph_execution"), ("execution", "timeline")):
        focus, seen = replace(first_focus(snapshot), pane=pane), []
        for step in (1, 1, 1, -1, -1, -1):
            focus = navigation.step_computation(snapshot, focus, step)
            seen.append(focused_event(snapshot, focus))
        assert [(event.kind, event.index) for event in seen if event] == [
            (kind, index) for index in (1, 2, 3, 2, 1, 0)
        ]


def test_from_training_step_to_training_step(mnist: Snapshot, start: Focus) -> None:
    steps = mnist.run.executions.steps
    seen = []
    focus = navigation.goto(mnist, start, "exec:0")
    with contextlib.suppress(NowhereError):
        while True:
            focus = navigation.step_training(mnist, focus, 1)
            assert focus.execution is not None
            seen.append(steps.of(focus.execution))
            assert focus.place is not None
    assert seen == steps.numbers.tolist() == list(range(8))
    back = navigation.step_training(mnist, focus, -1)
    assert back.execution is not None
    assert steps.of(back.execution) == 6


@pytest.mark.parametrize("pane", PANES_OF_A_RUN)
def test_moves_stay_within_every_list(mnist: Snapshot, start: Focus, pane: str) -> None:
    focus = replace(navigation.first_alert(mnist, start), pane=pane)
    count = pane_named(pane).rows.count(mnist, focus)
    for rows, expected in ((-(10**9), 0), (10**9, count - 1), (-1, count - 2)):
        focus = navigation.move(mnist, focus, rows)
        position = pane_named(pane).rows.position(mnist, focus)
        assert position is not None
        assert position == max(0, expected)


def test_bad_only_lists_the_alerts_of_graph_executions(mnist: Snapshot, start: Focus) -> None:
    focus = replace(navigation.first_alert(mnist, start), pane="graph_execution")
    focus = navigation.toggle_bad_only(mnist, focus)
    ((_, text),) = focus.filters
    bad = mnist.run.graph_executions.alert_rows[:]
    mnist = mnist.listing({("graph_execution", text): Listed(bad, 320, complete=True)})
    assert pane_named("graph_execution").rows.count(mnist, focus) == len(bad) < 320
    assert pane_named("graph_execution").rows.position(mnist, focus) == 0
    assert navigation.move(mnist, focus, 1).graph_execution == 142


def test_library_frames_are_folded_until_unfolded(mnist: Snapshot, start: Focus) -> None:
    focus = replace(navigation.first_alert(mnist, start), pane="stack_trace")
    folded = FRAMES.count(mnist, focus)
    unfolded = navigation.toggle_library_frames(focus)
    assert folded < FRAMES.count(mnist, unfolded) == len(mnist.frames(focus))
    inner = navigation.step_frame(mnist, focus, 1)
    assert FRAMES.rows(mnist, inner)[FRAMES.position(mnist, inner) or 0].folded
    assert navigation.enter(mnist, inner).library_frames


def test_a_file_sticks_once_its_innermost_frame_is_chosen(mnist: Snapshot, start: Focus) -> None:
    focus = navigation.first_alert(mnist, start)
    frames = mnist.frames(focus)
    library = next(i for i, f in enumerate(frames) if f.path and "site-packages" in f.path)
    last_in_file = max(i for i, f in enumerate(frames) if f.path == frames[library].path)
    stuck = focus_frame(mnist, focus, last_in_file)
    assert stuck.sticky
    later = navigation.step_alert(mnist, stuck, 1)
    assert later.place is not None
    assert later.place.path == frames[library].path
    assert not focus_frame(mnist, focus, 0).sticky


def test_search_wraps_and_says_when_there_is_nothing(mnist: Snapshot, start: Focus) -> None:
    focus = replace(start, pane="graph_execution")
    found = search(mnist, focus, "softmax", 1)
    assert focused_name(mnist, found) == "Softmax:0"
    before = search(mnist, found, "Softmax", -1)
    assert before.graph_execution is not None
    assert before.graph_execution > 139, "the search wraps around"
    with pytest.raises(NowhereError, match="not found"):
        search(mnist, focus, "softMax", 1)


@pytest.mark.parametrize("pane", PANES_OF_A_RUN)
def test_every_list_can_be_searched(mnist: Snapshot, start: Focus, pane: str) -> None:
    text = {"source_code": "tf.math.log", "stack_trace": "<module>", "graph_structure": "mul"}
    focus = replace(navigation.first_alert(mnist, start), pane=pane)
    wanted = text.get(pane, "loss" if pane == "timeline" else "mul")
    found = search(mnist, focus, wanted, 1)
    assert found != focus or pane == "source_code"


def test_goto(mnist: Snapshot, start: Focus) -> None:
    assert navigation.goto(mnist, start, "trace:141").graph_execution == 141
    assert navigation.goto(mnist, start, "exec:1,061").execution == 1061
    alert = navigation.goto(mnist, start, "alert:2")
    assert (alert.pane, focused_name(mnist, alert)) == ("alerts", "mul:0")
    log = navigation.goto(mnist, start, "Log:0")
    assert log.op is not None
    assert (log.op.name, log.pane) == ("Log", "graph_structure")
    line = navigation.goto(mnist, start, "debug_mnist.py:12")
    assert line.place is not None
    assert (line.place.line, line.pane) == (12, "source_code")
    assert navigation.goto(mnist, replace(start, pane="timeline"), "7").execution == 7


def test_goto_an_op_goes_to_its_first_computation(mnist: Snapshot, start: Focus) -> None:
    rows = [row for row, trace in enumerate(mnist.run.graph_executions) if trace.op_name == "Log"]
    assert len(rows) > 1
    for row in (0, rows[-1]):
        from_there = focus_graph_execution(mnist, start, row)
        assert navigation.goto(mnist, from_there, "Log").graph_execution == rows[0]


def test_goto_a_batch_of_an_epoch(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.fit_batch(0, 1, 1)
    made.fit_batch(30, 2, 1)
    for step in (0, 20, 40, 50):  # with every=20, and one more
        made.execution("Mul", [], {1: np.full(4, 2, np.float32)}, step=step)
    snapshot = Snapshot(made.open())
    focus = first_focus(snapshot)
    for target, execution in (
        ("epoch:2", 2),
        ("epoch 1", 0),
        ("batch 21 of epoch 1", 1),
        ("batch 21 of epoch 2", 3),
    ):
        assert navigation.goto(snapshot, focus, target).execution == execution
    with pytest.raises(NowhereError, match="no batch 1 of an epoch 3"):
        navigation.goto(snapshot, focus, "epoch 3")


@pytest.mark.parametrize(
    "target",
    [
        *("trace:99999999999999999999", "exec:1062", "alert:0", "alert:496"),
        *("no such op", "nosuch:1", "debug_mnist.py:9999"),
    ],
)
def test_goto_nowhere_is_a_sentence(mnist: Snapshot, start: Focus, target: str) -> None:
    with pytest.raises(NowhereError, match=r"there is no|no op, line or index"):
        navigation.goto(mnist, start, target)


def test_following_numbers_through_loops_always_leads_on(control_flow: Snapshot) -> None:
    focus = first_focus(control_flow)
    for index in range(0, len(control_flow.run.graph_executions), 7):
        focus = replace(navigation.goto(control_flow, focus, f"trace:{index}"))
        for action in (navigation.to_producer, navigation.to_consumer):
            with contextlib.suppress(NowhereError):
                assert action(control_flow, focus) != focus


def test_going_to_a_step_and_to_a_file(mnist: Snapshot, start: Focus) -> None:
    steps = mnist.run.executions.steps
    focus = navigation.goto(mnist, start, "step:2")
    assert focus.pane == "timeline"
    assert focus.execution == steps.first_execution(2)
    assert navigation.goto(mnist, start, "step 2") == focus
    with pytest.raises(NowhereError, match="nothing of step 999,999"):
        navigation.goto(mnist, start, "step:999999")
    focus = navigation.goto(mnist, start, "debug_mnist.py")
    assert focus.place is not None
    assert (focus.pane, focus.place.line) == ("source_code", 1)


@pytest.mark.parametrize("step", [1, -1])
def test_from_a_pane_that_is_not_there_the_way_leads_to_one_that_is(
    tmp_path: Path, step: int
) -> None:
    made = Program(tmp_path)
    made.execution("Fill", [], {0: floats(1.0)})
    snapshot = Snapshot(made.open())
    there = [spec.name for spec in present_panes(snapshot)]
    absent = next(spec.name for spec in numbered_panes() if spec.name not in there)
    focus = replace(first_focus(snapshot), pane=absent)
    assert navigation.cycle_pane(snapshot, focus, step).pane in there
