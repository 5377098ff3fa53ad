"""The command palette."""

from __future__ import annotations

from textual import events

from tfdbg_tui.tui.screens.palette import Palette


async def test_a_click_beyond_the_edge_of_a_smaller_terminal_does_nothing(
    open_app, logdirs
) -> None:
    async with open_app(logdirs["mnist"], (80, 24)) as opened:
        await opened.press("ctrl+p")
        place = {"x": 0, "y": 0, "screen_x": 100, "screen_y": 3, "delta_x": 0, "delta_y": 0}
        held = {"shift": False, "meta": False, "ctrl": False}
        opened.app.screen.post_message(events.Click(None, **place, button=1, **held))
        await opened.pilot.pause()
        assert isinstance(opened.app.screen, Palette)
