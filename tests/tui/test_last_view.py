"""A run opens where it was left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.bars.key_bar import KeyBar
from tfdbg_tui.tui.session.focus import Sort
from tfdbg_tui.user_files import state_path, write_whole

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open

ROOT = ("alerts", 141)


async def test_it_opens_where_it_was_left(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"], at_root=True) as opened:
        assert (opened.focus.pane, opened.focus.graph_execution) == ROOT
    async with open_app(logdirs["mnist"], at_root=True) as opened:
        assert not opened.app.query_one(KeyBar).message, "nobody has gone anywhere"
        await opened.press("alt+3", "s", *"zero", "enter", "f", "G", "alt+2", "g", "l")
        await opened.press("alt+5", "j", "j", "w", "z")
        left = opened.focus
    async with open_app(logdirs["mnist"], at_root=True) as opened:
        assert "as you left it: a goes to the first root" in opened.app.query_one(KeyBar).message
        focus = opened.focus
        assert focus.pane == left.why_from == "source_code"
        assert (focus.execution, focus.place) == (left.execution, left.place)
        assert focus.filters == (("graph_execution", "bad"),)
        assert focus.sorts == (("graph_execution", Sort("zero")),)
        await opened.press("a")
        assert opened.focus.graph_execution == ROOT[1]
    async with open_app(logdirs["mnist"], at_root=True, fresh=True) as opened:
        assert (opened.focus.pane, opened.focus.graph_execution) == ROOT
        assert not opened.focus.filters


async def test_another_run_opens_on_its_root(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"], at_root=True) as opened:
        await opened.press("alt+3", "g")
    async with open_app(logdirs["session"], at_root=True) as opened:
        assert opened.focus.pane == "alerts"
    async with open_app(logdirs["mnist"], at="trace:7") as opened:
        assert opened.focus.graph_execution == 7, "the command line counts first"


async def test_what_cannot_be_read_is_no_view(open_app: Open, logdirs: RecordedLogdirs) -> None:
    for text in ("no JSON", "[]", '{"a": 1}'):
        write_whole(state_path("last_views.json"), text)
        async with open_app(logdirs["mnist"], at_root=True) as opened:
            assert (opened.focus.pane, opened.focus.graph_execution) == ROOT
