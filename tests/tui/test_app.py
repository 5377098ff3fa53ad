"""Keys, mouse and messages of the app, on recorded logdirs."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING
from unittest.mock import Mock

import numpy as np
import pytest
from textual import events
from textual.content import Content
from textual.widgets import OptionList

from tests.diagnosis.tiny import Program, asked_behind_an_overflow, floats
from tests.tui.screens.test_layers import program
from tfdbg_tui import diagnosis
from tfdbg_tui.diagnosis import TensorEvent
from tfdbg_tui.tui.actions.registry import ACTIONS
from tfdbg_tui.tui.app import TfdbgApp
from tfdbg_tui.tui.background import surveyor
from tfdbg_tui.tui.background.diagnoser import Diagnosed
from tfdbg_tui.tui.bars.key_bar import KeyBar
from tfdbg_tui.tui.navigation import first_focus
from tfdbg_tui.tui.panes import numbered_panes
from tfdbg_tui.tui.panes.base import Pane
from tfdbg_tui.tui.panes.timeline import ExecutionTimeline
from tfdbg_tui.tui.session.focusing import focus_graph_execution, focused_event
from tfdbg_tui.tui.session.snapshot import Snapshot
from tfdbg_tui.tui.terminal.text import ASCII

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open, Opened


def screen_lines(app: TfdbgApp) -> list[str]:
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip) for strip in strips]


async def test_a_click_before_anything_is_read_does_nothing(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        timeline, session = opened.app.query_one(ExecutionTimeline), opened.app.session
        before, snapshot = opened.focus, session.snapshot
        x, y = timeline.content_region.offset
        session.snapshot = None
        timeline.on_click(events.Click(timeline, x + 40, y, 0, 0, 1, False, False, False))
        session.snapshot = snapshot
        await opened.pilot.pause()
        assert opened.focus == before


async def test_digits_tab_and_clicks_choose_panes(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        panes = [spec.name for spec in numbered_panes() if spec.is_there(opened.snapshot)]
        for number, pane in enumerate(panes, 1):
            await opened.press(str(number))
            assert opened.focus.pane == pane
            assert opened.active_pane() == pane
        await opened.press("tab")
        assert opened.focus.pane == "alerts"
        await opened.press("shift+tab")
        assert opened.focus.pane == "stack_trace"
        await opened.pilot.click("#timeline", offset=(3, 1))
        assert opened.focus.pane == "timeline"


async def test_a_click_on_the_chosen_row_of_another_pane_stays_there(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3", "alt+5")
        await opened.pilot.click("#graph_execution", offset=(10, 2))
        assert (opened.focus.pane, opened.focus.graph_execution) == ("graph_execution", 0)
        await opened.pilot.click("#graph_execution", offset=(10, 2))
        assert opened.focus.pane == "graph_structure", "the second one drills in"


async def test_a_key_that_does_nothing_says_so(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("x")
        assert "no action has the key x" in opened.screen().splitlines()[-1]
        await opened.press("at")
        assert "no action has the key @:" in opened.screen().splitlines()[-1]
        for action in ACTIONS:
            for key in action.keys if action.id not in ("quit", "suspend") else ():
                opened.app.parts.main.keys.hush()
                await opened.pilot.press(key)
                assert "no action has" not in opened.app.parts.main.keys.message, key
                await opened.pilot.press("escape")


@pytest.mark.parametrize("before", [["V"], ["backslash", *"bad"], ["question_mark"]])
async def test_a_key_that_the_terminal_joins_to_escape_follows_it(
    open_app: Open, logdirs: RecordedLogdirs, before: list[str]
) -> None:
    async with open_app(logdirs["mnist"], at_root=True) as opened:
        await opened.press(*before)
        assert opened.app._driver is not None
        opened.app._driver.send_message(events.Key("alt+w", "w"))  # of ESC w
        await opened.press()
        assert len(opened.app.screen_stack) == 1
        assert not opened.app.query("Prompt")
        assert opened.focus.pane == "why"


async def test_keys_that_come_as_the_app_ends_do_nothing(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        before = opened.focus
        opened.app.exit(0)
        for action in ACTIONS:
            opened.app.action_act(action.id)
        assert opened.focus == before
        assert len(opened.app.screen_stack) == 1


async def test_moving_in_lists(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3", "j", "down", "k")
        assert opened.focus.graph_execution == 1
        page = opened.app.query_one("#graph_execution", Pane).page_rows
        await opened.press("pagedown")
        assert opened.focus.graph_execution == 1 + page
        await opened.press("ctrl+u", "G")
        assert opened.focus.graph_execution == 319
        await opened.press("g")
        assert opened.focus.graph_execution == 0


async def test_the_timeline_moves_by_boxes_and_by_lines(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("2", "l", "right", "h")
        assert opened.focus.execution == 1
        begins = opened.snapshot.run.executions.steps.first_execution(0)
        await opened.press("j")
        assert opened.focus.execution == begins + 1, "a step begins the next line"
        stride = opened.app.query_one(ExecutionTimeline).stride
        await opened.press("j")
        assert opened.focus.execution == begins + 1 + stride, "which is longer than a line"
        await opened.press("k", "k")
        assert opened.focus.execution == 1


async def test_steps_that_were_counted_are_told_as_that(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], at_root=True) as opened:
        details = [line for line in opened.screen().split("\n") if "step 3 (counted)" in line]
        assert len(details) == 2, "of the execution, and of the tensor in its graph"


async def test_a_line_begins_where_a_training_step_does(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        executions = opened.snapshot.run.executions
        counted = executions.steps
        await opened.press("2", *":step:1", "enter")
        first = counted.first_execution(1)
        assert opened.focus.execution == first
        assert " step 1 M◀" in opened.screen(), "also where they were counted"
        assert "steps counted" in opened.screen()
        await opened.press("j")
        second = counted.first_execution(2)
        assert first is not None
        assert second is not None
        assert first < opened.focus.execution <= second


async def test_clicks_focus_rows_boxes_frames_and_ops(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a")
        await opened.pilot.click("#graph_execution", offset=(10, 3))
        assert opened.focus.graph_execution == 137
        await opened.pilot.click("#stack_trace", offset=(5, 2))
        assert (opened.focus.pane, opened.focus.frame) == ("stack_trace", 0)
        await opened.pilot.click("#graph_structure", offset=(5, 2))
        assert opened.focus.pane == "graph_structure"
        await opened.pilot.click("#timeline", offset=(1 + 7 + 1 + 2 * 3, 2))
        assert opened.focus.execution is not None
        await opened.pilot.click("#timeline", offset=(1 + 7 + 31, 1))
        assert opened.focus.execution == 531, "half of them, in the overview"
        await opened.pilot.click("#keys", offset=(2, 0))
        assert opened.app.is_running


async def test_a_click_on_the_overview_of_a_small_screen_goes_there(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (80, 24)) as opened:
        await opened.pilot.click("#overview", offset=(1 + 39, 0))
        assert (opened.focus.pane, opened.focus.execution) == ("timeline", 531)


async def test_search_with_next_and_previous(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3", "slash")
        await opened.type("softmax")
        first = opened.focus.graph_execution
        await opened.press("n")
        assert first is not None
        assert opened.focus.graph_execution > first
        await opened.press("N")
        assert opened.focus.graph_execution == first
        await opened.press("slash", "escape")
        assert opened.app.focused is None
        await opened.press("slash")
        await opened.type("zzz")
        assert opened.app.query_one(KeyBar).message == "not found in Graph Execution: zzz"


async def test_goto_and_history(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("colon")
        await opened.type("trace:88")
        assert opened.focus.graph_execution == 88
        await opened.press("colon")
        await opened.type("trace:200")
        await opened.press("backspace")
        assert opened.focus.graph_execution == 88
        await opened.press("alt+right")
        assert opened.focus.graph_execution == 200


async def test_stack_frames_move_the_source(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "u", "u")
        assert opened.focus.place is not None
        assert "debug_mnist.py:216" in opened.screen()
        await opened.press("d")
        assert "does not hold its text" in opened.screen(), "a file of a library"
        await opened.press("6", "H")
        assert opened.focus.library_frames


async def test_the_footer_says_how_to_get_all_branches_back(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "4")
        assert " b only what leads to NaN" in opened.screen().splitlines()[-1]
        await opened.press("b")
        assert " b all branches " in opened.screen().splitlines()[-1]


async def test_a_long_name_is_told_whole_in_two_lines(open_app: Open, tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("f", "f")
    name = f"optimizer/{'forward_lstm_cell_kernel_' * 3}momentum/Initializer/zeros"
    made.op("f", "Const", name)
    made.trace("f", name, floats(1.0))
    made.open()
    for size in ((80, 24), (100, 40)):
        async with open_app(tmp_path, size) as opened:
            await opened.press("alt+3", "z")
            lines = "".join(line.strip("│ ") for line in opened.screen().split("\n"))
            assert f"{name}:0 · float32" in lines


async def test_filter_help_and_copy(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "f")
        assert "bad: 166" in opened.screen()
        await opened.press("c")
        assert opened.app.clipboard == "Log:0"
        await opened.press("question_mark")
        assert "go to the next alert" in opened.screen()
        await opened.press("G")
        assert "(counted)  " in opened.screen()
        await opened.press("escape")
        assert "Graph Execution" in opened.screen()


async def test_the_diagnosis_is_copied_as_text(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "i", "Y")
        lines = opened.app.clipboard.splitlines()
        assert lines[0] == "Logarithm of a softmax that came out as 0  [proved]"
        assert lines[1].strip().endswith("debug_mnist.py:183 in loss")
        assert lines[2].strip().startswith("diff = -labels * tf.math.log(probs)")
        assert "+ tf.math.log(tf.clip_by_value(probs, 1e-7, 1.0))" in opened.app.clipboard
        assert lines[-1].strip().startswith("mul:0 in loss: 3 NaN")
        await opened.press("5", "c")
        assert opened.app.clipboard.endswith("debug_mnist.py:183")


async def test_within_tmux_its_buffer_gets_the_text(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tmux = tmp_path / "tmux"
    tmux.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/called\ncat >> {tmp_path}/called\n')
    tmux.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("TMUX", "here")
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "c")
        assert (tmp_path / "called").read_text() == "load-buffer -w -\nLog:0"
        assert "tmux" in opened.app.query_one(KeyBar).message


async def test_a_dump_without_values_does_not_pass_for_healthy(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["shape"]) as opened:
        screen = opened.screen()
        assert "alerts unknown" in screen
        assert "no alerts" not in screen
        assert "says nothing about NaN" in screen
        await opened.press("a")
        assert "says nothing about NaN" in opened.app.query_one(KeyBar).message
        await opened.press("3", "w")
        assert "is finite" not in opened.screen()
        await opened.press("exclamation_mark")
        lines = [line.strip("│ ") for line in opened.screen().splitlines()]
        assert any(line.startswith("tfdbg-tui run --tensor-debug-mode") for line in lines)
        await opened.press("escape")
        assert opened.active_pane() == "why"


async def test_why_in_alerts_is_about_an_alert(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        assert opened.focus.alert is None
        await opened.press("1", "w")
        assert "proved" in opened.screen()


async def test_opens_where_it_is_told_to(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"], at="trace:88") as opened:
        assert (opened.focus.graph_execution, opened.focus.pane) == (88, "graph_execution")


async def test_a_session_without_executions(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["session"]) as opened:
        await opened.press("a")
        assert "No eager executions recorded." in opened.screen()
        assert "log:0" in opened.screen()


@pytest.mark.parametrize(
    "name", ["no_tensor", "curt_health", "concise_health", "full_health", "shape", "full_tensor"]
)
async def test_every_debug_mode_is_shown(
    open_app: Open, logdirs: RecordedLogdirs, name: str
) -> None:
    expected = {"no_tensor": "no value recorded", "curt_health": "all finite", "shape": "["}
    async with open_app(logdirs[name]) as opened:
        await opened.press("3", "j", "G", "k")
        assert expected.get(name, "·") in opened.screen()


async def test_a_tensor_itself_is_shown_where_it_was_recorded(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["full_tensor"]) as opened:
        await opened.press("a", "v")
        event = focused_event(opened.snapshot, opened.focus)
        tensor = opened.snapshot.tensor(event)
        bad = np.argwhere(~np.isfinite(tensor)).tolist()
        assert bad
        assert f"{len(bad):,} of {tensor.size:,} elements are NaN or infinite" in opened.screen()
        assert tensor[tuple(bad[0])] == -np.inf
        assert f"{bad[0]}  −∞  1 of" in opened.screen()
        await opened.press("v")
        assert opened.active_pane() is not None
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "v")
        said = opened.app.query_one(KeyBar).message
        assert "record again with --tensor-debug-mode FULL_TENSOR" in said
        assert "X " not in said, "the program has ended"


async def test_devices_and_hosts_are_told_apart(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mirrored"], (200, 60)) as opened:
        await opened.press("3", "z")
        assert "device" in opened.screen()
        assert "CPU:1" in opened.screen()


async def test_several_runs_are_chosen_from(logdirs: RecordedLogdirs, tmp_path: Path) -> None:
    for name in ("session", "shape"):
        shutil.copytree(logdirs[name], tmp_path / name)
    app = TfdbgApp(str(tmp_path))
    async with app.run_test(size=(100, 30)) as pilot:
        for _ in range(100):
            await pilot.pause(0.02)
            if len(app.screen_stack) > 1:
                break
        await pilot.press("down", "enter")
        for _ in range(100):
            await pilot.pause(0.02)
            if app.session.snapshot is not None:
                break
        assert app.session.snapshot is not None
        opened = app.session.snapshot.run.files.directory
        await pilot.press("R")
        (chosen,) = (line for line in screen_lines(app) if "│▶" in line)
        assert f"▶{os.path.basename(opened)} " in chosen, "the run that is shown"


async def test_the_verdict_of_the_run_that_is_shown_is_known(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surveyor, "_LARGEST", 0)
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("R")
        (line,) = (one for one in opened.screen().splitlines() if "495 alerts" in one)
        assert "bad" in line
        assert "open to see" not in opened.screen()


async def test_what_a_list_of_runs_has_found_the_next_one_knows(
    logdirs: RecordedLogdirs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diagnose = Mock(wraps=diagnosis.diagnose)
    monkeypatch.setattr(diagnosis, "diagnose", diagnose)
    for name in ("session", "mnist"):
        shutil.copytree(logdirs[name], tmp_path / name / "dump")
    app = TfdbgApp(str(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:

        async def until(is_so: Callable[[], bool]) -> None:
            for _ in range(400):
                await pilot.pause(0.02)
                if is_so():
                    break
            assert is_so()

        def all_known() -> bool:
            return sum(" bad " in line for line in screen_lines(app)) == 2

        await until(all_known)
        await pilot.press("enter")
        await until(lambda: app.session.snapshot is not None)
        await pilot.press("R")
        await until(all_known)
        assert diagnose.call_count == 2


async def test_columns_of_the_list_of_runs_stand_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        asked_behind_an_overflow(tmp_path / name, 500).open()
    app = TfdbgApp(str(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        for _ in range(400):
            await pilot.pause(0.02)
            if any("harmless" in line for line in screen_lines(app)):
                break
        assert any(" 1,000 harmless " in line for line in screen_lines(app))


async def test_many_runs_are_listed_in_ascii(
    logdirs: RecordedLogdirs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surveyor, "_LARGEST", 0)
    for number in range(24):
        shutil.copytree(logdirs["shape"], tmp_path / str(number))
    app = TfdbgApp(str(tmp_path), charset=ASCII)
    async with app.run_test(size=(80, 24)) as pilot:
        for _ in range(400):
            await pilot.pause(0.02)
            if "24 runs" in "".join(screen_lines(app)):
                break
        assert "".join(screen_lines(app)).isascii(), "the scrollbar as well"


async def test_runs_are_filtered_by_what_is_typed(logdirs: RecordedLogdirs, tmp_path: Path) -> None:
    for name in ("session", "mnist"):
        shutil.copytree(logdirs[name], tmp_path / name / "dump")
    app = TfdbgApp(str(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        for _ in range(400):
            await pilot.pause(0.02)
            lines = screen_lines(app)
            if any("mnist/dump" in line and "bad" in line for line in lines):
                break
        (line,) = [line for line in lines if "mnist/dump" in line]
        assert "495 alerts" in line
        assert any("session/dump" in line for line in lines)
        await pilot.press("down")
        marked = [line for line in screen_lines(app) if "▶" in line]
        chosen = app.screen.query_one(OptionList).highlighted_option
        assert chosen is not None
        assert isinstance(chosen.prompt, Content)
        assert {span.style for span in chosen.prompt.spans} == {"bold"}, "legible on its background"
        await pilot.press("up")
        assert marked != [line for line in screen_lines(app) if "▶" in line] != []
        await pilot.press(*"mnist bad")
        assert not any("session/dump" in line for line in screen_lines(app))
        await pilot.press("z")
        told = "\n".join(screen_lines(app))
        assert "0 of 2 runs" in told
        assert "No run holds that" in told
        assert "Esc lists all" in told
        await pilot.press("escape", *"mnist bad")
        told = "\n".join(screen_lines(app))
        assert "1 of 2 runs" in told, "Esc has ended the filter, and not the app"
        await pilot.press("enter")
        for _ in range(200):
            await pilot.pause(0.02)
            if app.session.snapshot is not None:
                break
        assert app.session.snapshot is not None
        assert app.session.snapshot.run.files.directory.endswith("mnist/dump")


async def test_opens_on_the_first_root_and_stays_where_the_user_goes(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], at_root=True) as opened:
        assert (opened.focus.pane, opened.focus.graph_execution) == ("alerts", 141)
        assert "183" in opened.screen()
        assert "fix: " in opened.screen()
        opened.app.session.focus = first_focus(opened.snapshot)
        await opened.press("5")
        opened.app.post_message(Diagnosed(opened.snapshot.explanation))
        await opened.pilot.pause()
        assert opened.focus.graph_execution == 141, "another pane is no other tensor"
        await opened.press("3")
        opened.app.post_message(Diagnosed(opened.snapshot.explanation))
        await opened.pilot.pause()
        assert opened.focus.pane == "graph_execution", "it is on the root already"
        await opened.press("g")
        opened.app.post_message(Diagnosed(opened.snapshot.explanation))
        await opened.pilot.pause()
        assert opened.focus.graph_execution == 0


@pytest.mark.parametrize("key", ["", "5", "j"])
async def test_who_asks_for_the_root_before_the_diagnosis_is_taken_there_when_it_comes(
    open_app: Open, logdirs: RecordedLogdirs, key: str
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        explanation, session = opened.snapshot.explanation, opened.app.session
        assert explanation is not None
        session.snapshot, session._explanation = Snapshot(opened.snapshot.run), None
        await opened.press("a")
        assert "first alert in time" in opened.app.query_one(KeyBar).message
        assert opened.focus.alert is not None
        assert opened.focus.cause is None
        await opened.press(*key)
        opened.app.post_message(Diagnosed(explanation))
        await opened.pilot.pause()
        if key == "j":
            assert opened.focus.cause is None, "the user has gone somewhere else"
        else:
            assert opened.focus.cause == explanation.first
            assert "this is the first root" in opened.app.query_one(KeyBar).message


async def _undiagnosed(opened: Opened, then: Sequence[str]) -> None:
    """Presses keys in a run that has been read and not diagnosed, and diagnoses it."""
    explanation, session = opened.snapshot.explanation, opened.app.session
    session.snapshot, session._explanation = Snapshot(opened.snapshot.run), None
    await opened.press(*then)
    opened.app.post_message(Diagnosed(explanation))
    await opened.pilot.pause()


async def test_why_before_the_diagnosis_is_why_of_the_root(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await _undiagnosed(opened, ("2", "w"))
        assert opened.focus.pane == "why"
        assert not opened.app.query_one(KeyBar).message
        explanation = opened.snapshot.explanation
        assert explanation is not None
        assert opened.focus.why == explanation.first
        opened.app.post_message(Diagnosed(explanation))
        await opened.pilot.pause()
        assert opened.focus.pane == "why", "as long as the user stays there"
        await opened.press("escape")
        assert opened.focus.pane == "alerts"
        await _undiagnosed(opened, ("3", "g", "w"))
        assert opened.focus.why == TensorEvent("graph_execution", 0, 0), "of what is chosen"


@pytest.mark.parametrize("key", ["a", "w"])
async def test_who_asks_for_the_root_of_a_healthy_run_is_told_that_there_is_none(
    open_app: Open, tmp_path: Path, key: str
) -> None:
    program(tmp_path, steps=6).open()
    async with open_app(tmp_path) as opened:
        await _undiagnosed(opened, (key,))
        message = opened.app.query_one(KeyBar).message
        assert message == "diagnosed: no tensor with NaN or ∞ has been recorded"
        assert opened.focus.pane == "alerts"


@pytest.mark.parametrize("keys", ["exclamation_mark", "V escape", "M escape", "c", "n"])
async def test_keys_that_lead_nowhere_do_not_keep_the_app_from_the_root(
    open_app: Open, logdirs: RecordedLogdirs, keys: str
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await _undiagnosed(opened, keys.split())
        explanation = opened.snapshot.explanation
        assert explanation is not None
        assert opened.focus.pane == "alerts", "on the root, as without a key"
        assert opened.focus.cause == explanation.first


@pytest.mark.parametrize("box", ["V", "M"])
async def test_what_is_chosen_in_a_box_before_the_diagnosis_stays_chosen(
    open_app: Open, logdirs: RecordedLogdirs, box: str
) -> None:
    async with open_app(logdirs["full_tensor"]) as opened:
        await _undiagnosed(opened, (box, "enter"))
        assert opened.focus.pane in ("graph_execution", "timeline")


async def test_opens_on_the_largest_number_where_nothing_is_bad(
    open_app: Open, tmp_path: Path
) -> None:
    program(tmp_path, steps=6).open()
    async with open_app(tmp_path, at_root=True) as opened:
        assert (opened.focus.pane, opened.focus.graph_execution) == ("alerts", 25)
        for told in ("Closest to the limit of its type,", "1.02e+03 of 6.55e+04 (float16)"):
            assert told in opened.screen()
        opened.app.session.focus = focus_graph_execution(opened.snapshot, opened.focus, 20)
        opened.app.post_message(Diagnosed(opened.snapshot.explanation))
        await opened.pilot.pause()
        assert opened.focus.graph_execution == 20, "once, not whenever a run has grown"


async def test_waits_for_a_run_and_grows_with_it(logdirs: RecordedLogdirs, tmp_path: Path) -> None:
    app = TfdbgApp(str(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        for _ in range(100):
            await pilot.pause(0.02)
            if "tfdbg_events" in app.session.waiting:
                break
        assert "tfdbg_events" in app.session.waiting
        page = " ".join(" ".join(screen_lines(app)).replace("│", " ").split())
        for command in ("tfdbg-tui run --logdir", "--follow", "tfdbg-tui demo"):
            assert command in page
        for file in logdirs["session"].iterdir():
            shutil.copy(file, tmp_path)
        for _ in range(1000):
            await pilot.pause(0.02)
            if app.session.focus.graph_execution == 7:
                break
        assert app.session.focus.graph_execution == 7, "the first root"


async def test_where_there_is_no_dump_nothing_is_said_of_it(tmp_path: Path) -> None:
    app = TfdbgApp(str(tmp_path))
    async with app.run_test() as pilot:
        await pilot.press("exclamation_mark")
        assert app.query_one(KeyBar).message == "there is no dump yet"


async def test_a_click_above_all_goes_to_the_first_root(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (160, 40)) as opened:
        (line,) = (row for row in opened.screen().split("\n") if row.startswith(" tfdbg-tui"))
        for what in ("alert", "root"):
            await opened.press("3", "G")
            before = opened.focus
            await opened.pilot.click("#status", offset=(line.index(what), 0))
            assert opened.focus.alert is not None
            assert (opened.focus.pane, opened.focus) != (before.pane, before)
        await opened.press("3", "G")
        before = opened.focus
        await opened.pilot.click("#status", offset=(line.index("graph executions"), 0))
        assert opened.focus == before
