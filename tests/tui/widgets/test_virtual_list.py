"""Lists in panes of any height."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

from tfdbg_tui.tui.panes.graph_execution import GraphExecutionPane
from tfdbg_tui.tui.panes.graph_structure import GraphStructure

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open


async def test_a_list_that_has_just_lost_all_its_lines(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (120, 40)) as opened:
        await opened.press("a")
        pane = opened.app.query_one(GraphStructure)
        assert pane.page_rows > 0
        pane._height = 0  # as in a resize, before the rows are placed anew
        assert pane.page_rows <= 0


async def test_a_click_on_where_a_list_was_before_it_moved(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (120, 40)) as opened:
        pane = opened.app.query_one(GraphExecutionPane)
        assert pane._head
        x, y = pane.content_region.offset
        click = events.Click(pane, 1, -9, 0, 0, 1, False, False, False, screen_x=x, screen_y=y)
        offset = click.get_content_offset(pane)
        assert offset is not None
        assert offset.y < 0
        pane.on_click(click)
