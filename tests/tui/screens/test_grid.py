"""Panes that the user resizes, by keys and by the mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.tui.bars.key_bar import KeyBar
from tfdbg_tui.tui.panes.base import Pane
from tfdbg_tui.tui.screens.grid import Border, moved
from tfdbg_tui.tui.screens.main import MainScreen
from tfdbg_tui.user_files import state_path, write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from textual.geometry import Region

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open, Opened

TILES = ("alerts", "timeline", "graph_execution", "graph_structure", "source_code", "stack_trace")


def regions(opened: Opened) -> dict[str, Region]:
    return {name: opened.app.query_one(f"#{name}").region for name in TILES}


def covers_all(opened: Opened) -> bool:
    """Whether the panes stand side by side without a gap."""
    covered = sum(region.area for region in regions(opened).values())
    return covered == opened.app.query_one("#body").region.area


@pytest.mark.parametrize(
    ("name", "size"), [("mnist", (120, 40)), ("mnist", (200, 60)), ("shape", (200, 60))]
)
async def test_keys_resize_the_focused_pane(
    open_app: Open, logdirs: RecordedLogdirs, name: str, size: tuple[int, int]
) -> None:
    async with open_app(logdirs[name], size, digit_seconds=3600.0) as opened:
        usual = regions(opened)
        for number, tile in enumerate(TILES, 1):
            await opened.press(f"alt+{number}", "3", "greater_than_sign", "2", "plus")
            wider, before = regions(opened)[tile], usual[tile]
            assert (wider.width, wider.height) == (before.width + 6, before.height + 2)
            assert covers_all(opened)
            await opened.press("3", "less_than_sign", "2", "underscore")
            assert regions(opened) == usual
        await opened.press("alt+3", *"9999", "greater_than_sign", *"9999", "plus")
        assert min(region.width for region in regions(opened).values()) >= 12
        assert min(region.height for region in regions(opened).values()) >= 4
        assert covers_all(opened)
        await opened.press("equals_sign")
        assert regions(opened) == usual


async def test_without_alerts_the_tensors_have_their_room(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["shape"], (200, 60)) as opened:
        tiles = regions(opened)
        assert tiles["graph_execution"].x == 0
        assert tiles["alerts"].height == tiles["timeline"].height
        await opened.press("alt+3", "w", "escape", "z", "z")
        assert regions(opened) == tiles


@pytest.mark.parametrize("size", [(120, 40), (200, 60)])
@pytest.mark.parametrize("value", [1.0, np.nan])
async def test_an_eager_program_has_no_graph_executions(
    open_app: Open, tmp_path: Path, size: tuple[int, int], value: float
) -> None:
    made = Program(tmp_path)
    made.execution("Log", [], {1: floats(value)})
    made.open()
    async with open_app(tmp_path, size, digit_seconds=3600.0) as opened:

        def shown() -> dict[str, Region]:
            panes = opened.app.parts.main.panes.values()
            return {pane.spec.name: pane.region for pane in panes if pane.display}

        usual = shown()
        assert set(usual) == {*TILES} - {"graph_execution"}
        body = opened.app.query_one("#body").region
        assert sum(region.area for region in usual.values()) == body.area
        await opened.press("alt+4", "greater_than_sign", "3", "plus")
        higher = shown()
        assert higher["graph_structure"].height == usual["graph_structure"].height + 3
        assert sum(region.area for region in higher.values()) == body.area
        await opened.press("equals_sign", "alt+5", "2", "greater_than_sign")
        assert shown()["source_code"].width == usual["source_code"].width + 4
        await opened.press("equals_sign", "alt+3")
        assert "eager ops are in Python Execution Timeline" in opened.screen()
        assert shown() == usual


async def test_a_small_screen_shows_no_companion_that_is_not_there(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.execution("Log", [], {1: floats(np.nan)})
    made.open()
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press("4")
        panes = opened.app.parts.main.panes.values()
        (pane,) = [pane for pane in panes if pane.display]
        assert pane.spec.name == "graph_structure"
        assert pane.region.height == opened.app.query_one("#body").region.height
        for key, name in (("1", "alerts"), ("2", "timeline")):
            await opened.press(key)
            names = [pane.spec.name for pane in panes if pane.display]
            assert names == [name, "source_code"], "in place of graph executions"


async def test_of_two_panes_the_focused_one_is_the_higher_one(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (60, 15)) as opened:
        for height in (15, 24, 31):
            await opened.pilot.resize_terminal(60, height)
            for key in "13456":
                await opened.press(key)
                heights = {pane.spec.name: pane.size.height for pane in opened.app.query(Pane)}
                focused = heights.pop(opened.focus.pane)
                assert max(heights.values()) < focused


async def test_the_mouse_drags_borders(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        usual = regions(opened)
        tree, pilot = usual["graph_structure"], opened.pilot
        await pilot.mouse_down(offset=(tree.x, tree.y + 3))
        await pilot.hover(offset=(tree.x - 10, tree.y + 3))
        await pilot.mouse_up(offset=(tree.x - 10, tree.y + 3))
        assert regions(opened)["graph_structure"].width == tree.width + 10
        assert regions(opened)["stack_trace"].width == usual["stack_trace"].width + 10
        await pilot.hover(offset=(tree.x - 20, tree.y + 3))
        assert regions(opened)["graph_structure"].width == tree.width + 10, "let go"
        source = usual["source_code"]
        await pilot.mouse_down(offset=(source.x + 5, source.y))
        await pilot.hover(offset=(source.x + 5, source.y - 4))
        await pilot.mouse_up(offset=(source.x + 5, source.y - 4))
        assert regions(opened)["source_code"].height == source.height + 4
        assert covers_all(opened)


async def test_sizes_are_kept_for_each_arrangement(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("alt+4", "greater_than_sign", "a", "w")
        chosen = opened.app.query_one("#cause").region
        await opened.press("escape", "alt+3", "z", "z")
        resized = regions(opened)
    async with open_app(logdirs["mnist"]) as opened:
        assert regions(opened) == resized
        await opened.press("a", "w")
        assert opened.app.query_one("#cause").region == chosen
    async with open_app(logdirs["mnist"], (200, 60)) as opened:
        wide = regions(opened)
    write_whole(state_path("pane_sizes.json"), '{"wide": {"columns": [1, 0, "x"]}}')
    async with open_app(logdirs["mnist"], (200, 60)) as opened:
        assert regions(opened) == wide, "what cannot be used is as if it were not there"


async def test_where_two_panes_share_the_screen_none_is_resized(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (80, 24)) as opened:
        before = opened.app.query_one("#alerts").region
        await opened.press("greater_than_sign", "equals_sign")
        assert opened.app.query_one("#alerts").region == before
        await opened.press("plus")
        assert "z gives it the whole screen" in opened.app.query_one(KeyBar).message


async def test_a_key_lays_out_nothing_anew(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("alt+3", "greater_than_sign", "G")
        laid_out = []
        monkeypatch.setattr(MainScreen, "_refresh_layout", lambda *_, **__: laid_out.append(1))
        await opened.press("k", "k", "pageup", "alt+4", "j")
        assert not laid_out


def test_a_border_goes_as_far_as_there_is_room() -> None:
    assert moved((40, 20, 60), Border("columns", 0), 5) == (45, 15, 60)
    assert moved((40, 20, 60), Border("columns", 0), 50) == (48, 12, 60)
    assert moved((40, 20, 60), Border("columns", 1), -50) == (40, 12, 68)
    assert moved((8, 15, 15), Border("rows", 0), -50) == (4, 19, 15)
