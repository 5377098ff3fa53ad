"""All panes agree on where one is, and keys act on what the focused pane shows as chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis import TensorEvent
from tfdbg_tui.diagnosis.report.explanation import Explanation
from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.bars.key_bar import KeyBar
from tfdbg_tui.tui.navigation import first_focus
from tfdbg_tui.tui.session.snapshot import Snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open


async def test_keys_act_on_what_the_focused_pane_shows_as_chosen(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (80, 24), at_root=True) as opened:
        for keys in (("a", ")"), ("2", ")", "3"), ("3", "j", "2", "l", "3")):
            await opened.press(*keys)
            chosen = TensorEvent("graph_execution", opened.focus.graph_execution, 0)
            name = opened.snapshot.tensor_name(chosen)
            assert any(f" {name} " in line for line in opened.lines_with_background("focus-back"))
            await opened.press("c")
            assert opened.app.query_one(KeyBar).message.endswith(f": {name}")
            await opened.press("w")
            assert opened.focus.why == chosen, keys
            await opened.press("escape")
        await opened.press("3", "j", "2", "w")
        assert opened.focus.why == TensorEvent("execution", opened.focus.execution, 0)
        await opened.press("escape", "1", "c")
        name = opened.snapshot.tensor_name(opened.focus.alert)
        assert opened.app.query_one(KeyBar).message.endswith(f": {name}")


async def test_from_alerts_a_step_is_gone_to_where_it_is_listed(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], at_root=True) as opened:
        await opened.press("1", ")")
        assert opened.focus.pane == "timeline"


async def test_graph_execution_goes_along_with_steps_and_executions(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        run, steps = opened.snapshot.run, opened.snapshot.run.executions.steps
        rows = range(len(run.graph_executions))
        step_of_row = [steps.of(opened.snapshot.execution_of(row)) for row in rows]
        for number in steps.numbers.tolist():
            await opened.press("colon")
            await opened.type(f"step:{number}")
            assert opened.focus.graph_execution == step_of_row.index(number)
        await opened.press("2", "g")
        calls = {opened.snapshot.execution_of(row) for row in rows}
        for _ in range(150):
            await opened.press("l")
            execution = opened.focus.execution
            if execution in calls:
                assert opened.snapshot.execution_of(opened.focus.graph_execution) == execution
        await opened.press("3", "j")
        row, execution = opened.focus.graph_execution, opened.focus.execution
        await opened.press("2", "3", "2", "6", "1", "3")
        assert (opened.focus.graph_execution, opened.focus.execution) == (row, execution)


@pytest.fixture
def call_without_a_record(tmp_path: Path) -> Snapshot:
    """A call whose output is not on record, of a function that computes NaN."""
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("train", "train", "root")
    made.op("train", "Log", "log")
    made.op("train", "Mul", "finite")
    made.execution("Fill", [], {1: floats(1.0)})
    made.trace("train", "finite", floats(1.0))
    made.trace("train", "log", floats(np.nan))
    made.execution("__inference_train_7", [], {}, graph_id="train")
    return Snapshot(made.open())


def test_why_a_call_tells_nothing_is_asked_of_what_is_bad_inside(
    call_without_a_record: Snapshot,
) -> None:
    snapshot = call_without_a_record
    snapshot = snapshot.explained(Explanation(snapshot.run, snapshot.alerts))
    start = replace(first_focus(snapshot), pane="timeline")
    call = navigation.move_to(snapshot, start, 1)
    assert navigation.why(snapshot, call).why == TensorEvent("graph_execution", 1, 0)
    fill = navigation.move_to(snapshot, start, 0)
    assert navigation.why(snapshot, fill).why == TensorEvent("execution", 0, 0)
