"""Alerts: their columns, and what is said where there are none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, asked_behind_an_overflow
from tests.tui.screens.test_layers import program
from tfdbg_tui.tui.bars.key_bar import KeyBar
from tfdbg_tui.tui.panes.graph_execution import ROWS
from tfdbg_tui.wire import events, omissions, tfrecord

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tui.conftest import Open

NAN = np.full(3, np.nan, np.float32)
NAMES = [f"gradient_tape/compile_loss/cross_entropy/transpose_{number}" for number in range(3)]


async def test_names_get_the_cells_that_no_column_takes(open_app: Open, tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("f", "loss")
    for name in NAMES:
        made.op("f", "SparseSoftmaxCrossEntropyWithLogits", name)
        made.trace("f", name, np.full(3, np.nan, np.float32))
    made.open()
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press("1", "z", "r")
        for name in NAMES:
            assert f" {name}:0 loss " in opened.screen()


async def test_a_long_function_leaves_room_for_op_types(open_app: Open, tmp_path: Path) -> None:
    made = Program(tmp_path)
    function = "__inference_sequential_encoder_transformer_layer_normalization_attention_7"
    made.graph("f", function)
    for name in NAMES:
        made.op("f", "TensorListPopBack", name)
        made.trace("f", name, NAN)
    made.open()
    async with open_app(tmp_path, (120, 40)) as opened:
        await opened.press("1", "z", "r")
        alerts = [line for line in opened.screen().split("\n") if NAMES[0] in line]
        assert any(" TensorListPopBack " in line for line in alerts)


async def test_eager_alerts_tell_their_line_and_not_the_type_that_names_them(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    for number in (1, 2):
        made.execution("UnsortedSegmentSum", [], {number: NAN}, line=7)
    made.open()
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press("1", "z", "r")
        alerts = [line for line in opened.screen().split("\n") if "UnsortedSegmentSum:0" in line]
        for number, alert in enumerate(alerts):
            told = ["UnsortedSegmentSum:0", "program.py:7", "exec", str(number), "NaN", "3"]
            assert alert.split()[-6:] == told, "alerts of one line differ in their execution"
        assert len(alerts) == 2


async def test_in_a_healthy_run_there_is_nothing_to_list_in_time(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.execution("Log", [], {1: np.ones(3, np.float32)})
    made.open()
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press("1", "r")
        assert "no tensor with NaN or ∞ has been recorded" in opened.screen()
        opened.app.query_one(KeyBar).hush()
        await opened.press()
        footer = opened.screen().split("\n")[-1]
        assert "why" in footer
        assert not re.search("sort|filter|drill in|search", footer), "there are no rows for them"


async def test_op_types_get_the_rows_that_no_cause_takes(open_app: Open, tmp_path: Path) -> None:
    made = Program(tmp_path)
    for number in range(20):
        made.execution(f"Type{number}", [number], {number + 1: NAN})
    made.open()
    async with open_app(tmp_path, (200, 60)) as opened:
        await opened.press("1", "z")
        assert "more op types" not in opened.screen()
        assert all(f"Type{number} " in opened.screen() for number in range(20))
        await opened.press("r")
        assert "and 10 more op types" in opened.screen()


async def test_the_root_of_a_pipeline_is_made_ahead_of_the_step_that_uses_it(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.graph("pipeline", "Dataset_map_f")
    made.op("pipeline", "Placeholder", "args")
    made.op("pipeline", "Log", "Log", "args:0")
    made.graph("g", "train")
    made.op("g", "Placeholder", "x")
    made.op("g", "IteratorGetNext", "Next", "x:0")
    made.op("g", "MatMul", "MatMul", "Next:0")
    made.op("g", "AssignSubVariableOp", "update", "x:0", "MatMul:0")
    made.trace("pipeline", "args", np.zeros(3, np.float32), serial=1, step=0)
    made.trace("pipeline", "Log", np.full(3, -np.inf, np.float32), serial=1, step=0)
    for step in range(3):
        used = np.full(3, -np.inf if step == 2 else 1, np.float32)
        made.trace("g", "Next", used, serial=step + 2)
        made.trace("g", "MatMul", used, serial=step + 2)
        made.execution("train", [], {}, "g", serial=step + 2)
    made.open()
    async with open_app(tmp_path, (120, 40)) as opened:
        await opened.press("1", "z", "r")
        (alert,) = (line for line in opened.screen().split("\n") if "1 Log:0 " in line)
        assert alert.strip("│▶ ").split()[1:] == [
            "Log:0",
            "Dataset_map_f",
            "Log",
            *("ahead", "of", "step", "2"),
            "−∞",
            "3",
        ]
        await opened.press("z", "w")
        assert "made ahead of step 2 of 0 to 2" in opened.screen()
        await opened.press("escape", "3")
        assert "Log:0 · made ahead of step 2" in opened.screen()
        await opened.press("backslash")
        await opened.type("step=0")
        assert ROWS.count(opened.snapshot, opened.focus) == 2
        await opened.press("escape", "1", "backslash")
        await opened.type("step=2")
        assert "step=2: 3 " in opened.screen(), "with the root, which is told to be of that step"
        assert "Log:0" in opened.screen()
        await opened.press("3", "backslash")
        await opened.type("step=2 type=Log")
        assert ROWS.count(opened.snapshot, opened.focus) == 1
        await opened.press("escape", "s", *"step", "enter", "G", *"kkk")
        assert opened.focus.graph_execution == 1, "with those of step 2, before what is in none"
        (row,) = (line for line in opened.screen().split("\n") if "▶   1 Log:0" in line)
        assert " 2 " in row
        await opened.press("escape", "1", "escape")
        await opened.press("M")
        await opened.app.workers.wait_for_complete()
        await opened.pilot.pause()
        assert "1 bad tensor outside of steps, used first in step 2" in opened.screen()


async def test_a_name_before_a_title_is_told_once_and_cuts_no_title(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.graph("f", "one_step_on_data_of_the_model")
    for number in (1, 2):
        name = f"gradient_tape/discriminator_1/global_max_pooling2d_1/truediv_{number}"
        made.op("f", "RealDiv", name, line=410)
        made.trace("f", name, NAN)
    made.open()
    for size in ((120, 40), (200, 60)):
        async with open_app(tmp_path, size) as opened:
            await opened.press("1", "z")
            rows = [line for line in opened.screen().split("\n") if "harmless 1 " in line]
            assert len(rows) == 2
            for row in rows:
                assert row.count("/global_max_pooling2d_1/truediv_") == 1
                assert " Division by zero in a gradient " in row
                assert "pooling2d_1…" not in row
                assert "one_step_on_data_of_the_model " in row or size < (200, 60)
    async with open_app(tmp_path, (200, 60)) as opened:
        alerts = "".join(line[:54] + "\n" for line in opened.screen().split("\n"))
        assert ":410 " in alerts
        assert " one_step_on_data_of_the_model " in alerts, "what has no room has a line"
    async with open_app(tmp_path, (120, 40)) as opened:
        assert ":410…" not in opened.screen()


async def test_a_name_on_its_own_lines_takes_no_counts_away(open_app: Open, tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("f", "f")
    for length in range(30, 56):
        made.op("f", "Sum", f"scope/{'x' * length}/sum", "x:0")
        made.trace("f", f"scope/{'x' * length}/sum", np.full(3, np.nan, np.float32))
    made.open()
    async with open_app(tmp_path, (60, 80)) as opened:
        await opened.press("z", "r")
        rows = [line for line in opened.screen().splitlines() if re.search(r"\d sum:0 ", line)]
        assert rows
        assert all("NaN 3" in row for row in rows), opened.screen()


async def test_what_is_missing_is_told_before_how_far_the_numbers_are(
    open_app: Open, tmp_path: Path
) -> None:
    program(tmp_path, steps=6).open()
    told = ("No NaN and no ∞ recorded", "Recording was", "Closest to the limit of its type")
    pause = events.Omission(omissions.PAUSED, "pause 1", omissions.BY_THE_USER)
    event = events.DebugEvent(1.0, omission=pause.encode())
    with open(next(tmp_path.glob("*.metadata")), "ab") as file:
        file.write(tfrecord.frame(event.encode()))
    async with open_app(tmp_path, (120, 40)) as opened:
        assert [text in opened.screen() for text in told] == [True, True, False]
        await opened.press("1", "z")
        places = [opened.screen().index(text) for text in told]
        assert places == sorted(places)


async def test_enter_goes_to_a_suspect_that_is_no_alert(open_app: Open, tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("f", "loss")
    made.op("f", "Neg", "Neg", "x:0")
    made.op("f", "Exp", "Exp", "Neg:0")
    for _ in range(20):
        made.trace("f", "Neg", np.full(64, -900.0, np.float32))
        made.trace("f", "Exp", np.zeros(64, np.float32))
    made.open()
    async with open_app(tmp_path, at_root=True) as opened:
        assert not len(opened.snapshot.alerts)
        await opened.press("1", "enter")
        assert opened.focus.pane == "graph_execution"
        assert opened.snapshot.explanation is not None
        suspect = opened.snapshot.explanation.report.suspects[0].event
        assert opened.focus.graph_execution == suspect.index
        await opened.press("right_square_bracket")
        assert "this is the first suspect" in opened.screen()


@pytest.mark.parametrize("size", [(120, 40), (200, 60)])
async def test_a_suspect_that_has_no_chain_has_its_card_where_there_is_room_for_one(
    open_app: Open, tmp_path: Path, size: tuple[int, int]
) -> None:
    asked_behind_an_overflow(tmp_path).open()
    async with open_app(tmp_path, size) as opened:
        await opened.press("a", "1", "z")
        assert not opened.snapshot.explanation.report.suspects[0].chain
        assert "fix: " in opened.screen()


async def test_a_suspect_has_its_row_though_its_tensor_is_an_alert(
    open_app: Open, tmp_path: Path
) -> None:
    asked_behind_an_overflow(tmp_path).open()
    async with open_app(tmp_path, (120, 40)) as opened:
        await opened.press("a", "1")
        assert re.search(r"▶▸ Every training step is skipped +suspect 80", opened.screen())
        await opened.press("enter", "j", "j")
        assert re.search(r"▶ +2 AddN:0", opened.screen()), "j goes on"
        await opened.press("j")
        assert re.search(r"▶ +3 gradient_tape/Cast:0", opened.screen())
        await opened.press("g", "w")
        assert "none of them is applied" in opened.screen()
        await opened.press("z")
        assert re.search(r"\+×64 +→ +\+∞×64", opened.screen()), "what came in is finite"
