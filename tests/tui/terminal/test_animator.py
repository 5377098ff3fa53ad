"""Nothing is animated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.panes.graph_execution import GraphExecutionPane

if TYPE_CHECKING:
    import pytest

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open


async def test_a_list_that_gets_shorter_as_its_scrollbar_is_clicked_on(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[bool] = []

    def shortened(pane: GraphExecutionPane) -> None:
        pane.scroll_to(y=2, animate=False)

    async with open_app(logdirs["mnist"], (120, 40)) as opened:
        pane = opened.app.query_one(GraphExecutionPane)
        assert pane.scroll_offset.y == 0
        monkeypatch.setattr(GraphExecutionPane, "_place_rows", shortened)
        pane.scroll_page_down(on_complete=lambda: done.append(True))
        assert pane.scroll_offset.y == 2
        await opened.pilot.pause(0.1)
        assert done
        assert opened.app.defect is None
