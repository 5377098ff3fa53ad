"""Why: alerts by cause, the chain from the root to a tensor, and the cause's card."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from tests.diagnosis.tiny import Program
from tests.tui.conftest import search
from tfdbg_tui.diagnosis.events import TensorEvent, name_of
from tfdbg_tui.diagnosis.report import cards, chains
from tfdbg_tui.diagnosis.report.chain_links import Link
from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.background.diagnoser import _worth_it
from tfdbg_tui.tui.navigation import NowhereError, first_focus
from tfdbg_tui.tui.panes.alert_rows import ALERTS
from tfdbg_tui.tui.panes.cause import Cause
from tfdbg_tui.tui.panes.chain_columns import choose_columns
from tfdbg_tui.tui.panes.chain_pane import shown_chain
from tfdbg_tui.tui.panes.chain_rows import ROWS, fold_copies, fold_name
from tfdbg_tui.tui.session.focus import Focus
from tfdbg_tui.tui.session.focusing import focused_event

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open, Opened
    from tfdbg_tui.tui.session.snapshot import Snapshot


def focused_name(snapshot: Snapshot, focus: Focus) -> str:
    event = focused_event(snapshot, focus)
    assert event is not None
    return name_of(snapshot.run, event)


def names(snapshot: Snapshot, focus: Focus) -> list[str]:
    shown = shown_chain(snapshot, focus)
    assert shown is not None
    return [link.name for link in shown.links]


def ask(snapshot: Snapshot, focus: Focus) -> Focus:
    """Ask why, and wait for the answer."""
    focus = navigation.why(snapshot, focus)
    if focus.why is not None and snapshot.explanation is not None:
        snapshot.explanation.find_chain(focus.why, snapshot.run)
    return navigation.stand_on_root(snapshot, focus)


# Alerts by cause


def test_a_cause_is_one_row_until_it_is_unfolded(explained: Snapshot) -> None:
    focus = navigation.move_to(explained, first_focus(explained), 0)
    assert ALERTS.count(explained, focus) == 1
    assert focused_name(explained, focus) == "Log:0"
    opened = navigation.enter(explained, focus)
    assert ALERTS.count(explained, opened) == 496
    second = navigation.move(explained, opened, 2)
    assert (focused_name(explained, second), second.cause) == ("mul:0", None)
    folded = navigation.step_sideways(explained, second, -1)
    assert ALERTS.count(explained, folded) == 1
    assert focused_name(explained, folded) == "Log:0"


def test_an_only_cause_opens_with_its_alerts_below_it(
    explained: Snapshot, two_roots: Snapshot
) -> None:
    focus = navigation.open_on_root(explained, first_focus(explained))
    assert ALERTS.count(explained, focus) == 1 + 495
    assert ALERTS.position(explained, focus) == 0, "it stands on the cause"
    again = navigation.first_alert(explained, navigation.move(explained, focus, 3))
    assert ALERTS.position(explained, again) == 0
    entered = navigation.enter(explained, focus)
    assert (entered.pane, entered.graph_execution) == ("graph_execution", 141), "it is open already"
    focus = navigation.open_on_root(two_roots, first_focus(two_roots))
    assert ALERTS.count(two_roots, focus) == len(two_roots.explanation.groups)


def test_an_alert_that_is_folded_away_is_shown_by_its_cause(two_roots: Snapshot) -> None:
    focus = first_focus(two_roots)
    causes = set()
    for position in range(len(two_roots.alerts)):
        focus = navigation.goto(two_roots, focus, f"alert:{position + 1}")
        row = ALERTS.position(two_roots, focus)
        causes.add(row)
        group = ALERTS.at(two_roots, focus, row).group
        opened = navigation.step_sideways(two_roots, focus, 1)
        found = ALERTS.at(two_roots, opened, ALERTS.position(two_roots, opened))
        assert (found.group, found.alert) == (group, position)
    assert causes == set(range(len(two_roots.explanation.groups)))


def test_the_list_in_order_of_time_is_one_key_away(explained: Snapshot) -> None:
    focus = navigation.goto(explained, Focus("alerts"), "alert:8")
    focus = navigation.toggle_in_time(explained, focus)
    assert (ALERTS.count(explained, focus), ALERTS.position(explained, focus)) == (495, 7)
    assert ALERTS.count(explained, navigation.toggle_in_time(explained, focus)) == 1


def test_without_a_diagnosis_the_list_is_flat(mnist: Snapshot) -> None:
    assert ALERTS.count(mnist, first_focus(mnist)) == 495
    with pytest.raises(NowhereError, match="not been diagnosed yet"):
        navigation.toggle_in_time(mnist, first_focus(mnist))


def test_the_first_alert_is_the_root_even_if_another_was_written_first(
    explained: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = TensorEvent("graph_execution", 142, 0)
    monkeypatch.setattr(type(explained.explanation), "first", late)
    focus = navigation.first_alert(explained, first_focus(explained))
    assert focused_name(explained, focus) == "mul:0"
    assert focused_name(explained, navigation.step_alert(explained, focus, -1)) == "Log:0"


def test_searching_finds_causes_by_their_titles(two_roots: Snapshot) -> None:
    focus = navigation.move_to(two_roots, first_focus(two_roots), 0)
    title = two_roots.explanation.groups[1].finding.title
    found = search(two_roots, focus, title, 1)
    assert ALERTS.position(two_roots, found) == 1


# The chain to a tensor


def test_of_a_root_one_sees_what_became_of_it(explained: Snapshot) -> None:
    log = navigation.goto(explained, first_focus(explained), "trace:141")
    focus = ask(explained, log)
    assert names(explained, focus)[:3] == ["Softmax:0", "Log:0", "mul:0"]
    assert focused_name(explained, focus) == "Log:0"


def test_columns_of_a_chain_are_as_wide_as_it_needs() -> None:
    names = ["Log:0", "a/long/scope/of/many/parts/Sum:0"]
    facts = {
        "function": ["loss", "loss"],
        "came by": ["root", ""],
        "op type": ["Log", "SparseSoftmaxCrossEntropyWithLogits"],
    }
    columns = choose_columns(names, facts, 200)
    assert columns.name == len(names[1])
    widths = dict(columns.facts)
    assert widths["function"] == len(" function")
    assert widths["op type"] == len(" SparseSoftmaxCrossEntropyWithLogits")
    assert columns.came_in
    facts["function"] = ["multi_step_on_iterator", "one_step_on_data"]
    beside_counts = choose_columns(names, facts, 80)
    assert dict(beside_counts.facts)["function"] == len(" multi_step_on_iterator")
    assert not beside_counts.came_in
    facts["op type"] = ["Log", "Mul"]
    beside_function = dict(choose_columns(["args_2:0"], facts, 48).facts)
    assert beside_function["function"] == len(" multi_step_on_iterator"), "before the op type"
    scopes = ["sequential_1/dense_1/Softmax:0"]
    assert choose_columns(scopes, facts, 57).name == len(scopes[0]), "before the function"
    scopes = [f"compile_loss/{'cross_entropy_with_logits_' * 2}/Sum:0"]
    assert choose_columns(scopes, facts, 78).name >= len(scopes[0]) - len("compile_loss")
    narrow = choose_columns(names, facts, 30)
    assert narrow.name + sum(width for _, width in narrow.facts) <= 30


def test_why_stands_on_the_root(explained: Snapshot) -> None:
    loss = navigation.goto(explained, first_focus(explained), "trace:143")
    focus = ask(explained, loss)
    assert names(explained, focus) == ["Softmax:0", "Log:0", "mul:0", "Mean:0"]
    assert (focus.pane, focused_name(explained, focus)) == ("why", "Log:0")
    assert focus.place is not None
    assert focus.place.line == 183
    assert focused_name(explained, navigation.move(explained, focus, 1)) == "mul:0"
    assert focused_name(explained, navigation.move(explained, focus, -1)) == "Softmax:0"


def test_enter_goes_to_the_tensor_and_escape_to_where_why_was_asked(explained: Snapshot) -> None:
    asked = replace(navigation.first_alert(explained, first_focus(explained)), pane="alerts")
    focus = ask(explained, asked)
    there = navigation.enter(explained, focus)
    assert (there.pane, there.why) == ("graph_execution", focus.why)
    closed = navigation.close_why(explained, focus)
    assert (closed.pane, closed.why) == ("alerts", None)
    assert ask(explained, focus).why is None, "w closes it as well"


def test_a_healthy_tensor_shows_what_made_it(explained: Snapshot) -> None:
    focus = ask(explained, navigation.goto(explained, Focus("alerts"), "trace:139"))
    shown = shown_chain(explained, focus)
    assert shown is not None
    assert shown.finding is None
    assert names(explained, focus)[-4:] == ["Relu:0", "MatMul:0", "add:0", "Softmax:0"]
    assert focused_name(explained, focus) == "Softmax:0"
    assert cards.parts(shown)[0].text == "Nothing bad leads here"


def test_an_op_without_a_tensor_has_no_way(explained: Snapshot) -> None:
    focus = navigation.first_alert(explained, first_focus(explained))
    with pytest.raises(NowhereError, match="no tensor of this op"):
        ask(explained, navigation.goto(explained, focus, "gradients/Softmax_grad/sub"))
    argument = navigation.move(explained, replace(focus, pane="graph_structure"), -1)
    asked = ask(explained, argument)
    assert names(explained, asked)[-1] == "Softmax:0", "what the argument stands for"


def link(index: int, op_type: str, *, passes_on: bool) -> Link:
    event = TensorEvent("graph_execution", index, 0)
    return Link(event, f"{op_type}:0", op_type, "f", None, False, "graph", passes_on)


def test_runs_of_ops_that_pass_values_on_are_one_row() -> None:
    kinds = ["Log", "Identity", "Reshape", "Mul", "Neg", "Add", "Neg", "Identity", "Sum"]
    moves = {"Identity", "Reshape", "Neg"}
    links = tuple(link(i, kind, passes_on=kind in moves) for i, kind in enumerate(kinds))
    shown = chains.Chain(links, 0, SimpleNamespace())  # type: ignore[arg-type]
    rows = fold_copies(shown, ())
    assert [(row.first, row.last) for row in rows] == [
        (0, 0), (1, 2), (3, 3), (4, 4), (5, 5), (6, 7), (8, 8),
    ]  # fmt: skip
    assert fold_name(links, rows[1]) == "2 copies"
    assert fold_name(links, rows[5]) == "2 pass-through ops"
    assert len(fold_copies(shown, {links[1].event, links[6].event})) == len(links)


def test_enter_unfolds_a_run_of_copies_and_left_folds_it(two_roots: Snapshot) -> None:
    for position in range(len(two_roots.alerts)):
        asked = navigation.goto(two_roots, first_focus(two_roots), f"alert:{position + 1}")
        focus = ask(two_roots, asked)
        rows = ROWS.rows(two_roots, focus)
        folded = next((i for i, row in enumerate(rows) if row.folded), None)
        if folded is not None:
            break
    focus = navigation.move_to(two_roots, focus, folded)
    opened = navigation.enter(two_roots, focus)
    assert ROWS.count(two_roots, opened) == len(rows) + rows[folded].folded - 1
    last = navigation.move(two_roots, opened, rows[folded].folded - 1)
    closed = navigation.step_sideways(two_roots, last, -1)
    assert ROWS.rows(two_roots, closed) == rows
    assert ROWS.position(two_roots, closed) == folded


# The card


def test_the_card_has_the_evidence_and_the_users_line(explained: Snapshot) -> None:
    focus = ask(explained, navigation.first_alert(explained, first_focus(explained)))
    shown = shown_chain(explained, focus)
    parts = {part.label: part.text for part in cards.parts(shown)}
    assert parts["evidence"] == "3 zeros in → 3 -∞ out"
    assert parts["where"].endswith("debug_mnist.py:183 in loss")
    on_card = replace(focus, pane="cause")
    assert navigation.copy_text(explained, on_card).startswith("tf.math.log(tf.clip_by_value(")
    source = navigation.enter(explained, on_card)
    assert (source.pane, source.place.line) == ("source_code", 183)


# Refreshing


def test_a_growing_run_is_diagnosed_anew_only_when_its_alerts_change() -> None:
    def snapshot(events: int, alerts: int, *, complete: bool = True, run: str = "run") -> Snapshot:
        shown = SimpleNamespace(
            num_events=events,
            num_alerts=alerts,
            files=SimpleNamespace(identity=run),
            progress=SimpleNamespace(complete=complete),
        )
        return cast("Snapshot", SimpleNamespace(run=shown))

    assert not _worth_it(snapshot(10, 5, complete=False), None), "not before it has been read"
    assert _worth_it(snapshot(10, 0), None)
    assert not _worth_it(snapshot(15, 0), snapshot(10, 0))
    assert _worth_it(snapshot(30, 0), snapshot(10, 0)), "there may be suspects by now"
    assert _worth_it(snapshot(11, 1), snapshot(10, 0))
    another = snapshot(10, 0, run="another")
    assert _worth_it(another, snapshot(10, 0))
    assert not _worth_it(snapshot(5, 0, complete=False), another), "nor another one, before"


def test_an_explanation_serves_a_run_that_has_grown(
    explained: Snapshot, mnist: Snapshot, control_flow: Snapshot
) -> None:
    assert mnist.explained(explained.explanation).explanation is explained.explanation
    assert control_flow.explained(explained.explanation) is control_flow


# With keys


async def test_the_story_with_keys(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "i", "i", "w")
        assert opened.active_pane() == "why"
        screen = opened.screen()
        for text in ("Logarithm of a softmax", "proved", "3 zeros in → 3 −∞ out", "Mean:0"):
            assert text in screen
        assert any("tf.math.log(probs)" in s for s in opened.lines_with_background("focus-back"))
        await opened.press("c")
        assert opened.app.clipboard.startswith("tf.math.log(tf.clip_by_value(")
        await opened.press("j", "enter")
        assert (opened.active_pane(), opened.focus.graph_execution) == ("graph_execution", 142)
        await opened.press("w", "tab", "enter")
        assert opened.active_pane() == "source_code"
        await opened.press("backspace", "escape")
        assert opened.focus.why is None
        assert "Cause" not in opened.screen()


async def test_roots_with_keys(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        assert "495 · 1 root" in opened.screen()
        await opened.press("1", "j", "right")
        assert "2 mul:0" in opened.screen()
        await opened.press("left", "r")
        assert opened.focus.in_time


async def test_wide_alerts_tell_type_line_and_step(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (200, 60)) as opened:
        await opened.press("1", "z")
        (cause,) = (one for one in opened.screen().splitlines() if "495  " in one and "▸" in one)
        assert re.search(" 0 +Log:0 · loss · step 3 +debug_mnist", cause)
        await opened.press("r")
        assert re.search(r"\d Log:0 +loss +Log +\S+\.py:\d+ +step 3 +−∞ \d", opened.screen())
    async with open_app(logdirs["mnist"], (80, 24)) as opened:
        await opened.press("1", "z", "r")
        assert re.search(r"\d Log:0 +loss +−∞ \d", opened.screen())


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_why_can_be_zoomed_and_left_by_pane_keys(
    open_app: Open, logdirs: RecordedLogdirs, size: tuple[int, int]
) -> None:
    async with open_app(logdirs["mnist"], size) as opened:
        await opened.press("a", "w", "z")
        shown = [pane for pane in ("why", "cause", "alerts") if opened.is_shown(pane)]
        assert shown == ["why"]
        await opened.press("z", "4")
        assert opened.is_shown("graph_structure")
        await opened.press("w")
        assert opened.is_shown("why")
        assert opened.is_shown("cause")


async def test_eager_chains_tell_neither_the_op_type_twice_nor_that_they_are_eager(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.execution("Log", [], {1: np.full(3, -np.inf, np.float32)})
    made.execution("Neg", [1], {2: np.full(3, np.inf, np.float32)})
    made.open()
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press("a", "w")
        (title,) = (line for line in opened.screen().split("\n") if "came by" in line)
        assert title.split()[:3] == ["tensor", "came", "by"]


async def test_a_card_that_has_no_room_says_how_much_is_below(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (80, 20)) as opened:
        await opened.press("a", "w")
        pane = opened.app.query_one("#cause", Cause)
        (title,) = (line for line in opened.screen().split("\n") if " Cause " in line)
        (told,) = re.findall(r"proved · (\d+) more lines? below", title)
        shown = pane.size.height
        assert shown + int(told) == pane.row_count
        await opened.press("tab", "G")
        (title,) = (line for line in opened.screen().split("\n") if " Cause " in line)
        assert "below" not in title


async def test_of_a_card_that_has_no_room_the_fix_is_seen_at_once(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (80, 20)) as opened:
        await opened.press("a", "w")
        labels = _labels(opened)
        assert labels[:3] == ["where", "fix", "here"]
        await opened.press("tab")
        assert _labels(opened)[:2] == ["where", "op"], "all of it, in its own order"


def _labels(opened: Opened) -> list[str]:
    lines = opened.app.query_one("#cause", Cause)._lines
    return [line.cells[0][0].strip() for line in lines if line.first and line.part]


async def test_of_the_place_of_a_root_the_file_and_the_line_are_never_cut(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "w")
        shown = shown_chain(opened.snapshot, opened.focus)
        assert shown is not None
        (text,) = [part.text for part in cards.parts(shown) if part.kind == "source"]
        pane = opened.app.query_one("#cause", Cause)
        assert pane._where(shown, text, len(text)) == [text]
        assert pane._where(shown, text, 32) == ["…ples/debug_mnist.py:183 in loss"]
        assert pane._where(shown, text, 22) == ["debug_mnist.py:183 in", "loss"]


async def test_what_ran_of_the_line_is_underlined_in_the_card(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.lines = ["def f(x):", "\treturn x * tf.math.log(x)\t+ 1"]
    made.graph("f", "f")
    made.op("f", "Log", "Log", line=2, expression="tf.math.log(x)")
    made.trace("f", "Log", np.full(3, np.nan, np.float32))
    made.open()
    async with open_app(tmp_path) as opened:
        await opened.press("a", "w")
        pane = opened.app.query_one("#cause", Cause)
        cells = [cell for row in range(pane.row_count) for cell in pane.row(row, 60).cells]
        assert [text for text, names in cells if "underline" in names] == ["tf.math.log(x)"]
