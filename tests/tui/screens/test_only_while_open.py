"""Keys that come faster than a screen opens and closes."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widgets import Label

from tfdbg_tui.tui.screens.only_while_open import OnlyWhileOpen


class _Shows(OnlyWhileOpen, Screen[None]):
    def compose(self) -> ComposeResult:
        yield Label("before")

    def action_show(self) -> None:
        self.query_one(Label).update("after")


async def test_keys_before_a_screen_is_there_and_after_do_nothing() -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        shown = _Shows()
        opened = app.push_screen(shown)
        assert not await app.run_action("show", shown)
        await opened
        assert await app.run_action("show", shown)
        closed = shown.dismiss()
        assert not await app.run_action("show", shown)
        await closed
        await shown.dismiss()
        await pilot.pause()
        assert len(app.screen_stack) == 1


async def test_keys_while_the_app_removes_its_screens_do_nothing() -> None:
    app: App[None] = App()
    async with app.run_test():
        shown = _Shows()
        await app.push_screen(shown)
    assert shown.is_mounted
    assert not shown.check_action("show", ())
