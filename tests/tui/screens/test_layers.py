"""The Layers screen: a row for each layer, steps across, and the way to what is bad or largest.

After a wanted change: TFDBG_TUI_UPDATE_SCREENS=1 pytest tests/tui/screens/test_layers.py
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from rich.cells import cell_len

from tests.diagnosis.tiny import Program, floats
from tests.tui.screens.test_layout import assert_screen
from tfdbg_tui.diagnosis import heat_of
from tfdbg_tui.diagnosis.heat import SIDES
from tfdbg_tui.diagnosis.heat_rows import HeatRows
from tfdbg_tui.logdir import open_run
from tfdbg_tui.logdir.events import Progress
from tfdbg_tui.tui.screens.heat_grid import GridPlace, HeatGrid
from tfdbg_tui.tui.screens.layers import LayersScreen
from tfdbg_tui.tui.session.snapshot import Snapshot
from tfdbg_tui.tui.terminal.text import ASCII

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open, Opened

STEPS = 12
OVERFLOW, NAN = 8, 9
"""The steps from which on the first layer is infinite, and all are NaN."""

TENSORS = ("model/encoder/wide/MatMul", "model/head/MatMul", "loss")


def program(directory: Path, steps: int = STEPS) -> Program:
    """Returns a model whose first layer grows until it overflows, with gradients that shrink."""
    made = Program(directory)
    for number, outer, name in ((1, 0, "model"), (2, 1, "encoder"), (3, 2, "wide"), (4, 1, "head")):
        made.layer(number, outer, name, "Dense" if number > 2 else "Functional", "float16")
    made.graph("root", "")
    made.graph("f", "train", "root")
    made.op("f", "MatMul", TENSORS[0], "x:0", layer=3)
    made.op("f", "MatMul", TENSORS[1], f"{TENSORS[0]}:0", layer=4)
    made.op("f", "Mean", "loss", f"{TENSORS[1]}:0")
    for name in TENSORS[:2]:
        made.op("f", "MatMul", f"gradient_tape/{name}/MatMul", "y:0")
    for step in range(steps):
        grown = np.inf if step >= OVERFLOW else 4.0**step
        after = np.nan if step >= NAN else 2.0
        values = (grown, after, after, 0.5**step, after)
        names = (*TENSORS, *(f"gradient_tape/{name}/MatMul" for name in TENSORS[:2]))
        for name, value in zip(names, values, strict=True):
            tensor, finite = np.full(64, value, np.float16), bool(np.isfinite(value))
            made.trace("f", name, tensor, serial=step + 1, extremes=finite)
        made.execution("__inference_train_7", [], {}, "f", serial=step + 1)
    return made


@pytest.fixture
def growing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    program(tmp_path / "growing").open()
    monkeypatch.chdir(tmp_path)
    return "growing"


async def show_layers(opened: Opened) -> None:
    await opened.press("M")
    await opened.app.workers.wait_for_complete()
    await opened.pilot.pause()


def rows_of(screen: str) -> dict[str, str]:
    """Returns the strips by the names of their rows."""
    cells = (line.strip("│ ▶>").split(maxsplit=1) for line in screen.split("\n"))
    return {row[0]: row[1].rstrip() for row in cells if len(row) == 2}


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
async def test_layers_at_three_sizes(open_app: Open, growing: str, size: tuple[int, int]) -> None:
    async with open_app(growing, size) as opened:
        await show_layers(opened)
        assert_screen(opened.screen(), f"layers_{size[0]}x{size[1]}")


async def test_one_sees_numbers_grow_and_nan_spread(open_app: Open, growing: str) -> None:
    async with open_app(growing, (80, 24)) as opened:
        await show_layers(opened)
        strips = rows_of(opened.screen())
        assert strips["wide"].startswith("▄▄▅▅▅▅▆▆▇▇▇▇████∞∞∞∞∞∞∞∞")
        assert strips["wide"].endswith("▁▁")
        assert strips["head"].endswith("▄▄NNNNNN")
        assert "forward, step 8  model ▸ encoder ▸ wide (Dense, float16)" in opened.screen()


async def test_one_stays_in_the_step_when_cells_come_to_stand_for_more(
    open_app: Open, growing: str, tmp_path: Path
) -> None:
    program(tmp_path / "longer", steps=8 * STEPS).open()
    async with open_app(growing, (80, 24)) as opened:
        await show_layers(opened)
        assert "forward, step 8  " in opened.screen()
        opened.app.session.load(Snapshot(open_run(tmp_path / "longer"), opened.snapshot))
        (shown,) = [one for one in opened.app.screen_stack if isinstance(one, LayersScreen)]
        shown.look()
        await opened.app.workers.wait_for_complete()
        await opened.pilot.pause()
        assert "96 steps" in opened.screen()
        assert "forward, step 8  " in opened.screen()


async def test_a_cell_without_numbers_says_its_steps(open_app: Open, tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.layer(1, 0, "model", "Dense")
    made.graph("f", "train")
    made.op("f", "MatMul", "product", "x:0", layer=1)
    for step in range(100):
        made.trace("f", "product", floats(1, 2), serial=step + 1, extremes=step % 50 == 0)
        made.execution("__inference_train_7", [], {}, "f", serial=step + 1)
    made.open()
    async with open_app(tmp_path, (80, 24)) as opened:
        await show_layers(opened)
        await opened.press("l")
        assert "forward, steps 2 to 3  model (Dense)" in opened.screen()


async def test_one_goes_to_what_is_bad_and_back(open_app: Open, growing: str) -> None:
    async with open_app(growing) as opened:
        before = opened.focus
        await show_layers(opened)
        await opened.press("enter")
        assert opened.focus.graph_execution == 5 * OVERFLOW
        assert opened.active_pane() == "graph_execution"
        await opened.press("backspace")
        assert opened.focus == before
        await show_layers(opened)
        await opened.press("n", "n", "n", "N", "enter")  # past the layers around it
        assert opened.focus.graph_execution == 5 * NAN
        await show_layers(opened)
        await opened.press("tab", "j", "left", "left", "enter")
        assert opened.snapshot.run.graph_executions.site(
            opened.focus.graph_execution or 0
        ).op_name.startswith("gradient_tape/model/head")
        await show_layers(opened)
        await opened.press("n", "escape")
        assert opened.focus.graph_execution == 5 * (OVERFLOW - 2) + 4


async def test_names_of_layers_are_offered_where_a_filter_is_typed(
    open_app: Open, growing: str
) -> None:
    async with open_app(growing) as opened:
        await opened.press("3", "backslash", *"layer=w", "tab", "enter")
        assert opened.focus.filter_of("graph_execution") == "layer=wide"


async def test_a_layer_has_the_history_of_its_output(open_app: Open, growing: str) -> None:
    async with open_app(growing) as opened:
        await show_layers(opened)
        await opened.press("j", "V")
        await opened.app.workers.wait_for_complete()
        assert "model/head/MatMul:0" in opened.screen()
        assert f"computation {OVERFLOW + 1} of {STEPS}" in opened.screen(), "in the chosen step"
        assert opened.focus.graph_execution == 5 * OVERFLOW + 1
        await opened.press("escape")
        await show_layers(opened)
        await opened.press("j", *["h"] * OVERFLOW, "l", "V")
        await opened.app.workers.wait_for_complete()
        assert f"computation 2 of {STEPS}" in opened.screen()


async def test_the_history_of_a_layer_is_of_the_graph_that_is_looked_at(
    open_app: Open, tmp_path: Path
) -> None:
    made = program(tmp_path, steps=6)
    made.graph("g", "test", "root")
    made.op("g", "MatMul", f"test/{TENSORS[0]}", "x:0", layer=3)
    made.trace("g", f"test/{TENSORS[0]}", np.full(64, 2, np.float16), serial=7, extremes=True)
    made.execution("__inference_test_8", [], {}, "g", serial=7)
    made.open()
    async with open_app(tmp_path) as opened:
        await show_layers(opened)
        await opened.press("j", "j", "l", "V")
        await opened.app.workers.wait_for_complete()
        assert "model/encoder/wide/MatMul:0" in opened.screen()
        assert "computation 2 of 6" in opened.screen(), "not that of the validation"


async def test_variables_are_rows_if_that_is_wanted(
    open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = program(tmp_path / "trained")
    made.variable(7, layer=4)
    made.function("f", "__inference_train_7", "w", captured=(7,))
    made.op("f", "Placeholder", "w")
    made.op("f", "ReadVariableOp", "Read", "w:0", layer=4)
    made.op("f", "Mul", "step", "Read:0")
    made.op("f", "AssignSubVariableOp", "Assign", "w:0", "step:0", outputs=0)
    for name, value in (("Read", 2.0), ("step", 0.01)):
        made.trace("f", name, np.full(64, value, np.float32), serial=STEPS, extremes=True)
    made.open()
    monkeypatch.chdir(tmp_path)
    async with open_app("trained") as opened:
        await show_layers(opened)
        assert "variable 7" not in opened.screen()
        await opened.press("v")
        assert "variable 7" in opened.screen()
        await opened.press("G", "k", "l", "l", "l")
        assert "weight, step 11" in opened.screen()
        assert "update / weight 0.005" in opened.screen()


def test_an_update_is_compared_with_the_weight_of_its_step(tmp_path: Path) -> None:
    """A cell may stand for several steps: the largest update need not be in that of the weight."""
    made = Program(tmp_path)
    made.layer(1, 0, "model", "Dense")
    made.variable(7, layer=1)
    made.graph("root", "")
    made.graph("f", "train", "root")
    made.function("f", "__inference_train_7", "w", captured=(7,))
    made.op("f", "Placeholder", "w")
    made.op("f", "ReadVariableOp", "Read", "w:0", layer=1)
    made.op("f", "Mul", "step", "Read:0")
    made.op("f", "AssignSubVariableOp", "Assign", "w:0", "step:0", outputs=0)
    for step, (weight, update) in enumerate(((2.0, 0.4), (4.0, 0.1), (3.0, 0.2))):
        for name, value in (("Read", weight), ("step", update)):
            values = np.full(64, value, np.float32)
            made.trace("f", name, values, serial=step + 1, extremes=True)
        made.execution("__inference_train_7", [], {}, "f", serial=step + 1, step=step)
    grid = HeatGrid(heat_of(made.open()), 2)
    row = next(number for number, row in enumerate(grid.heat.rows) if row.variable is not None)
    place = GridPlace(row, 0, 0)
    cell = grid.cell(place)
    assert cell is not None
    assert (cell.step, cell.largest) == (1, 4.0)
    assert grid.largest_in_same_step(place, 1) == pytest.approx(0.1)
    assert grid.largest_in_same_step(place._replace(side=1), 0) == 2.0


def test_variables_of_the_same_name_are_numbered(tmp_path: Path) -> None:
    """`tf.Variable` without a name is called Variable, whatever it is."""
    made = Program(tmp_path)
    made.layer(1, 0, "model", "Dense")
    for handle, name in ((5, "Variable"), (6, "bias"), (7, "Variable")):
        made.variable(handle, name=name)
    made.variable(8, layer=1, name="Variable")
    rows = [row.name for row in HeatRows(made.open()).rows]
    assert rows == ["model", "Variable", "Variable 1", "bias", "Variable 2"]


def test_a_line_of_an_optimizer_reads_many_variables(tmp_path: Path) -> None:
    """The first and the last may be the same one."""
    made = Program(tmp_path)
    made.layer(1, 0, "model", "Dense")
    made.variable(5, layer=1, name="kernel")
    made.variable(6, layer=1, name="bias")
    for step, (handle, value) in enumerate(((5, 1.0), (6, 10.0), (9, 100.0), (5, 2.0))):
        read = {20 + step: np.full(8, value, np.float32)}
        made.execution("ReadVariableOp", [handle], read, line=3, extremes=True)
    heat = heat_of(made.open())
    rows = (heat.rows[row].name for row in heat.cells.rows.tolist())
    largest = dict(zip(rows, heat.cells.largest.tolist(), strict=True))
    assert largest == {"kernel": 2.0, "bias": 10.0, "f": 100.0}


async def test_zero_has_a_sign_of_its_own(open_app: Open, tmp_path: Path) -> None:
    """As that of gradients of what is dead; the smallest number of all looks like a number."""
    made = program(tmp_path / "made", OVERFLOW)
    made.layer(5, 1, "dead", "Dense")
    made.op("f", "Relu", "dead/Relu", layer=5)
    for step in range(OVERFLOW):
        relu = np.full(64, 1e-6 if step < 2 else 0, np.float32)
        made.trace("f", "dead/Relu", relu, serial=step + 1, extremes=True)
    made.open()
    async with open_app(tmp_path / "made", (80, 24)) as opened:
        await show_layers(opened)
        assert rows_of(opened.screen())["dead"].split()[0] == "▁▁▁▁▁▁000000000000000000"
        assert "0 all are 0" in opened.screen()


async def test_layers_in_ascii(open_app: Open, growing: str) -> None:
    async with open_app(growing, (80, 24), charset=ASCII) as opened:
        await show_layers(opened)
        assert opened.screen().isascii()
        strips = rows_of(opened.screen().replace("|", "│"))
        assert "IIIIIIII" in strips["wide"]
        assert strips["head"].endswith("NNNNNN")


async def test_without_layers_functions_are_rows(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await show_layers(opened)
        assert "loss" in rows_of(opened.screen())
        assert "outside of layers" in opened.screen()


def test_a_called_function_has_a_row_of_its_own_and_a_loop_that_of_its_function(
    tmp_path: Path,
) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "train", "root")
    made.graph("g", "forward", "f")
    made.graph("b", "while_body_7", "g")
    made.graph("d", "__backward_forward_9", "f")
    made.op("b", "Mul", "mul", "x:0")
    made.op("g", "While", "while", "x:0", calls=("c", "b"))
    made.op("d", "Neg", "gradients/mul_grad/Neg", "x:0")
    made.op("f", "StatefulPartitionedCall", "call", "x:0", calls=("g",))
    made.op("f", "PartitionedCall", "gradients/call", "x:0", calls=("d",))
    made.op("f", "Sub", "sub", "call:0")
    for graph_id, name in (("b", "mul"), ("d", "gradients/mul_grad/Neg"), ("f", "sub")):
        made.trace(graph_id, name, np.full(64, 2.0, np.float32), serial=1, extremes=True)
    heat = heat_of(made.open())
    shown = zip(heat.cells.rows.tolist(), heat.cells.sides.tolist(), strict=True)
    assert sorted((heat.rows[row].name, SIDES[side]) for row, side in shown) == [
        ("forward", "forward"),
        ("forward", "gradient"),
        ("train", "forward"),
    ]


def test_eager_ops_are_of_the_python_function_that_runs_them(tmp_path: Path) -> None:
    made = Program(tmp_path)
    for line in (7, 0):
        made.execution("Mul", [], {1: np.full(4, 2.0, np.float32)}, line=line, extremes=True)
    assert [row.name for row in heat_of(made.open()).rows] == ["f", "eager ops"]


def test_eager_steps_of_which_too_little_is_measured_have_no_cell(tmp_path: Path) -> None:
    """A line that is executed several times in a step is measured in other steps than the rest."""
    made = Program(tmp_path)
    for step in range(4):
        of_all = step != 2
        if step == 3:  # what is done once tells nothing of what is usual
            for line in range(20, 40):
                made.execution("Sum", [], {1: floats(5)}, line=line, extremes=True, step=step)
        for line in (7, 8, 9):
            made.execution("Mul", [], {1: floats(100)}, line=line, extremes=of_all, step=step)
        made.execution("L2Loss", [], {1: floats(0.5)}, line=10, extremes=not of_all, step=step)
    heat = heat_of(made.open())
    assert heat.steps[heat.cells.columns].tolist() == [0, 1, 3]
    assert heat.cells.largest.tolist() == [100] * 3
    assert heat.left_out


def test_graphs_of_tensorflow_1_have_rows_of_python_functions_and_of_variables(
    tmp_path: Path,
) -> None:
    made = Program(tmp_path)
    made.graph("g", "")
    for scope in ("a", "b"):
        made.op("g", "VariableV2", f"{scope}/kernel")
        made.op("g", "Identity", f"{scope}/kernel/read", f"{scope}/kernel:0")
    made.op("g", "VarHandleOp", "a/kernel/Adam")
    made.op("g", "ReadVariableOp", "Read", "a/kernel/Adam:0")
    made.op("g", "MatMul", "net/MatMul", "a/kernel/read:0", line=7)
    made.op("g", "MatMul", "gradients/net/MatMul_grad/MatMul", "x:0")
    made.op("g", "Mean", "loss", "net/MatMul:0")
    names = ("a/kernel/read", "b/kernel/read", "Read", "net/MatMul", "loss")
    for name in (*names, "gradients/net/MatMul_grad/MatMul"):
        made.trace("g", name, floats(2), serial=1, extremes=True)
    heat = heat_of(made.open())
    shown = zip(heat.cells.rows.tolist(), heat.cells.sides.tolist(), strict=True)
    told = [(heat.rows[row].depth, heat.rows[row].name, SIDES[side]) for row, side in shown]
    assert sorted(told, key=lambda one: one[1:]) == [
        *[(1, "Adam", "forward"), (0, "a/kernel", "forward"), (0, "b/kernel", "forward")],
        *[(0, "f", "forward"), (0, "f", "gradient"), (0, "main graph", "forward")],
    ]
    assert {row.name for row in heat.without_variables().rows} == {"f", "main graph"}


async def test_what_is_not_on_record_is_said(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["no_tensor"]) as opened:
        await show_layers(opened)
        assert "Neither magnitudes nor bad tensors are on record" in opened.screen()
        assert opened.screen().endswith("─ ? keys  Esc closes ─╯"), "no other key does anything"
        await opened.press("n", "j", "tab", "enter")
        assert isinstance(opened.app.screen, LayersScreen)
        await opened.press("escape")
        assert not isinstance(opened.app.screen, LayersScreen)


async def test_keys_that_do_nothing_are_not_named(open_app: Open, tmp_path: Path) -> None:
    program(tmp_path, steps=6).open()
    async with open_app(tmp_path) as opened:
        await show_layers(opened)
        assert "V history  Tab gradients  ? keys" in opened.screen(), "nothing is bad"
        await opened.press("escape")
        await opened.press("colon")
        await opened.type("trace:0")
        await opened.press("V")
        assert "Enter goes there  c curves  m measured  ? keys" in opened.screen(), "one output"


async def test_from_a_cell_with_nothing_one_goes_nowhere(open_app: Open, tmp_path: Path) -> None:
    program(tmp_path, steps=6).open()
    async with open_app(tmp_path) as opened:
        await show_layers(opened)
        await opened.press("G", "tab", "enter")
        assert "nothing measured, and nothing bad" in opened.screen()
        assert isinstance(opened.app.screen, LayersScreen)


async def test_it_grows_with_the_run(open_app: Open, growing: str, tmp_path: Path) -> None:
    async with open_app(growing) as opened:
        await show_layers(opened)
        assert "12 steps ─" in opened.screen()
        longer = program(tmp_path / "longer", STEPS + 3).open()
        longer = replace(longer, progress=Progress(bytes_read=1, bytes_total=2))
        opened.app.session.load(Snapshot(longer, opened.snapshot))
        (shown,) = [found for found in opened.app.screen_stack if isinstance(found, LayersScreen)]
        shown.look()
        await opened.app.workers.wait_for_complete()
        await opened.pilot.pause()
        assert "5 rows, 15 steps, reading… ─" in opened.screen()


def test_a_layer_shows_what_was_bad_first_within_it(tmp_path: Path) -> None:
    made = program(tmp_path / "made", 1)
    for name, value in ((TENSORS[1], np.inf), (TENSORS[0], np.nan)):
        made.trace("f", name, np.full(64, value, np.float16), serial=1)
    heat = heat_of(made.open())
    cells = heat.cells
    bad = np.flatnonzero(cells.bad).tolist()
    shown = {heat.rows[cells.rows[n]].name: cells.event(n).index for n in bad}
    assert shown == {"model": 5, "encoder": 6, "wide": 6, "head": 5}


async def test_a_mask_hides_no_numbers(open_app: Open, tmp_path: Path) -> None:
    made = program(tmp_path, OVERFLOW)
    made.op("f", "Const", "model/head/mask", layer=4)
    made.op("f", "SelectV2", "model/head/Select", "c:0", "x:0", "model/head/mask:0", layer=4)
    made.op("f", "Softmax", "model/head/Softmax", "model/head/Select:0", layer=4)
    for step in range(OVERFLOW):
        for name, value in (("mask", -np.inf), ("Select", -np.inf), ("Softmax", 0.5)):
            tensor = np.array([value, 1, 2], np.float16)
            made.trace("f", f"model/head/{name}", tensor, serial=step + 1)
    made.open()
    async with open_app(str(tmp_path), at_root=True) as opened:
        assert len(opened.snapshot.alerts) == 2 * OVERFLOW
        await show_layers(opened)
        assert "∞" not in rows_of(opened.screen())["head"]
        assert "harmless NaN and ∞ left out" in opened.screen()


@pytest.mark.parametrize("given", ["int32", "float32"])
def test_counts_are_no_gradients(tmp_path: Path, given: str) -> None:
    """The gradient of a mean is divided by one: a constant, or a cast of an integer."""
    made = program(tmp_path, steps=1)
    gradient = f"gradient_tape/{TENSORS[0]}"
    made.op("f", "Const", f"{gradient}/Const")
    made.op("f", "FloorDiv", f"{gradient}/floordiv", "a:0", "b:0", dtype=given)
    made.op("f", "Cast", f"{gradient}/Cast", f"{gradient}/floordiv:0")
    for name, number in (("Const", 512.0), ("Cast", 256.0)):
        tensor = np.array(number, np.float32)
        made.trace("f", f"{gradient}/{name}", tensor, serial=1, extremes=True)
    heat = heat_of(made.open())
    cells = heat.cells.some(heat.cells.sides == 1)
    largest = {heat.rows[row].name: cells.largest[n] for n, row in enumerate(cells.rows)}
    assert largest["wide"] == {"int32": 1.0, "float32": 256.0}[given]


def test_what_is_bad_in_no_step_is_counted(tmp_path: Path) -> None:
    made = program(tmp_path / "made")
    made.trace("f", TENSORS[0], np.full(64, np.nan, np.float16))
    heat = heat_of(made.open())
    assert heat.bad_outside == 1
    assert len(heat.rows) == 5
    assert not heat_of(open_run(program(tmp_path / "other").open().files.directory)).bad_outside


async def test_what_cells_mean_and_the_end_of_names_are_never_cut(
    open_app: Open, tmp_path: Path
) -> None:
    made = program(tmp_path / "made")
    name = f"{'functional/' * 6}dense/MatMul"
    made.op("f", "MatMul", name)
    made.trace("f", name, np.full(64, 60_000, np.float16), serial=1, extremes=True)
    made.trace("f", TENSORS[0], np.full(64, np.nan, np.float16))
    made.open()
    async with open_app(tmp_path / "made", (80, 24)) as opened:
        await show_layers(opened)
        assert "1 bad tensor outside of steps" in opened.screen()
        assert "blank: not measured" in opened.screen()
        await opened.press("G", *["left"] * STEPS)
        assert "dense/MatMul:0" in opened.screen()


async def test_minus_infinity_is_written_as_in_the_panes(open_app: Open, tmp_path: Path) -> None:
    made = program(tmp_path / "made", steps=2)
    made.trace("f", TENSORS[1], np.full(64, -np.inf, np.float16), serial=2)
    made.open()
    async with open_app(tmp_path / "made") as opened:
        await show_layers(opened)
        await opened.press("n")
        assert "  64 −∞  model/head/MatMul:0" in opened.screen()


async def test_of_a_deep_layer_the_innermost_part_is_told(open_app: Open, tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("f", "f")
    for number in range(1, 8):
        made.layer(number, number - 1, f"transformer_block_{number}", "Block")
    made.op("f", "MatMul", "dense/MatMul", layer=7)
    made.trace("f", "dense/MatMul", np.full(3, np.nan, np.float32))
    made.open()
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press("alt+3")
        assert "▸ transformer_block_7" in opened.screen()
        await show_layers(opened)
        assert "▸ transformer_block_7 (Block)" in opened.screen()


async def test_names_take_what_strips_of_few_steps_do_not_need(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    made.layer(1, 0, "gpt2_backbone", "Backbone")
    made.layer(2, 1, "transformer_layer_0", "Decoder")
    made.layer(3, 2, "self_attention_layer_norm", "Norm")
    made.op("f", "MatMul", "dense/MatMul", layer=3)
    for step in range(12):
        made.trace("f", "dense/MatMul", np.ones(3, np.float32), serial=step + 1, extremes=True)
        made.execution("f", [], {step: np.ones(3, np.float32)}, "f", serial=step + 1)
    made.open()
    async with open_app(tmp_path, (80, 24)) as opened:
        await show_layers(opened)
        assert " self_attention_layer_norm " in opened.screen()


async def test_a_click_chooses_a_cell_and_a_second_one_goes_to_its_tensor(
    open_app: Open, growing: str
) -> None:
    async with open_app(growing, (80, 24)) as opened:
        await show_layers(opened)
        lines = opened.screen().split("\n")
        at, line = next((n, line) for n, line in enumerate(lines) if " head " in line)
        await opened.pilot.click(offset=(line.index("N"), at))
        assert f"forward, step {NAN}  model ▸ head" in opened.screen()
        await opened.pilot.click(offset=(4, at - 1))
        assert f"forward, step {NAN}  model ▸ encoder ▸ wide" in opened.screen(), "names: the row"
        await opened.pilot.click(offset=(line.rindex("N"), at))
        assert f"gradient, step {STEPS - 1}  model ▸ head" in opened.screen()
        await opened.pilot.click(offset=(line.rindex("N") - 1, at))
        await opened.pilot.pause()
        assert opened.focus.graph_execution == 5 * STEPS - 1


async def test_where_nothing_is_bad_one_begins_at_what_is_focused(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.layer(1, 0, "first", "Dense")
    made.layer(2, 0, "second", "Dense")
    made.graph("root", "")
    made.graph("f", "train", "root")
    made.op("f", "MatMul", "first/MatMul", "x:0", layer=1)
    made.op("f", "Relu", "second/Relu", "first/MatMul:0", layer=2)
    for step in range(5):
        for name in ("first/MatMul", "second/Relu"):
            made.trace("f", name, np.ones(8, np.float32), serial=step + 1, extremes=True)
        made.execution("__inference_train_7", [], {}, "f", serial=step + 1)
    made.open()
    async with open_app(tmp_path) as opened:
        await opened.press("colon")
        await opened.type("trace:7")
        await show_layers(opened)
        assert "forward, step 3  second" in opened.screen()


async def test_strips_stand_below_their_title_whatever_the_names(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.layer(1, 0, "モデル", "Dense")
    made.layer(2, 0, "model", "Dense")
    made.graph("root", "")
    made.graph("f", "train", "root")
    for layer, name in ((1, "a"), (2, "b")):
        made.op("f", "MatMul", name, "x:0", layer=layer)
        made.trace("f", name, np.ones(8, np.float32), serial=1, extremes=True)
    made.execution("__inference_train_7", [], {}, "f", serial=1)
    made.open()
    async with open_app(tmp_path, (80, 24)) as opened:
        await show_layers(opened)
        first, second = opened.screen().split("\n")[2:4]
        assert cell_len(first.partition("▁")[0]) == cell_len(second.partition("▁")[0])
