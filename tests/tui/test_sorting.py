"""Sorted lists: by any column, with filters and searches, and back to their own order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from unittest.mock import Mock

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis.events import op_type_of
from tfdbg_tui.logdir import open_run
from tfdbg_tui.query import SORT_FIELDS, Outputs, in_order, sort_keys
from tfdbg_tui.tui.background.sorting import sorted_list
from tfdbg_tui.tui.bars.key_bar import KeyBar
from tfdbg_tui.tui.panes.alert_rows import ALERTS
from tfdbg_tui.tui.panes.base import Pane
from tfdbg_tui.tui.panes.graph_execution import ROWS
from tfdbg_tui.tui.panes.rows import ToSort
from tfdbg_tui.tui.session.focus import Sort
from tfdbg_tui.tui.session.snapshot import Snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open, Opened
    from tfdbg_tui.logdir import GraphExecution


def listed(opened: Opened) -> list[GraphExecution]:
    """Return what Graph Execution lists, from the top."""
    snapshot, focus = opened.snapshot, opened.focus
    rows = range(ROWS.count(snapshot, focus))
    return [snapshot.graph_execution(ROWS.index(snapshot, focus, row)) for row in rows]


def zeros(trace: GraphExecution) -> int:
    assert trace.summary is not None
    assert trace.summary.zero is not None
    return trace.summary.zero


async def test_the_largest_come_first_and_escape_goes_back(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        before = listed(opened)
        await opened.press("3", "s", *"ze", "enter")
        assert [trace.index for trace in listed(opened)] == [
            trace.index for trace in sorted(before, key=zeros, reverse=True)
        ], "and of equal ones the first"
        assert "· by zero, largest first " in opened.screen()
        assert opened.focus.graph_execution == max(before, key=zeros).index
        await opened.press("j", "S")
        assert "· by zero, smallest first" in opened.screen()
        assert opened.focus.graph_execution == listed(opened)[0].index, "the first row again"
        assert opened.screen().splitlines()[-1].startswith(" Esc unsorted"), "how to leave it"
        assert zeros(listed(opened)[0]) == 0
        focused = opened.focus.graph_execution
        await opened.press("escape")
        assert listed(opened) == before
        assert opened.focus.graph_execution == focused, "and stays where it was"


async def test_the_column_that_is_sorted_by_is_shown(
    open_app: Open, logdirs: RecordedLogdirs, tmp_path: Path
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3", "s", *"step", "enter", "g")
        assert " step " in opened.screen(), "also where steps are counted"
    made = Program(tmp_path)
    made.layer(1, 0, "encoder", "Dense")
    made.graph("f", "f")
    made.op("f", "MatMul", "product", layer=1)
    made.trace("f", "product", floats(1.0))
    made.open()
    async with open_app(tmp_path) as opened:
        await opened.press("3", "s", *"layer", "enter", "g")
        titles = [line for line in opened.screen().split("\n") if "tensor" in line]
        assert any("layer" in line for line in titles)


async def test_clicks_on_a_title_sort_by_it_reverse_that_and_end_it(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        pane = opened.app.query_one("#graph_execution", Pane)
        for found in (Sort("nan"), Sort("nan", reverse=True), None):
            titles = "".join(text for text, _ in pane.head(pane.line_width, 15)[0])
            await opened.pilot.click("#graph_execution", offset=(1 + titles.index("NaN"), 1))
            assert opened.focus.sort_of("graph_execution") == found
        await opened.pilot.click("#graph_execution", offset=(8, 1))
        assert opened.focus.sort_of("graph_execution") == Sort("name")
        await opened.pilot.click("#graph_structure", offset=(8, 1))
        assert opened.focus.pane == "graph_structure", "what has no columns is only chosen"


async def test_a_filter_and_a_search_hold_in_any_order(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3", "s", *"name", "enter", "backslash", *"nan", "enter")
        found = listed(opened)
        assert len(found) == 165
        assert [trace.tensor_name for trace in found] == sorted(t.tensor_name for t in found)
        await opened.press("G", "slash", *"Relu", "enter", "n")
        relu = opened.focus.graph_execution
        assert relu is not None
        assert "Relu" in opened.snapshot.graph_execution(relu).tensor_name
        await opened.press("escape", "escape")
        assert [trace.index for trace in listed(opened)] == sorted(trace.index for trace in found)
        await opened.press("escape")
        assert len(listed(opened)) == 320


async def test_alerts_of_both_kinds_are_sorted_together(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], at_root=True) as opened:
        run, alerts = opened.snapshot.run, opened.snapshot.alerts
        await opened.press("s", *"nan", "enter", "g")
        counts = []
        for row in range(ALERTS.count(opened.snapshot, opened.focus)):
            event = ALERTS.event(opened.snapshot, ALERTS.at(opened.snapshot, opened.focus, row))
            summary = opened.snapshot.summary(event)
            assert summary is not None
            counts.append(summary.nan)
        assert len(counts) == len(alerts)
        assert counts == sorted(counts, reverse=True)
        assert opened.focus.alert is not None
        await opened.press("s", *"type", "enter", "backslash", *"type=Mul,Log", "enter", "g")
        assert op_type_of(run, opened.focus.alert) == "Log"
        await opened.press("escape", "escape")
        assert "1 root" in opened.screen()


async def test_what_is_no_column_and_what_cannot_be_sorted_is_told(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        bar = opened.app.query_one(KeyBar)
        await opened.press("3", "s", *"colour", "enter")
        assert bar.message.startswith("no column is called colour: there are name, type")
        assert "neg, zero, pos, min, max" in opened.screen(), "in full, on more lines than one"
        await opened.press("escape", "5", "s")
        assert "Source Code has an order of its own" in bar.message
        await opened.press("3", "s")
        await opened.pilot.click("#source_code")
        await opened.press(*"ze", "enter")
        assert "Source Code has an order of its own" in bar.message
        await opened.press("escape", "3", "S")
        assert bar.message == "the list is in its own order: s sorts it"


@pytest.mark.parametrize("field", SORT_FIELDS)
def test_each_column_puts_what_it_knows_first(mnist: Snapshot, field: str) -> None:
    run = mnist.run
    rows = np.arange(len(run.graph_executions))
    keys = sort_keys(run, field, [Outputs("graph_execution", rows, np.zeros_like(rows))])
    order = in_order(rows, keys, reverse=False)
    known = keys[order][: int((~np.isnan(keys)).sum())]
    assert (np.diff(known) >= 0).all()
    again = in_order(rows, keys, reverse=True)
    assert set(order[len(known) :]) == set(again[len(known) :]), "last in either direction"


def test_a_list_that_has_become_longer_is_sorted_as_a_whole(mnist: Snapshot) -> None:
    run, sort = mnist.run, Sort("size")
    rows = np.arange(len(run.graph_executions))

    def to_sort(count: int) -> ToSort:
        some = rows[:count]
        return ToSort(some, [Outputs("graph_execution", some, np.zeros_like(some))])

    keys = partial(sort_keys, run)
    first = sorted_list(keys, sort, "", to_sort(100), None)
    longer = sorted_list(keys, sort, "", to_sort(320), first)
    anew = sorted_list(keys, sort, "", to_sort(320), None)
    assert (longer.listed.rows == anew.listed.rows).all()


@pytest.mark.parametrize("column", ["size", "name"])
def test_a_list_that_is_turned_round_is_not_read_again(mnist: Snapshot, column: str) -> None:
    rows = np.arange(len(mnist.run.graph_executions))
    to_sort = ToSort(rows, [Outputs("graph_execution", rows, np.zeros_like(rows))])
    keys = Mock(wraps=partial(sort_keys, mnist.run))
    first = sorted_list(keys, Sort(column), "", to_sort, None)
    wanted = sorted_list(keys, Sort(column, reverse=True), "", to_sort, None)
    keys.reset_mock()
    turned = sorted_list(keys, Sort(column, reverse=True), "", to_sort, first)
    assert not keys.called
    assert (turned.listed.rows == wanted.listed.rows).all()


async def test_another_run_is_sorted_too(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("3", "s", *"size", "enter", "g")
        opened.app.session.load(Snapshot(open_run(logdirs["full_health"])))
        await opened.pilot.pause()
        sizes = [trace.summary.size or 0 for trace in listed(opened) if trace.summary]
        assert sizes == sorted(sizes, reverse=True)


async def test_sorted_rows_may_lack_the_number(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["full_tensor"]) as opened:
        await opened.press("3", "z", "s", *"max", "enter", "G")
        titles = next(line for line in opened.screen().splitlines() if "op type" in line)
        assert " max " in titles
        highest = [trace.summary.maximum if trace.summary else None for trace in listed(opened)]
        assert None in highest
        assert max(number for number in highest if number is not None) == highest[0]
        assert f"largest first, {highest.count(None):,} not on record" in opened.screen()
