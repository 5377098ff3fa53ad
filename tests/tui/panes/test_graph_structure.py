"""Graph Structure on the screen."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from tests.diagnosis.tiny import Program
from tfdbg_tui.tui.panes.graph_structure import GraphStructure
from tfdbg_tui.tui.session.snapshot import Snapshot

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open, Opened
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.tree import Tree


async def test_a_higher_pane_unfolds_more(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["control_flow"], (200, 60)) as opened:
        await opened.press("colon")
        await opened.type("trace:171")
        await opened.press("4")
        pane, usual = opened.app.parts.main.panes["graph_structure"], opened.focus
        assert 0 < pane.row_count < 40
        await opened.press("z")
        assert pane.row_count >= pane.page_rows > 50
        await opened.press("z")
        assert opened.focus == usual


async def test_what_was_folded_stays_so_in_a_higher_pane(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (200, 60)) as opened:
        await opened.press("a", "4", "k", "h")
        folded = opened.focus
        assert folded.forks
        await opened.press("z")
        assert opened.focus == folded


async def test_a_tree_that_takes_long_keeps_no_key_waiting(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        find, go_on = Snapshot.tree, threading.Event()

        def find_slowly(self: Snapshot, focus: Focus) -> Tree | None:
            if self.known_tree(focus) is None:
                go_on.wait(60)
            return find(self, focus)

        monkeypatch.setattr(Snapshot, "tree", find_slowly)
        await opened.pilot.press("a", "]")
        assert "Finding what it was computed from" in opened.screen()
        before = opened.app.session.focus.alert
        await opened.pilot.press("]")
        assert opened.app.session.focus.alert != before
        go_on.set()
        await opened.press("[")
        assert "Finding what it was computed from" not in opened.screen()
        assert "mul:0" in opened.screen()


async def test_columns_are_not_cut_where_names_leave_room(open_app: Open, tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.execution("OneHot", [], {1: np.full((100, 100), np.inf, np.float32)})
    made.open()
    async with open_app(tmp_path, (200, 60)) as opened:
        await opened.press("a")
        (row,) = (line for line in opened.screen().split("\n") if "▶ OneHot:0" in line)
        assert row.split("▶ ")[1].split()[1:5] == ["OneHot", "float32", "2D", "10.0k"]


async def test_functions_are_named_as_their_author_knows_them(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.graph("f", "__backward_loss_23")
    made.op("f", "Log", "Log")
    made.trace("f", "Log", np.full(3, -np.inf, np.float32))
    made.open()
    async with open_app(tmp_path, (200, 60)) as opened:
        await opened.press("a")
        assert "__backward" not in opened.screen()
        (title,) = (line for line in opened.screen().split("\n") if "0 in, 0 out" in line)
        assert "loss (gradient)" in title


async def test_between_which_numbers_tensors_are_stands_in_a_wide_tree(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.graph("f", "loss")
    for name, given, value in (("Neg", (), 2.0), ("Log", ("Neg:0",), -np.inf)):
        made.op("f", name, name, *given)
        made.trace("f", name, np.array([value, 7], np.float32), extremes=True)
    made.open()
    async with open_app(tmp_path, (200, 60)) as opened:
        await opened.press("a", "4", "z")
        assert _row_of(opened, "Neg:0").split()[-5:-1] == ["2", "to", "7", "finite"]


def _row_of(opened: Opened, name: str) -> str:
    rows = (line for line in opened.screen().split("\n") if f" {name} " in line)
    return next(row.rpartition(f" {name} ")[2] for row in rows)


async def test_the_words_of_a_boundary_are_broken_where_they_read_well(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.execution("Add", [], {1: np.full(3, np.inf, np.float32)})
    made.open()
    words = "variable dense_logits/kernel, step 47"
    async with open_app(tmp_path) as opened:
        pane = opened.app.query_one(GraphStructure)
        assert pane._boundary_lines(words, 50, 40) == ([], words)
        assert pane._boundary_lines(words, 35, 25) == (
            ["variable dense_logits/kernel,"],
            "step 47",
        )
        assert pane._boundary_lines("call one_step_on_data(data_1)", 35, 25) == (
            ["call"],
            "one_step_on_data(data_1)",
        )


def _called_by_python(directory: Path) -> None:
    """Records a function whose result, which holds no numbers, is not on record, and its call."""
    made = Program(directory)
    made.graph("f", "train")
    made.op("f", "Placeholder", "x")
    made.op("f", "Neg", "Neg", "x:0")
    made.op("f", "OptionalFromValue", "optional", "Neg:0")
    made.function("f", "__inference_train_7", "x", outputs=("optional",))
    made.execution("VarHandleOp", [], {1: np.ones(2, np.float32)})
    for serial, result in ((1, 2), (2, 3)):
        made.trace("f", "Neg", np.full(2, -serial, np.float32), serial=serial)
        made.execution("__inference_train_7", [1], {result: np.ones(1)}, "f", serial=serial)
        made.execution("OptionalGetValue", [result], {10 + result: np.ones(2, np.float32)})
    made.open()


async def test_enter_on_a_result_goes_into_the_function_of_that_call(
    open_app: Open, tmp_path: Path
) -> None:
    _called_by_python(tmp_path)
    async with open_app(tmp_path) as opened:
        await opened.press("colon")
        await opened.type("exec:4")
        await opened.press("4", "k")
        assert "▶ ┼─ train returns" in opened.screen()
        await opened.press("enter")
        assert opened.focus.op.name == "optional"
        assert "╭ Neg:0" in opened.screen()
        await opened.press("k", "enter")
        assert opened.focus.graph_execution == 1, "that of the second call"


async def test_enter_on_what_nothing_else_takes_or_makes_goes_to_the_call(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.graph("f", "train")
    made.op("f", "Placeholder", "x")
    made.op("f", "Neg", "Neg", "x:0")
    made.function("f", "__inference_train_7", "x", outputs=("Neg",))
    made.trace("f", "Neg", np.ones(2, np.float32), serial=1)
    made.execution("__inference_train_7", [99], {2: np.ones(2, np.float32)}, "f", serial=1)
    made.open()
    async with open_app(tmp_path) as opened:
        for boundary in ("k", "j"):
            await opened.press("colon")
            await opened.type("trace:0")
            await opened.press("4", boundary, "enter")
            assert opened.focus.execution == 0
            assert "▶  train returns" in opened.screen()
