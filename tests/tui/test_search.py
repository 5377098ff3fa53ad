"""Searching: found as one types, counted, highlighted, ended by Esc."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tfdbg_tui.tui.background.search import Search
from tfdbg_tui.tui.background.tasks import TaskDone
from tfdbg_tui.tui.bars.key_bar import KeyBar
from tfdbg_tui.tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.tui.conftest import Open, Opened


def searched(opened: Opened) -> tuple[int | None, int | None]:
    shown = opened.app.session.searched
    assert shown is not None
    return shown.number, shown.total


async def test_a_search_goes_along_with_what_is_typed_and_escape_takes_it_back(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3", "j", "slash", *"soft")
        assert opened.focus.graph_execution == 9, "before Enter"
        assert "/soft: 1 of 16  row 9 " in opened.screen()
        await opened.press("x")
        assert opened.focus.graph_execution == 1, "softx is not found: back"
        assert "/softx: 0" in opened.screen()
        await opened.press("escape")
        assert opened.focus.graph_execution == 1
        assert "/soft" not in opened.screen()
        await opened.press("n")
        assert "search with / first" in opened.app.query_one(KeyBar).message


async def test_matches_are_numbered_and_highlighted_until_escape(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3", "slash", *"softmax", "enter", "n")
        assert searched(opened) == (2, 16)
        assert "Softmax" in "".join(opened.lines_with_background("found-back"))
        await opened.press("k")
        assert searched(opened) == (None, 16), "this row is none of them"
        await opened.press("N")
        assert searched(opened) == (1, 16)
        await opened.press("2", "N")
        assert (
            "not found in Python Execution Timeline: softmax"
            in opened.app.query_one(KeyBar).message
        )
        await opened.press("3", "n", "escape")
        assert not opened.lines_with_background("found-back")
        await opened.press("backspace")
        assert opened.focus.graph_execution == 9, "each match is a place to go back to"


async def test_the_key_bar_names_the_keys_of_a_search(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"], (80, 24)) as opened:
        await opened.press("3", "slash", *"softmax", "enter")
        assert " n next match  Esc ends the search " in opened.screen()
        await opened.press("escape")
        assert "next match" not in opened.screen()


async def test_a_long_search_that_finds_nothing_is_corrected_like_a_short_one(
    open_app: Open, logdirs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end, matches = threading.Event(), Search._matches
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3", "j", "slash", *"softma")
        monkeypatch.setattr(Search, "_matches", lambda *a: may_end.wait(60) and matches(*a))
        await opened.press("q", "enter")
        assert not opened.app.query(Prompt)
        may_end.set()
        for _ in range(400):
            await opened.pilot.pause(0.02)
            if opened.app.query_one(KeyBar).message:
                break
        assert opened.app.query_one(Prompt).value == "softmaq"
        assert "not found in Graph Execution: softmaq" in opened.app.query_one(KeyBar).message
        await opened.press("backspace", "x", "enter")
        assert searched(opened) == (1, 16)
        assert not opened.app.query(Prompt)
        await opened.press("backspace")
        assert opened.focus.graph_execution == 1, "where the search began"


async def test_a_search_may_end_after_the_app(
    open_app: Open, logdirs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end, matches = threading.Event(), Search._matches
    monkeypatch.setattr(Search, "_matches", lambda *a: may_end.wait(60) and matches(*a))
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3", "slash", "s")
        task = opened.app.parts.search._finding
        assert task is not None, "it is still going on"
    may_end.set()
    assert task.done.wait(60)
    opened.app.on_task_done(TaskDone(task))


async def test_what_is_searched(open_app: Open, logdirs: dict[str, Path]) -> None:
    totals = {
        "Log": 8,  # a type and a name
        "log": 8,
        "lOg": 0,
        "loss": 32,  # a function
        "dense_layer (gradient)": 128,
        "debug_mnist.py:183": 24,  # a line
        "mnist": 320,  # a file
        "debug_mnist.py|Log": 8,  # lines count only where no name has it
        "^(Log|Relu)$": 24,  # a regular expression
        "float32": 320,  # a dtype
    }
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3")
        opened.app.parts.search.begin_typing()
        for text, total in totals.items():
            opened.app.parts.search.typed(text)
            await opened.pilot.pause()
            assert searched(opened)[1] == total, text
        opened.app.parts.search.typed("(")  # no regular expression, but a text
        await opened.pilot.pause()
        assert opened.app.is_running


async def test_a_search_in_alerts_finds_what_is_folded_below_a_root(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"], at_root=True) as opened:
        await opened.press("left")
        assert not opened.focus.open_causes
        await opened.press("slash", *"Softmax/smart_grad", "enter")
        await opened.press("escape", "slash", *"MatMul", "enter")
        assert len(opened.focus.open_causes) == 1
        alert = opened.focus.alert
        assert alert is not None
        assert "MatMul" in opened.snapshot.tensor_name(alert)
        number, total = searched(opened)
        assert number == 1
        assert total is not None
        assert total > 1
        await opened.pilot.resize_terminal(100, 32)
        assert f"/MatMul: 1 of {total}" in opened.screen(), "whatever else has no room"


async def test_going_to_a_part_of_several_names_says_no(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("colon", *"Softma", "enter")
        message = opened.app.query_one(KeyBar).message
        assert "Tab after : goes through them" in message
        assert opened.focus.op is None or "Softmax" not in opened.focus.op.name
        await opened.press("tab", "enter")
        assert opened.focus.op is not None
        assert opened.focus.op.name.startswith("Softmax")
        await opened.press("colon", *"Softmin", "enter")
        assert "/ finds parts of names" in opened.app.query_one(KeyBar).message
        await opened.press("escape", "colon", *"truedi", "enter")
        assert opened.focus.op is not None
        assert opened.focus.op.name == "gradients/Mean_grad/truediv", "a part of one name alone"
        await opened.press("colon", "up", "up", "up", "up")
        assert opened.app.query_one(Prompt).value == "Softma"
