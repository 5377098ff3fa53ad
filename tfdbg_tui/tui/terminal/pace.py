"""Drawing no faster than the terminal does, however slow the connection to it is.

Frames must not fill the buffers of the connection: the answer to a key would wait behind them.  So
after each frame the terminal is asked where its cursor is: the "Device Status Report", which
terminals since the VT100 answer.  Until it has answered nothing is drawn, and then all that has
changed in one frame: a key held down sends no more than the connection takes.  After a frame that
is drawn because a program records, nothing is sent for as long as it took, for the next key.

The first question goes out before the first frame, so that a terminal that answers is known as one
after a moment.  One that has never answered is waited for only that long.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual._compositor import CompositorUpdate
from textual.app import App
from textual.events import InputEvent

from tfdbg_tui.tui.terminal.changes import ShownCells

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType
    from textual.events import Event
    from textual.screen import Screen

QUERY = "\x1b[6n"

_LONGEST_WAIT = 15.0  # seconds; an answer that has not come by then got lost
_LONGEST_FIRST_WAIT = 1.0
_LONGEST_PAUSE = 2.0
_LONGEST_EXIT = 1.0
_LOOK_SECONDS = 0.5  # between two looks at whether an answer got lost


class Pace:
    """Knows whether the terminal has drawn what it was sent.

    Args:
        clock: Seconds that never go back.

    Attributes:
        answers: Whether the terminal has ever answered.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.answers = False
        self._asked_at: float | None = None
        self._growing = False
        self._free_until = 0.0

    def grow(self) -> None:
        """Note that the next frame is drawn because a program records."""
        self._growing = True

    def ask(self) -> None:
        """Note that the terminal has been sent a frame and asked."""
        got_lost = self.answers and not self.waits
        if self._asked_at is None or got_lost:
            self._asked_at = self._clock()

    def answered(self) -> None:
        """Note that the terminal has answered."""
        now, asked_at = self._clock(), self._asked_at
        if asked_at is not None and self._growing:
            self._free_until = now + min(now - asked_at, _LONGEST_PAUSE)
            self._growing = False
        self.answers = True
        self._asked_at = None

    def forget(self) -> None:
        """Wait no more for an answer: it may have gone elsewhere."""
        self._asked_at = None

    @property
    def waits(self) -> bool:
        """Whether the terminal has yet to answer, and may."""
        longest = _LONGEST_WAIT if self.answers else _LONGEST_FIRST_WAIT
        return self._asked_at is not None and self._clock() - self._asked_at <= longest

    def is_ready(self) -> bool:
        """Return whether a frame may be drawn because a program records."""
        return not self.waits and self._clock() >= self._free_until


class PacedApp(App[int]):
    """An app that draws the next frame when the terminal has drawn the last one.

    Attributes:
        pace: Knows how far the terminal has got.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.pace = Pace()
        self._shown = ShownCells()
        self._holding = False
        self._missed = False
        self._exit_waiting: Callable[[], None] | None = None

    def on_mount(self) -> None:
        """Ask the terminal for the first time."""
        if not self.is_headless:
            self.set_interval(_LOOK_SECONDS, self._go_on)
            self.app_resume_signal.subscribe(self, self._resume)
            self._ask()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """See Textual, which has no public way to have a say in what is sent."""
        if isinstance(renderable, CompositorUpdate):
            renderable = cast("RenderableType", self._shown.changes(renderable))
        super()._display(screen, renderable)

    def post_display_hook(self) -> None:
        """See Textual: a frame has been drawn, or left out while drawing is held back."""
        if self._holding:
            self._missed = True
        elif not self.is_headless and self._running:
            self._ask()

    def _ask(self) -> None:
        assert self._driver is not None
        self._driver.write(QUERY)
        self.pace.ask()
        if self.pace.waits:
            self._holding = True
            self._begin_batch()

    def on_cursor_position(self) -> None:
        """Go on drawing: the terminal has got this far."""
        self.pace.answered()
        self._go_on()

    def redraw(self) -> None:
        """Draw the whole screen anew, whatever the terminal shows now."""
        self._shown.forget()
        self._missed = True
        if not self._holding:
            self._draw_missed()

    def _resume(self, _: App[Any]) -> None:
        """Draw all: others have had the terminal; the answer may have gone to them."""
        self.pace.forget()
        self.redraw()
        self._go_on()

    def _go_on(self) -> None:
        if not self._holding or self.pace.waits:
            return
        if self._exit_waiting is not None:
            self._exit_waiting()
            return
        self._holding = False
        self._end_batch()
        if self._missed:
            self._draw_missed()
        self.screen.check_idle()

    def _draw_missed(self) -> None:
        self._missed = False
        self.screen.refresh()

    async def on_event(self, event: Event) -> None:
        """See Textual; what is typed while the app ends finds no screen any more."""
        if self.screen_stack or not isinstance(event, InputEvent):
            await super().on_event(event)

    def exit(self, *args: Any, **options: Any) -> None:
        """See Textual; an answer that is still to come shall not be taken for input by a shell."""
        leave = partial(super().exit, *args, **options)
        if not (self.pace.waits and self.pace.answers):
            leave()
        elif self._exit_waiting is None:
            self._exit_waiting = leave
            self.set_timer(_LONGEST_EXIT, leave)
