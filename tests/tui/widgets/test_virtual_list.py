"""Lists in panes of any height."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
