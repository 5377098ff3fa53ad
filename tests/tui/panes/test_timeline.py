"""The boxes of the timeline, and what stands between them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import numpy as np

from tests.diagnosis.tiny import Program
from tfdbg_tui.tui.panes.timeline import ExecutionTimeline
from tfdbg_tui.tui.terminal.text import UNICODE
from tfdbg_tui.wire import events, omissions, tfrecord
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open


async def test_pauses_of_recording_are_shown(
    open_app: Open, logdirs: RecordedLogdirs, tmp_path: Path
) -> None:
    logdir = shutil.copytree(logdirs["mnist"], tmp_path / "logdir")
    pause = events.Omission(omissions.PAUSED, "pause 1", "the user has asked for it", executions=30)
    (metadata,) = logdir.glob("*.metadata")
    with metadata.open("ab") as file:
        file.write(tfrecord.frame(events.DebugEvent(1.0, omission=pause.encode()).encode()))
    async with open_app(logdir) as opened:
        await opened.press("2", "g")
        assert opened.screen().count(UNICODE.pause) == 2  # among the boxes, and in the overview
        await opened.press(*"l" * 29)
        assert "after a pause" not in opened.screen()
        await opened.press("l")
        assert opened.focus.execution == 30
        assert "after a pause" in opened.screen()
        assert opened.app.query_one(ExecutionTimeline).page_rows < 8
        await opened.press("z")
        assert opened.app.query_one(ExecutionTimeline).page_rows > 20, "boxes fill a tall pane"


async def test_what_is_told_of_an_execution_takes_the_blank_lines_kept_for_it(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.execution("SparseSoftmaxCrossEntropyWithLogits" * 2, [], {1: np.zeros(3, np.float32)})
    made.open()
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press("2")
        lines = opened.screen().split("\n")
        at = next(y for y, line in enumerate(lines) if "0 in → 1 out" in line)
        assert lines[at].strip().endswith("FULL_HEALTH")
        assert lines[at - 1].strip().endswith("CrossEntropyWithLogits")
        assert ":0 float32" in lines[at + 1]


async def test_inputs_without_a_record_take_no_room_from_the_boxes(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    ones, variables = np.ones(3, np.float32), range(2, 30)
    for number in range(40, 240):
        made.execution("step", [1, *variables], {number: ones}, given=(ones, *[None] * 28))
    made.open()
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press("2")
        assert "  in 0 float32" in opened.screen()
        assert "  in 1 " not in opened.screen()
        assert opened.app.query_one(ExecutionTimeline).page_rows > 3


async def test_the_mode_is_the_one_that_was_asked_for(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    """No record is in ADAPTIVE: it takes one of TensorFlow's modes for each."""
    for name, told in (("nested_loops", "ADAPTIVE"), ("concise_health", "CONCISE_HEALTH")):
        async with open_app(logdirs[name], (120, 40)) as opened:
            await opened.press("2", "z", "G")
            execution = opened.snapshot.run.executions[-1]
            assert execution.mode == TensorDebugMode.CONCISE_HEALTH
            assert opened.screen().count(f" · {told}") == 1


async def test_the_batch_of_a_step_is_told_rather_than_how_many_tensors_there_are(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.fit_batch(100, 4, 11)
    for step in (100, 101):
        outputs = {number: np.full(4, 2, np.float32) for number in range(9)}
        made.execution("multi_step_on_iterator", [], outputs, step=step)
    made.open()
    for width, counts in ((80, False), (200, True)):
        async with open_app(tmp_path, (width, 24)) as opened:
            await opened.press("2", "g")
            screen = opened.screen()
            assert "step 100 · batch 11 of epoch 4 · CPU:0" in screen
            assert ("0 in → 9 out" in screen) == counts


async def test_a_step_tells_its_batch_and_the_functions_that_it_calls(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "train", "root")
    made.fit_batch(100, 4, 11)
    ones = np.ones(3, np.float32)
    for step in (None, 100, 101, None):
        made.execution("__inference_train_12", [], {1: ones}, "f", step=step)
        made.execution("Mul", [], {2: ones}, step=step)
    made.open()
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press("2", "g")
        lines = [line.strip() for line in opened.screen().split("\n")]
        assert "step 100 T M  batch 11 of epoch 4 · train" in lines
        assert "step 101 T M T M  batch 12 of epoch 4 · train" in lines, "what follows, as well"
        await opened.press("j", "l", "j", "j")
        assert opened.focus.execution == 5
        await opened.press("k", "k", "k")
        assert opened.focus.execution == 1
