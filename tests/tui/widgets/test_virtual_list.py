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


async def test_inputs_and_a_row_above_the_chosen_one_are_in_view(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (80, 24), at_root=True) as opened:
        for size in ((80, 24), (120, 40), (80, 24)):
            await opened.pilot.resize_terminal(*size)
            await opened.pilot.pause()
            yellow = opened.lines_with_background("input-back")
            assert any("139 Softmax:0" in line for line in yellow), size
        pane = opened.app.query_one(GraphExecutionPane)
        await opened.press("3", "ctrl+d", "ctrl+d")
        for _ in range(20):
            top, row = pane.scroll_offset.y, opened.focus.graph_execution
            await opened.press("k")
            assert top - 1 <= pane.scroll_offset.y < row - 1, "never by more than a row"
