"""Filters of the lists: typed, by one key, ended by Esc."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.events import Key

from tfdbg_tui.diagnosis.events import op_type_of
from tfdbg_tui.logdir import open_run
from tfdbg_tui.tui.bars.key_bar import KeyBar
from tfdbg_tui.tui.panes import pane_named
from tfdbg_tui.tui.panes.alert_rows import ALERTS
from tfdbg_tui.tui.panes.base import Pane
from tfdbg_tui.tui.session.snapshot import Snapshot
from tfdbg_tui.tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tui.conftest import Open, Opened


def listed(opened: Opened, pane: str) -> int:
    return pane_named(pane).rows.count(opened.snapshot, opened.focus)


async def test_a_click_on_a_chip_lists_that_kind_and_again_all(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        chips = opened.app.query_one("#alerts", Pane).head(60, 8)[0]
        start = len("".join(text for text, _ in chips).partition("\N{MINUS SIGN}\N{INFINITY}")[0])
        await opened.pilot.click("#alerts", offset=(1 + start, 1))
        assert opened.focus.filter_of("alerts") == "-inf"
        await opened.pilot.click("#alerts", offset=(4, 1))
        assert opened.focus.filter_of("alerts") == "nan", "one kind at a time"
        await opened.pilot.click("#alerts", offset=(4, 1))
        assert not opened.focus.filters


async def test_a_filter_is_shown_as_it_is_typed_and_ended_by_escape(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3", "backslash", *"type=Log")
        assert "type=Log: 8" in opened.screen(), "before Enter"
        await opened.press("escape")
        assert listed(opened, "graph_execution") == 320, "given up"
        await opened.press("ampersand", *"type=Log", "enter", "g", "j")
        run, second = opened.snapshot.run, opened.focus.graph_execution
        assert second is not None
        assert run.graph_executions[second].op_type == "Log"
        await opened.press("backslash", *" !bad", "enter")
        assert opened.focus.filter_of("graph_execution") == "type=Log !bad", "edited, not replaced"
        await opened.press("escape")
        assert listed(opened, "graph_execution") == 320
        assert opened.focus.graph_execution == second
        typed: list[Prompt.Typed] = []
        opened.app._navigator.typed = typed.append  # type: ignore[assignment, method-assign]
        for key, character in (("backslash", "\\"), ("L", "L"), ("o", "o"), ("g", "g")):
            opened.app.post_message(Key(key, character))
        await opened.pilot.pause()
        assert opened.app.query_one(Prompt).value == "Log", "all of it, as when it is pasted"
        assert [message.text for message in typed] == ["Log"], "and not as often as characters"


async def test_keys_behind_an_answer_are_for_the_panes(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3")
        characters = {"\\": "backslash", "=": "equals_sign", "\r": "enter", "\t": "tab"}
        for character in "\\type=Log\rz\t":
            opened.app.post_message(Key(characters.get(character, character), character))
        for _ in range(1000):  # 20 s, where they are lost
            if opened.focus.pane != "graph_execution":
                break
            await opened.pilot.pause(0.02)
        await opened.press()
        assert opened.focus.filter_of("graph_execution") == "type=Log"
        assert opened.active_pane() == "graph_structure"
        assert not opened.is_shown("graph_execution"), "zoomed before"


async def test_what_the_dump_does_not_say_is_told_beside_what_fits(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["concise_health"]) as opened:
        total = len(opened.snapshot.run.graph_executions)
        await opened.press("3", "backslash", *"zero>0", "enter")
        assert f"zero>0: 0 (not on record: {total})" in opened.screen()
        assert f"Whether {total} others " in opened.screen()
        await opened.press("backslash", *(["backspace"] * 6), *"step>=0", "enter")
        assert "not on record" not in opened.screen(), "what is in no step is no gap"


async def test_what_is_no_filter_is_told_and_changes_nothing(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3", "colon", *"filter nan", "enter")
        assert "nan: 165" in opened.screen()
        await opened.press("colon", *"filter typ=Log", "enter")
        assert "did you mean type?" in opened.app.query_one(KeyBar).message
        assert opened.focus.filter_of("graph_execution") == "nan"
        await opened.press("escape", "colon", *"filter step=99", "enter")
        assert "Nothing fits the filter" in opened.screen()
        await opened.press("j", "G", "slash", *"Log", "enter")
        assert "not found" in opened.app.query_one(KeyBar).message


async def test_one_key_lists_the_tensors_of_a_type_a_function_or_a_line(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "T")
        assert "type=Log: 8" in opened.screen()
        await opened.press("D")
        assert "fn=loss: 32" in opened.screen()
        await opened.press("5", "L")
        assert opened.focus.pane == "graph_execution"
        assert "line=debug_mnist.py:183: 24" in opened.screen()
        await opened.press("backspace", "backspace")
        assert "type=Log: 8" in opened.screen()
        await opened.press("2", "g", "5", "L")
        assert opened.focus.pane == "timeline", "this line runs no op of a function"
        assert opened.focus.filter_of("timeline") == "line=debug_mnist.py:155"
        await opened.press("T")
        assert opened.focus.filter_of("timeline") == "type=OneHot"


async def test_boxes_of_executions_are_filtered_too(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("2", "f")
        assert listed(opened, "timeline") == len(
            set(opened.snapshot.run.executions.alert_rows[:].tolist())
        )
        await opened.press("g", "l")
        alerts = opened.snapshot.run.executions.alert_rows[:].tolist()
        assert opened.focus.execution == sorted(set(alerts))[1]
        await opened.press("slash", *"assign", "enter", "escape")
        assert opened.focus.execution in alerts
        await opened.press("f")
        assert listed(opened, "timeline") == 1062


async def test_keys_that_come_after_the_answer_are_no_part_of_it(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    for prompt_key in ("slash", "backslash"):
        async with open_app(logdirs["mnist"]) as opened:
            await opened.press("3", prompt_key)
            prompt = opened.app.query_one(Prompt)
            prompt.on_key(Key("escape", None))
            prompt.value = "type=Log"  # before the app has got round to removing the prompt
            await opened.press("g")
            assert listed(opened, "graph_execution") == 320, prompt_key


async def test_another_run_may_come_while_one_types(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    for prompt in ("backslash", "slash"):
        async with open_app(logdirs["mnist"]) as opened:
            await opened.press("2", "G", prompt, *"ad")
            opened.app.session.load(Snapshot(open_run(logdirs["no_tensor"])))
            await opened.press("escape")
            focused = opened.focus.execution
            assert focused is None or focused < len(opened.snapshot.run.executions), prompt


async def test_alerts_are_filtered_below_what_caused_them(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"], at_root=True) as opened:
        await opened.press("backslash", *"type=MatMul", "enter")
        found = ALERTS.num_listed(opened.snapshot, opened.focus)
        run = opened.snapshot.run
        matmuls = [a for a in opened.snapshot.alerts if op_type_of(run, a) == "MatMul"]
        assert found == len(matmuls) > 1
        assert f"type=MatMul: {found}" in opened.screen()
        chips = opened.app.query_one("#alerts", Pane).head(60, 8)[0]
        nan = opened.snapshot.alert_counts.nan
        assert (f" NaN {nan} ", "chip-bad") in chips, "of all, whatever is listed"
        await opened.press("g", "j")
        assert opened.focus.alert == matmuls[0]
        await opened.press("r", "G")
        assert opened.focus.alert == matmuls[-1]
        await opened.press("backslash", *" !bad", "enter")
        assert "nothing is both" in opened.app.query_one(KeyBar).message
        await opened.press("escape", "escape")
        assert listed(opened, "alerts") == len(opened.snapshot.alerts)
        opened.app.session.load(Snapshot(open_run(logdirs["no_tensor"])))
        assert opened.snapshot.notes, "else nothing is tested here"
        await opened.press("1", "backslash", *"type=Nope", "enter")
        reason = opened.app.query_one("#alerts", Pane).reason_when_empty
        assert reason == "Nothing fits the filter. Esc ends it.", "not that nothing is bad"


async def test_one_key_lists_alerts_of_one_kind_after_the_other(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"], at_root=True) as opened:
        counts = []
        for _ in range(4):
            await opened.press("K")
            counts.append(ALERTS.num_listed(opened.snapshot, opened.focus))
        kinds = opened.snapshot.alert_counts
        everything = len(opened.snapshot.alerts)
        assert counts == [kinds.nan, kinds.neg_inf, kinds.pos_inf, everything]


async def test_a_filter_keeps_the_counts_and_chooses_a_row_that_it_lists(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"], at_root=True) as opened:
        alerts = opened.app.query_one("#alerts", Pane)
        before = [text for text, _ in alerts.head(60, 8)[0]]
        await opened.press("j", "K", "K")
        chips = alerts.head(60, 8)[0]
        assert [text for text, _ in chips] == before
        styles = [style for _, style in chips if style]
        assert styles == ["chip", "chip-bad", "chip"], "the chosen one stands out"
        await opened.press("K", "K", "r", "backslash", *"type=MatMul", "enter")
        assert op_type_of(opened.snapshot.run, opened.focus.alert) == "MatMul"
        await opened.press("3", "g", "f")
        row = opened.focus.graph_execution
        assert row in opened.snapshot.run.graph_executions.alert_rows[:].tolist()
        name = opened.snapshot.graph_execution(row).tensor_name
        assert any(f" {name} " in line for line in opened.lines_with_background("focus-back"))
        await opened.press("4", "f", "f")
        assert opened.focus.graph_execution == row, "only of the pane that has the keys"


async def test_a_long_filter_is_cut_and_what_it_finds_is_not(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "L", "backslash", *" step=6 bad size>1 rank>0", "enter")
        text = opened.focus.filter_of("graph_execution")
        assert text == "line=debug_mnist.py:183 step=6 bad size>1 rank>0"
        assert "Graph Execution  line=debug_mnist.py:183 step=6 bad siz" in opened.screen()
        assert "…: 2 " in opened.screen()
        await opened.press("s", *"zero", "enter")
        assert "…: 2 · by zero, largest first " in opened.screen()


async def test_a_filter_takes_the_room_of_the_place_in_the_list(
    open_app: Open, logdirs: dict[str, Path]
) -> None:
    async with open_app(logdirs["concise_health"], (86, 24)) as opened:
        await opened.press("2", "z", "backslash", *"zero>50%", "enter")
        assert " 0 of 0 to 26 · zero>50%: 0 (not on record: 27) " in opened.screen()
        await opened.press("backslash", *" zero>51%", "enter")
        assert " Timeline  zero>50% zero>51%: 0 (not on record: 27) " in opened.screen()
