"""What became of a tensor: its curve, its table, and the way to one of its computations.

After a wanted change: TFDBG_TUI_UPDATE_SCREENS=1 pytest tests/tui/screens/test_history.py
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program
from tests.tui.screens.test_layout import assert_screen
from tfdbg_tui.logdir import open_run
from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.screens.history import HistoryScreen
from tfdbg_tui.tui.session.snapshot import Snapshot
from tfdbg_tui.tui.terminal.text import ASCII
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open, Opened

CALLS = 40
OVERFLOW = 33
"""The call from which on the first output is infinite."""


def program(directory: Path, calls: int = CALLS) -> Program:
    """Returns a function of which one output grows until it overflows, and another one shrinks."""
    made = Program(directory)
    made.graph("root", "")
    made.graph("f", "f", "root")
    made.op("f", "Split", "split", "x:0", outputs=2, line=7)
    made.op("f", "Neg", "neg", "split:1", line=7)
    made.op("f", "Abs", "abs", "split:1", line=8)
    for call in range(calls):
        grown = np.full(64, 1.4**call if call < OVERFLOW else np.inf, np.float16)
        shrunk = np.full(64, 0.9**call, np.float16)
        measured = call < 10 or call % 5 == 0
        serial = call + 1
        made.trace("f", "split", grown, 0, serial=serial, extremes=measured and call < OVERFLOW)
        made.trace("f", "split", shrunk, 1, serial=serial, extremes=measured)
        made.trace("f", "neg", -shrunk, serial=serial)
        made.execution("f", [], {call: grown}, "f", serial=serial)
    return made


def grow(directory: Path) -> None:
    """Appends two calls to what `program` has written."""
    longer = Path("longer")
    program(longer, CALLS + 2).open()
    for path in directory.iterdir():
        with path.open("ab") as file:
            file.write((longer / path.name).read_bytes()[path.stat().st_size :])


@pytest.fixture
def growing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    program(tmp_path / "growing").open()
    monkeypatch.chdir(tmp_path)
    return "growing"


def fitted(directory: Path) -> Program:
    """Returns two epochs of three steps, and a validation after each."""
    made = Program(directory)
    made.fit_batch(0, 1, 1)
    made.fit_batch(3, 2, 1)
    for step in (None, 0, 1, 2, None, 3, 4, 5, None):
        made.execution("Mul", [], {1: np.full(4, 2, np.float32)}, line=7, step=step)
    return made


async def test_what_is_in_no_step_is_told_by_the_one_before(open_app: Open, tmp_path: Path) -> None:
    fitted(tmp_path).open()
    async with open_app(tmp_path) as opened:
        await opened.press("colon")
        await opened.type("exec:4")
        await opened.press("enter", "V")
        screen = opened.screen()
        assert "after step 2, batch 3 of epoch 1" in screen
        assert [f" {step} " in screen for step in ("2+", "5+", "0+")] == [True, True, False]
        await opened.press("down")
        assert "step 3, batch 1 of epoch 2" in opened.screen()


async def look_at(opened: Opened, row: int) -> None:
    await opened.press("colon")
    await opened.type(f"trace:{row}")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
async def test_history_at_three_sizes(open_app: Open, growing: str, size: tuple[int, int]) -> None:
    async with open_app(growing, size) as opened:
        await look_at(opened, 3 * (OVERFLOW - 2))
        await opened.press("V")
        assert_screen(opened.screen(), f"history_{size[0]}x{size[1]}")


async def test_history_in_ascii(open_app: Open, growing: str) -> None:
    async with open_app(growing, (80, 24), charset=ASCII) as opened:
        await look_at(opened, 0)
        await opened.press("V")
        assert opened.screen().isascii()
        assert "*" in opened.screen()


async def test_one_goes_to_a_bad_computation_and_back(open_app: Open, growing: str) -> None:
    async with open_app(growing) as opened:
        await look_at(opened, 0)
        before = opened.focus
        await opened.press("V", "n")
        assert f"computation {OVERFLOW + 1} of 40" in opened.screen()
        await opened.press("right_square_bracket", "left_square_bracket", "enter")
        assert opened.focus.graph_execution == 3 * OVERFLOW
        await opened.press("backspace")
        assert opened.focus == before
        await opened.press("V", "n", "escape")
        assert opened.focus == before


async def test_extremes_and_shares_have_curves_too(open_app: Open, growing: str) -> None:
    async with open_app(growing, (80, 24), charset=ASCII) as opened:
        await look_at(opened, 0)
        await opened.press("V", "c")
        assert "min and max" in opened.screen().splitlines()[0]
        assert "No curve" not in opened.screen()
        await opened.press("c")
        assert "NaN and infinities, % of the elements" in opened.screen()
        assert "   1e2" in opened.screen(), "all are infinite in the end"
        await opened.press("c")
        assert "shares" not in opened.screen()


async def test_extremes_below_zero_are_drawn_there(open_app: Open, tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    made.op("f", "Sub", "sub")
    for number in range(1, 9):
        made.trace("f", "sub", np.array([-(10.0**number), 1.0], np.float32), extremes=True)
    made.open()
    async with open_app(tmp_path, (120, 40)) as opened:
        await look_at(opened, 2)
        await opened.press("V", "c")
        assert "\n│  -1e" in opened.screen()


async def test_what_has_no_extremes_on_record_says_so(open_app: Open, growing: str) -> None:
    async with open_app(growing) as opened:
        await look_at(opened, 2)
        await opened.press("V", "c")
        assert "no smallest and largest numbers of it are on record" in opened.screen()


async def test_of_several_outputs_one_is_chosen(open_app: Open, growing: str) -> None:
    async with open_app(growing) as opened:
        await look_at(opened, 3)
        await opened.press("V")
        assert "split:0  float16  computation 2 of 40  1 of 2 tensors" in opened.screen()
        await opened.press("right_square_bracket", "G")
        assert "split:1  float16  computation 40 of 40  2 of 2 tensors" in opened.screen()
        assert "none bad; " in opened.screen()
        await opened.press("enter")
        assert opened.focus.graph_execution == 3 * (CALLS - 1) + 1


async def test_the_tensors_of_a_source_line(open_app: Open, growing: str) -> None:
    async with open_app(growing) as opened:
        await look_at(opened, 2)
        await opened.press("5", "V")
        assert "neg:0  float16  computation 1 of 40  3 of 3 tensors" in opened.screen()
        assert "not measured" in opened.screen()
        await opened.press("j", "enter")
        assert opened.focus.graph_execution == 5
        assert opened.active_pane() == "graph_execution"


async def test_a_line_without_tensors_says_so(open_app: Open, growing: str) -> None:
    async with open_app(growing) as opened:
        await look_at(opened, 2)
        await opened.press("5", "colon")
        await opened.type("program.py:8")
        await opened.press("V")
        assert "no tensor that this line computes is on record" in opened.screen()


async def test_where_only_bad_computations_are_measured_that_is_said(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    made.op("f", "RealDiv", "scaled")
    for number in (1.0, 2.0, np.nan):
        made.trace("f", "scaled", np.array([number, 1.0], np.float32), extremes=np.isnan(number))
    made.open()
    async with open_app(tmp_path) as opened:
        await look_at(opened, 2)
        await opened.press("V")
        assert "none was measured before it was bad" in opened.screen()


@pytest.mark.parametrize("mode", [TensorDebugMode.FULL_HEALTH, TensorDebugMode.FULL_TENSOR])
async def test_of_what_was_never_finite_nothing_is_called_unmeasured(
    open_app: Open, tmp_path: Path, mode: TensorDebugMode
) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    made.op("f", "Log", "logged")
    for _ in range(3):
        made.trace("f", "logged", np.full(4, np.nan, np.float32), mode=mode)
    made.open()
    async with open_app(tmp_path) as opened:
        await look_at(opened, 2)
        await opened.press("V")
        assert "each is bad, and no finite number of any is on record" in opened.screen()


async def test_what_is_not_on_record_is_said(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["no_tensor"]) as opened:
        await look_at(opened, 0)
        await opened.press("V")
        assert "no number of it is on record; ADAPTIVE has those" in opened.screen()
        assert "no values on record" in opened.screen()
        assert "0 of " not in opened.screen()


async def test_whole_tensors_have_a_curve(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["full_tensor"]) as opened:
        await opened.press("a", "V")
        assert "No curve" not in opened.screen()
        assert "3 bad; |max| 1.39; the largest float32" in opened.screen()


async def test_it_grows_with_the_run(open_app: Open, growing: str) -> None:
    async with open_app(growing) as opened:
        await look_at(opened, 0)
        await opened.press("V", "j")
        grow(Path(growing))
        session = opened.app.session
        session.load(Snapshot(open_run(growing), opened.snapshot))
        (shown,) = [
            screen for screen in opened.app.screen_stack if isinstance(screen, HistoryScreen)
        ]
        # As the newest tensor is focused while the run is followed.
        session.focus = navigation.goto(opened.snapshot, session.focus, f"trace:{3 * CALLS + 5}")
        shown.look()
        await opened.pilot.pause()
        assert "split:0  float16  computation 2 of 42" in opened.screen()


async def test_what_is_known_of_all_is_never_cut(open_app: Open, growing: str) -> None:
    async with open_app(growing, (80, 24)) as opened:
        await look_at(opened, 3 * OVERFLOW)
        await opened.press("V")
        assert "the largest float16 is 6.55e+04" in opened.screen()


async def test_shares_stand_apart_from_numbers(open_app: Open, tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("f", "f")
    made.op("f", "RealDiv", "div")
    values = np.full(100_352, 1.5, np.float32)
    values[:784] = np.nan
    made.trace("f", "div", values, extremes=True)
    made.open()
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press("a", "V")
        (row,) = (line for line in opened.screen().split("\n") if "0.781%" in line)
        assert "1.5 0.781%" in row
        assert "div:0  float32  computation 1 of 1 " in opened.screen()
        assert "; |max| 1.5; " in opened.screen()


async def test_rows_without_step_and_execution_have_their_own_numbers(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.graph("g", "Dataset_map_f")
    made.op("g", "Abs", "Abs", "x:0")
    made.op("g", "Neg", "Neg", "Abs:0")
    for _ in range(3):
        made.trace("g", "Abs", np.ones(4, np.float32), extremes=True)
        made.trace("g", "Neg", -np.ones(4, np.float32), extremes=True)
    made.open()
    async with open_app(str(tmp_path)) as opened:
        await opened.press("V")
        lines = opened.screen().splitlines()
        titles = next(i for i, line in enumerate(lines) if "|max|" in line)
        assert lines[titles].startswith("│          row        min        max")
        assert [line.split()[1] for line in lines[titles + 1 : titles + 4]] == ["0", "2", "4"]


async def test_one_goes_from_measured_to_measured(open_app: Open, growing: str) -> None:
    async with open_app(growing) as opened:
        await look_at(opened, 3)
        await opened.press("V", "right_square_bracket", *("m" * 10))
        assert "split:1  float16  computation 16 of 40" in opened.screen()
        await opened.press("M")
        assert "split:1  float16  computation 11 of 40" in opened.screen()
        await opened.press("G", "m")
        assert "split:1  float16  computation 40 of 40" in opened.screen()


async def test_a_long_name_leaves_room_for_which_computation_it_is(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    for _ in range(2):
        made.execution("Session.run(" + "Mean, " * 20 + "add)", [], {1: np.ones(4, np.float32)})
    made.open()
    async with open_app(tmp_path, (60, 15)) as opened:
        await opened.press("2", "V")
        assert ", add):0  float32  computation 1 of 2 ─" in opened.screen()


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40)], ids=lambda s: f"{s[0]}x{s[1]}")
async def test_iterations_are_numbered_and_no_count_of_what_is_bad_is_cut(
    open_app: Open, tmp_path: Path, size: tuple[int, int]
) -> None:
    made = Program(tmp_path)
    made.graph("body", "while_body")
    made.op("body", "Log", "Log")
    for iteration in range(3):
        bad = np.full(4, np.nan if iteration == 2 else 1e-30, np.float32)
        made.trace("body", "Log", bad, iteration=iteration, serial=1, extremes=iteration < 2)
    made.execution("f", [], {}, "body", serial=1)
    made.execution("f", [], {}, "body", serial=2)
    made.open()
    async with open_app(tmp_path, size) as opened:
        await look_at(opened, 2)
        await opened.press("V")
        (titles,) = (line for line in opened.screen().split("\n") if " iteration " in line)
        (row,) = (line for line in opened.screen().split("\n") if "▶" in line)
        places = [titles.index(title) + len(title) for title in ("iteration", "NaN", "inf")]
        assert [row[:place].split()[-1] for place in places] == ["2", "100%", "0"]


async def test_a_click_on_the_curves_chooses_a_computation_and_a_second_one_goes_there(
    open_app: Open, growing: str
) -> None:
    async with open_app(growing) as opened:
        await look_at(opened, 0)
        await opened.press("V")
        ruler = next(
            at
            for at, line in enumerate(opened.screen().split("\n"))
            if line.startswith("│       ^")
        )
        line = opened.screen().split("\n")[ruler]
        await opened.pilot.click(offset=(line.index("█"), ruler - 3))
        assert f"computation {OVERFLOW + 1} of 40" in opened.screen()
        await opened.pilot.click(offset=(line.rindex("█"), ruler))
        assert "computation 40 of 40" in opened.screen()
        await opened.pilot.click(offset=(20, ruler + 1))
        assert "computation 40 of 40" in opened.screen(), "titles are no computation"
        await opened.pilot.click(offset=(line.rindex("█"), 1))
        await opened.pilot.pause()
        assert opened.focus.graph_execution == 3 * (CALLS - 1)


async def test_a_key_that_does_nothing_says_why(open_app: Open, growing: str) -> None:
    async with open_app(growing) as opened:
        await look_at(opened, 2)
        await opened.press("V", "R")
        assert "R does nothing here  ? keys  Esc closes" in opened.screen()
        for key, why in (
            ("n", "no computation of it holds NaN or ∞"),
            ("m", "no numbers of it are on record"),
            ("right_square_bracket", "there is no other tensor of the op or the line"),
        ):
            await opened.press(key)
            assert why in opened.screen()
        await opened.press("j")
        assert "goes there" in opened.screen()
        await opened.press("question_mark", "R")
        assert "R does nothing here  Esc closes" in opened.screen()
        await opened.press("space")
        assert "does nothing" not in opened.screen()


async def test_at_the_last_bad_computation_there_is_no_later_one(
    open_app: Open, growing: str
) -> None:
    async with open_app(growing) as opened:
        await look_at(opened, 3 * (CALLS - 1))
        await opened.press("V", "n")
        assert "no later one  ? keys" in opened.screen()


async def test_extremes_tell_whether_all_are_zero_or_none_is(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    made.op("f", "Relu", "relu", "x:0")
    mode = TensorDebugMode.CONCISE_HEALTH  # which counts no zeros
    for values in ([0, 0], [1, 2], [0, 2]):
        made.trace("f", "relu", np.array(values, np.float32), mode=mode, extremes=True)
    made.open()
    async with open_app(tmp_path) as opened:
        await opened.press("V")
        lines = [line.split() for line in opened.screen().split("\n")]
        titles = next(at for at, line in enumerate(lines) if "zeros" in line)
        assert [line[-2] for line in lines[titles + 1 : titles + 4]] == ["100%", "0", "?"]
