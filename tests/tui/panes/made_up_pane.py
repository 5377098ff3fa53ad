"""Adds a pane to the registry, opens the app and uses the pane; run by test_registry.py."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui import panes
from tfdbg_tui.tui.panes.base import Pane, PaneSpec
from tfdbg_tui.tui.panes.rows import Rows
from tfdbg_tui.tui.widgets.virtual_list import DrawnRow

FRUITS = ("apple", "banana", "cherry", "damson")


class FruitRows(Rows):
    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        return len(FRUITS)

    def position(self, snapshot: Snapshot, focus: Focus) -> int:
        return focus.part

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        return replace(focus, part=row)

    def texts(self, snapshot: Snapshot, focus: Focus) -> Sequence[str]:
        return FRUITS

    def text(self, snapshot: Snapshot, focus: Focus) -> str:
        return FRUITS[focus.part]

    def go_to_name(self, snapshot: Snapshot, focus: Focus, name: str) -> Focus | None:
        return replace(focus, part=FRUITS.index(name)) if name in FRUITS else None


class Fruits(Pane):
    EMPTY = "No fruit."

    def row_state(self, row: int) -> bool:
        return row == self.cursor

    def row(self, row: int, width: int) -> DrawnRow:
        return DrawnRow(((FRUITS[row], ""),), "focus" if row == self.cursor else "")


SPEC = PaneSpec(
    name="fruits", title="Fruits", short_title="Fru", rows=FruitRows(), view=Fruits, tile=6
)
panes.PANES = (*panes.PANES, SPEC)

from tests.tui.conftest import opened_app  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


async def use(logdir: str, size: tuple[int, int]) -> None:
    async with opened_app(logdir, size) as opened:
        assert not opened.is_shown("fruits"), "its tile is another pane's until it is focused"
        await opened.press(panes.key_of(SPEC))
        assert opened.active_pane() == "fruits"
        assert "banana" in opened.screen()
        assert not opened.is_shown("stack_trace")
        await opened.press("shift+tab")
        assert opened.active_pane() != "fruits"
        await opened.press("tab", "tab")
        assert opened.active_pane() == "alerts"
        await opened.press("ctrl+p", *"fruits", "enter")
        await opened.pilot.pause(0.2)
        await opened.press("enter")
        assert opened.active_pane() == "fruits", opened.screen()
        await opened.press("slash")
        await opened.type("cher")
        assert opened.focus.part == 2
        await opened.press("colon")
        await opened.type("damson")
        assert (opened.active_pane(), opened.focus.part) == ("fruits", 3)
        await opened.press("colon")
        await opened.type("alert:1")
        await opened.press(panes.key_of(SPEC), "z")
        assert opened.is_shown("fruits")
        assert not opened.is_shown("alerts")
        await opened.press("z", "question_mark")
        assert "go to Fruits" in opened.screen()
        await opened.press("escape", "w")
        assert opened.active_pane() == "why"
        await opened.press("escape")
        assert opened.active_pane() == "fruits"


for size in ((80, 24), (120, 40), (200, 60)):
    asyncio.run(use(sys.argv[1], size))
