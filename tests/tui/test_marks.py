"""Marks with notes, kept from one session to the next; links; candidates for what is typed."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.tui.bars.key_bar import KeyBar
from tfdbg_tui.tui.session.focus import Sort
from tfdbg_tui.tui.session.marks import path_of_marks
from tfdbg_tui.tui.widgets.candidates import Candidates
from tfdbg_tui.tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open


async def test_marks_are_there_in_the_next_session(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("apostrophe", "a")
        assert "no place is marked as a: m sets one" in opened.app.query_one(KeyBar).message
        await opened.press("a", "m", *"a zeros of the softmax", "enter")
        await opened.press("5", "j", "m", "b", "enter", "2", "l", "m", "c", "enter")
        place, execution = opened.focus.place, opened.focus.execution
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("apostrophe")
        assert "a  trace:141  Log:0  zeros of the softmax" in opened.screen()
        await opened.press("a")
        assert opened.focus.graph_execution == 141, "as soon as the letter is typed"
        assert not opened.app.query(Prompt)
        await opened.press("apostrophe", "c")
        assert (opened.focus.pane, opened.focus.execution) == ("timeline", execution)
        await opened.press("apostrophe", "b")
        assert opened.focus.pane == "source_code"
        assert place is not None
        await opened.press("backspace")
        assert opened.focus.pane == "timeline"


async def test_marks_that_cannot_be_read_are_told_and_kept(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3", "m", "a", "enter")
        path = path_of_marks(opened.snapshot.run.files)
        with open(path, "w") as file:
            file.write("no JSON")
        await opened.press("m", "b", "enter")
        assert "the marks cannot be read" in opened.app.query_one(KeyBar).message
        with open(path) as file:
            assert file.read() == "no JSON"


@pytest.mark.parametrize("keys", [("a",), ("2", "l", "l"), ("5", "j"), ("a", "4", "j")])
async def test_a_link_opens_the_same_place(
    open_app: Open, logdirs: RecordedLogdirs, keys: tuple[str, ...]
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press(*keys, "y")
        command = shlex.split(opened.app.clipboard)
        before = opened.focus
    assert command[:3] == ["tfdbg-tui", str(logdirs["mnist"]), "--run"]
    async with open_app(logdirs["mnist"], run=command[3], at=command[5]) as opened:
        after = opened.focus
        assert after.place == before.place
        if before.pane != "source_code":
            assert (after.execution, after.slot) == (before.execution, before.slot)


async def test_tab_goes_through_what_may_be_meant(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("colon")
        screen = opened.screen()
        assert re.search("alert: +alerts 1 to 495", screen)
        assert re.search("fn: .*loss", screen)
        assert re.search("device: +CPU:0", screen)
        await opened.press(*"ste", "tab")
        assert opened.app.query_one(Prompt).value == "step:", "before ops that are named so"
        await opened.press(*["backspace"] * 5, *"fn:l", "tab")
        assert opened.app.query_one(Prompt).value == "fn:loss"
        await opened.press("enter")
        assert not opened.app.query(Candidates)
        first = opened.focus.graph_execution
        assert first is not None
        graph = opened.snapshot.graph_execution(first).graph_id
        assert opened.snapshot.graph_name(graph) == "loss"
        await opened.press("colon", *"Softm", "tab", "tab", "shift+tab", "enter")
        assert opened.focus.op is not None
        assert opened.focus.op.name == "Softmax"
        await opened.press("3", "backslash", *"bad ty", "tab")
        assert opened.app.query_one(Prompt).value == "bad type="
        await opened.press(*"Lo", "tab", "enter")
        assert opened.focus.filter_of("graph_execution") == "bad type=Log"
        await opened.press("colon", *"fn:none", "enter")
        assert "no tensor of a graph was computed in a function" in (
            opened.app.query_one(KeyBar).message
        )


async def test_the_keys_are_those_of_the_prompt_while_there_is_one(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (80, 24)) as opened:
        for key, asked in (
            ("colon", "go to "),
            ("slash", "search "),
            ("backslash", "filter "),
            ("s", "sort by "),
            ("m", "mark "),
            ("apostrophe", "go to the mark "),
        ):
            await opened.press("3", key, "x") if key != "apostrophe" else await opened.press(key)
            (line,) = (one for one in opened.screen().splitlines() if "Enter does it" in one)
            assert line.startswith(f" {asked}")
            assert "first root" not in opened.screen()
            await opened.press("escape")
            assert "Enter does it" not in opened.screen()
            assert "first root" in opened.screen()
            await opened.press("escape")


async def test_what_cannot_be_done_stays_in_the_prompt_to_be_corrected(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (80, 24)) as opened:
        keys = opened.app.query_one(KeyBar)
        for key, typed, said in (
            ("s", "zeor", "no column is called zeor"),
            ("backslash", "stepp=4", "stepp"),
            ("colon", "step:9999", "9,999"),
            ("slash", "Softmex", "not found in Graph Execution: Softmex"),
            ("m", ",", "a mark is a letter"),
        ):
            await opened.press("3", key, *typed, "enter")
            assert opened.app.query_one(Prompt).value == typed
            assert said in keys.message
            assert typed in opened.screen().splitlines()[-1]
            await opened.press("backspace")
            assert not keys.message, "the keys again"
            assert opened.app.query_one(Prompt).value == typed[:-1]
            await opened.press("escape")
            assert not opened.app.query(Prompt)
        await opened.press("s", *"zeor", "enter", "backspace", "backspace", "enter")
        assert opened.focus.sort_of("graph_execution") == Sort("zero")
        assert not opened.app.query(Prompt)
        await opened.press("slash", *"Softmex", "enter", "backspace", "backspace", "enter")
        assert not opened.app.query(Prompt)
        assert opened.app.session.searched
        assert opened.app.session.searched.text == "Softm"
