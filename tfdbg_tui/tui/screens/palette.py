"""The command palette, and the list in it, in terminals of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding
from textual.command import CommandList, CommandPalette
from textual.errors import NoWidget
from textual.widgets import LoadingIndicator, OptionList

from tfdbg_tui.tui.screens.only_while_open import OnlyWhileOpen
from tfdbg_tui.tui.widgets.scrollbars import AsciiScrollBar

if TYPE_CHECKING:
    from textual import events
    from textual.binding import BindingType
    from textual.geometry import Size
    from textual.timer import Timer, TimerCallback
    from textual.worker import Worker


class _WithoutStaleClicks(OptionList):
    def on_click(self, event: events.Click) -> None:
        """Ignore a click on an option that is gone since it was drawn.

        Textual's own raises an error there.
        """
        if event.style.meta.get("option", -1) >= self.option_count:
            event.prevent_default()


class _Commands(CommandList, _WithoutStaleClicks):
    """The list of a `Palette`."""


class Options(_WithoutStaleClicks):
    """A list of options.

    Textual's own raises an error when it is to turn a page and has no place on the screen, and
    when the screen is as narrow as its frame.
    """

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """See Textual."""
        padding = self.get_component_styles("option-list--option").padding.width
        return super().get_content_height(container, viewport, max(width, padding + 1))

    def action_page_up(self) -> None:
        """See Textual."""
        if self.scrollable_content_region:
            super().action_page_up()  # type: ignore[no-untyped-call]  # of Textual

    def action_page_down(self) -> None:
        """See Textual."""
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[no-untyped-call]  # of Textual


class Palette(OnlyWhileOpen, CommandPalette):
    """Textual's command palette; see `Options`."""

    DEFAULT_CSS = (
        "Palette SearchIcon { display: none; }"  # no terminal needs it, some cannot show it
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "turn_page('page_up')", show=False),
        Binding("pagedown", "turn_page('page_down')", show=False),
    ]

    def on_mount(self) -> None:
        """See Textual, which makes the list itself, of its own class.

        There is none where the palette was closed before it was shown.
        """
        for commands in self.query(CommandList):
            commands.__class__ = _Commands
            if self.app.has_class("-ascii"):
                commands.vertical_scrollbar.renderer = AsciiScrollBar  # type: ignore[misc]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """See `OnlyWhileOpen`; the list, which is within others, comes after them."""
        return bool(self.query(CommandList)) and super().check_action(action, parameters)

    def run_worker(self, *args: Any, **options: Any) -> Worker[Any]:
        """See Textual; what looks for commands while the palette closes may fail."""
        return super().run_worker(*args, **{**options, "exit_on_error": False})

    def set_timer(
        self, delay: float, callback: TimerCallback | None = None, **options: Any
    ) -> Timer:
        """See Textual; what is to be shown in the list later may come when that is gone."""

        def show() -> Any:
            return callback() if callback is not None and self.query(CommandList) else None

        return super().set_timer(delay, show, **options)

    async def _watch__show_busy(self) -> None:
        """See Textual; its countdown may end when what shows that it is busy is gone."""
        if self.query(LoadingIndicator):
            await super()._watch__show_busy()

    def on_click(self, event: events.Click) -> None:
        """Ignore a click where nothing is, as in a terminal that has become smaller since.

        Textual's own raises an error there.
        """
        try:
            self.get_widget_at(event.screen_x, event.screen_y)
        except NoWidget:
            event.prevent_default()

    def action_turn_page(self, action: str) -> None:
        """Turn a page of the list, if there is one on the screen."""
        options = self.query_one(OptionList)
        if options.scrollable_content_region:
            getattr(options, f"action_{action}")()
