"""The command palette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual import events
from textual.command import CommandList

from tfdbg_tui.tui.screens.palette import Palette
from tfdbg_tui.tui.terminal.text import ASCII

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open


def click(x: int, y: int, style: Style | None = None) -> events.Click:
    place = {"x": x, "y": y, "screen_x": x, "screen_y": y, "delta_x": 0, "delta_y": 0}
    held = {"shift": False, "meta": False, "ctrl": False}
    return events.Click(None, **place, button=1, **held, style=style)  # type: ignore[arg-type]


async def test_a_click_beyond_the_edge_of_a_smaller_terminal_does_nothing(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (80, 24)) as opened:
        await opened.press("ctrl+p")
        opened.app.screen.post_message(click(100, 3))
        await opened.pilot.pause()
        assert isinstance(opened.app.screen, Palette)


async def test_a_click_on_a_command_that_is_gone_does_nothing(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (80, 24)) as opened:
        await opened.press("ctrl+p")
        commands = opened.app.screen.query_one(CommandList)
        commands.post_message(click(5, 3, Style(meta={"option": commands.option_count})))
        await opened.pilot.pause()
        assert isinstance(opened.app.screen, Palette)


async def test_a_palette_opens_while_another_one_closes(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (80, 24)) as opened:
        await opened.press("ctrl+p")
        opened.app.pop_screen()
        opened.app.action_command_palette()
        await opened.pilot.pause()
        assert isinstance(opened.app.screen, Palette)


async def test_keys_before_the_list_is_there_do_nothing(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (80, 24)) as opened:
        await opened.press("ctrl+p")
        await opened.app.screen.query_one(CommandList).remove()
        await opened.press("pagedown", "ctrl+home", "down")
        assert isinstance(opened.app.screen, Palette)


async def test_a_countdown_that_ends_when_the_palette_is_empty_shows_nothing(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (80, 24)) as opened:
        await opened.press("ctrl+p")
        palette = opened.app.screen
        assert isinstance(palette, Palette)
        await palette.query("*").remove()
        palette._show_busy = True
        await opened.pilot.pause()
        assert opened.app.screen is palette


async def test_the_palettes_in_ascii(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"], (80, 24), charset=ASCII) as opened:
        for open_palette in (opened.app.action_command_palette, opened.app.action_change_theme):
            open_palette()
            for _ in range(400):
                await opened.pilot.pause(0.02)
                if opened.app.screen.query_one(CommandList).option_count:
                    break
            assert opened.screen().isascii()
            await opened.press("escape")
