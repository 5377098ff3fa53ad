"""Playing with the app: random keys, mouse and sizes.

What is sent does not wait for an answer, as Textual's pilot does: typing goes on while the app
draws, which is where most defects are.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from textual import events
from textual.geometry import Size
from textual.keys import _character_to_key

from tests.fuzz.commands import check_inert, time_limit
from tfdbg_tui.tui.actions.registry import ACTIONS
from tfdbg_tui.tui.app import TfdbgApp
from tfdbg_tui.tui.terminal.text import ASCII, UNICODE

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from textual.driver import Driver

_LEAVING = ("quit", "suspend", "edit")
KEYS = tuple(key for action in ACTIONS if action.id not in _LEAVING for key in action.keys)
PROMPTS = ("slash", "colon", "backslash")
TEXTS = ("log", "trace:1", "exec:99999999999999999999", "alert:0", "x.py:3", "-1", "∞", "[red]", "")
WORDS = (
    *("type=Relu", "fn=", "line=x.py:19", "name=*/MatMul:0", "device=GPU:1", "dtype=float16"),
    *("step=6..9", "size>1k", "zero>90%", "step=9..1", "size>1e999", "type~(a+)+$", "zero>-1%"),
    *("bad", "nan", "inf", "!", "~", "/(/", "=", ">", "..", "[", "\\", "\x00", "\u202e"),
)
SIZES = ((1, 1), (3, 3), (80, 1), (80, 3), (60, 15), (80, 24), (120, 40), (200, 60), (300, 100))
_LOOKS = 200  # for something to see
_SECONDS = 0.01
_DRAWN_EACH = 10  # actions


class Player:
    """Somebody at the keyboard, who knows no better.

    Args:
        app: A running app.
        driver: Its driver.
        rng: Where chance comes from.
    """

    def __init__(self, app: TfdbgApp, driver: Driver, rng: Random) -> None:
        self._app = app
        self._driver = driver
        self._rng = rng

    def act(self) -> None:
        """Presses a key, types a text, clicks, turns the wheel or resizes the terminal."""
        rng = self._rng
        (act,) = rng.choices(
            (self._press, self._type, self._click, self._wheel, self._resize), (75, 8, 9, 4, 4)
        )
        act()

    def _press(self) -> None:
        self._send_key(self._rng.choice(KEYS))

    def _type(self) -> None:
        rng = self._rng
        self._send_key(rng.choice(PROMPTS))
        words = rng.choices(WORDS, k=rng.randint(1, 4))
        for char in rng.choice((rng.choice(TEXTS), " ".join(words), "".join(words))):
            self._send_key(_character_to_key(char), char)
        self._send_key("enter")

    def _send_key(self, key: str, char: str | None = None) -> None:
        self._driver.send_message(events.Key(key, char or (key if len(key) == 1 else None)))

    def _click(self) -> None:
        place = self._place()
        for _ in range(self._rng.choice((1, 1, 2, 3))):
            for kind in (events.MouseDown, events.MouseUp):
                self._driver.send_message(kind(None, **place, button=1))

    def _wheel(self) -> None:
        kind = self._rng.choice((events.MouseScrollDown, events.MouseScrollUp))
        self._driver.send_message(kind(None, **self._place(), button=0))

    def _place(self) -> dict[str, Any]:
        width, height = self._app.size
        x, y = self._rng.randrange(max(1, width)), self._rng.randrange(max(1, height))
        held = {"shift": False, "meta": False, "ctrl": False, "delta_x": 0, "delta_y": 0}
        return {"x": x, "y": y, "screen_x": x, "screen_y": y, **held}

    def _resize(self) -> None:
        size = Size(*self._rng.choice(SIZES))
        self._driver._size = size
        self._driver.send_message(events.Resize(size, size))


async def play(logdir: Path, rng: Random, actions: int) -> None:
    """Plays with the app on a logdir; raises whatever ends it."""
    app = TfdbgApp(str(logdir), charset=rng.choice((UNICODE, ASCII)), follow=rng.random() < 0.2)
    async with app.run_test(size=rng.choice(SIZES)):
        for _ in range(_LOOKS):
            await asyncio.sleep(_SECONDS)
            if app.session.snapshot is not None or len(app.screen_stack) > 1:
                break
        assert app._driver is not None
        player = Player(app, app._driver, rng)
        for number in range(actions):
            if app._exit or app._exception:
                break
            player.act()
            await asyncio.sleep(0 if number % _DRAWN_EACH else _SECONDS)
            if number % _DRAWN_EACH == 0 and app.is_running:
                check_screen(app)


def check_screen(app: TfdbgApp) -> None:
    """Raises an error where what is drawn could steer the terminal, or is wider than it."""
    for strip in app.screen._compositor.render_strips():
        check_inert("".join(segment.text for segment in strip))


def play_app(logdir: Path, rng: Random, actions: int = 300) -> None:
    """Runs `play` to its end."""
    with time_limit():
        asyncio.run(play(logdir, rng, actions))
