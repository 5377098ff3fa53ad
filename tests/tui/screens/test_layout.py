"""What the screen looks like, as text: three sizes, zoom, resizing, character sets, themes.

After a wanted change: TFDBG_TUI_UPDATE_SCREENS=1 pytest tests/tui/screens/test_layout.py
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.tui.panes.base import Pane
from tfdbg_tui.tui.screens.layout import layout_for
from tfdbg_tui.tui.terminal.text import ASCII
from tfdbg_tui.tui.terminal.theme import WITHOUT_COLOR, known_themes

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open

_SCREENS = Path(__file__).parent


def assert_screen(text: str, name: str) -> None:
    """Compare a screen with the one that is kept."""
    path = _SCREENS / f"{name}.txt"
    text = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    if os.environ.get("TFDBG_TUI_UPDATE_SCREENS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
async def test_first_alert_and_why_at_three_sizes(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.chdir(logdirs["mnist"].parent)
    async with open_app("mnist", size) as opened:
        await opened.press("a")
        assert_screen(opened.screen(), f"first_alert_{size[0]}x{size[1]}")
        await opened.press("colon")
        await opened.type("alert:5")
        await opened.press("w")
        assert_screen(opened.screen(), f"why_{size[0]}x{size[1]}")


async def test_why_in_ascii(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(logdirs["mnist"].parent)
    async with open_app("mnist", (80, 24), charset=ASCII) as opened:
        await opened.press("a", "w")
        assert opened.screen().isascii()
        assert "3 zeros in -> 3 -Inf out" in opened.screen()


async def test_source_and_stack_on_a_small_screen(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(logdirs["mnist"].parent)
    async with open_app("mnist", (80, 24)) as opened:
        await opened.press("a", "6")
        assert_screen(opened.screen(), "stack_80x24")


async def test_ascii(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(logdirs["mnist"].parent)
    async with open_app("mnist", (80, 24), charset=ASCII) as opened:
        await opened.press("a")
        assert_screen(opened.screen(), "ascii_80x24")
        assert opened.screen().isascii()
        await opened.press("question_mark")
        assert opened.screen().isascii()
        await opened.press("G")
        assert "proved, likely " in opened.screen()
        assert " ! # " in opened.screen(), "the signs of Source Code"
        assert opened.screen().isascii()
        await opened.press("escape", "5")
        assert opened.screen().isascii()
        await opened.pilot.resize_terminal(100, 32)
        await opened.press("3", "slash", *"x" * 80)
        assert "xxx.. -+" in opened.screen(), "a title that is too long"
        assert opened.screen().isascii()


async def test_spaces_cost_no_change_of_style(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        strip = opened.app.query_one("#alerts", Pane).strip

        def texts(*cells: tuple[str, str]) -> list[str]:
            return [segment.text for segment in strip(cells)][: len(cells)]

        assert texts(("a", "dim"), ("  ", ""), ("b", "faint"))[:2] == ["a  ", "b"]
        assert texts(("  ", ""), ("b", "bad"))[0] == "  b"
        assert texts((" a ", "chip-bad"), (" ", ""), (" b ", "chip-bad")) == [" a ", " ", " b "]
        assert texts(("  ", "underline"), ("b", "")) == ["  ", "b"]


def test_layouts() -> None:
    sizes = [(200, 60), (120, 40), (100, 32), (100, 31), (80, 24), (59, 24), (60, 14), (39, 50)]
    expected = ["wide", "normal", "normal", "small", "small", "tiny", "tiny", "nothing"]
    assert [layout_for(*size) for size in sizes] == expected


async def test_resizing_keeps_the_focus_in_view(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"], (200, 60)) as opened:
        await opened.press("a")
        for size in ((80, 24), (50, 12), (120, 40)):
            await opened.pilot.resize_terminal(*size)
            await opened.pilot.pause(0.05)
            assert opened.active_pane() == "graph_execution"
            assert "▶ 141 Log:0" in opened.screen()
        await opened.pilot.resize_terminal(30, 8)
        await opened.pilot.pause(0.05)
        assert "too small" in opened.screen()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_zoom_gives_one_pane_everything_and_takes_it_back(
    open_app: Open, logdirs: RecordedLogdirs, size: tuple[int, int]
) -> None:
    async with open_app(logdirs["mnist"], size) as opened:
        await opened.press("3", "1")
        before = opened.screen()
        await opened.press("3", "z")
        assert opened.screen().splitlines()[-1].startswith(" z all panes"), "how to leave it"
        assert [pane.id for pane in opened.app.query(Pane) if pane.display] == ["graph_execution"]
        await opened.press("1", "z")
        assert opened.screen() == before


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_without_colours_the_frame_tells_which_pane_has_the_keys(
    open_app: Open, logdirs: RecordedLogdirs, size: tuple[int, int]
) -> None:
    async with open_app(logdirs["mnist"], size, theme_name=WITHOUT_COLOR) as opened:
        await opened.press("3")
        (heavy,) = [line for line in opened.screen().splitlines() if "━━" in line and "3" in line]
        assert "Graph Execution" in heavy


async def test_in_ascii_without_colours_the_title_tells_it(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    options = {"theme_name": WITHOUT_COLOR, "charset": ASCII}
    async with open_app(logdirs["mnist"], **options) as opened:
        opened.app.no_color = True
        await opened.press("3")
        titles = [line for line in opened.screen().splitlines() if "Graph Execution" in line]
        assert "> 3 Graph Execution" in titles[0]
        await opened.press("4")
        assert "> 3 Graph Execution" not in opened.screen()
        assert "> 4 Graph Structure" in opened.screen()
        pane = opened.app.query_one("#alerts", Pane)
        pane.forget_styles()
        strip = pane.strip(((" ", "bad"), ("   3 NaN ", "bad")))
        assert [s.text for s in strip if s.style and s.style.underline] == ["3 NaN"]


async def test_a_terminals_own_colours_do_not_stand_on_one_another(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "4")
        pane = opened.app.query_one("#graph_structure", Pane)
        names = ("key", "faint", "call", "match", "number", "input", "live", "")
        for theme, behind in itertools.product(("ansi-dark", "ansi-light"), ("focus", "mark")):
            opened.app.theme = theme
            await opened.pilot.pause()
            too_long = "x" * pane.line_width, ""
            strip = pane.strip((*((f"{name}.", name) for name in names), too_long), behind)
            colours = {segment.style.color for segment in strip if segment.style}
            assert len(colours) == 1


async def test_every_kind_of_theme_works(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"], theme_name="ansi-dark") as opened:
        for theme in ("ansi-dark", *known_themes()[:3], "nord"):
            opened.app.theme = theme
            await opened.press("a")
            assert "Log:0" in opened.screen(), theme
