"""Draws the README's screenshots: python -m tests.tui.screens.draw_screenshots

of the recording that `tfdbg-tui demo` opens, and of two trainings, after the keys of each.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from tests.trainings.__main__ import run_dumped
from tfdbg_tui.cli.demo import extract
from tfdbg_tui.tui.app import TfdbgApp

_EXAMPLES = Path(__file__).parents[3] / "examples"
_PROGRAMS = Path(__file__).parents[2] / "trainings" / "programs"
_SIZE = (120, 40)
_LOW = (120, 24)
_SCREENS = {
    "screenshot": ("a",),
    "why": ("a", "w"),
    "filter": ("a", "L", "s", *"nan", "enter", "g"),
}
_OF_TRAININGS = {
    "layers": ("064", "resnet", ("M",)),
    "history": ("080", "half_precision", ("M", "down", "V")),
}
"""Of each: the number of the training, what its logdir is called, and keys."""


async def _draw(logdir: str, name: str, keys: tuple[str, ...], size: tuple[int, int]) -> None:
    app = TfdbgApp(logdir, fresh=True)
    async with app.run_test(size=size) as pilot:
        while app.session.snapshot is None or app.session.snapshot.explanation is None:
            await pilot.pause(0.05)
        for key in keys:
            await pilot.press(key)
            await pilot.pause(1.0)  # for what is found in threads
        picture = app.export_screenshot(title=f"tfdbg-tui {logdir}")
        (_EXAMPLES / f"{name}.svg").write_text(picture, encoding="utf-8")


async def _draw_all() -> None:
    with tempfile.TemporaryDirectory() as directory:
        os.environ["XDG_STATE_HOME"] = directory
        os.chdir(directory)
        extract("demo")
        for name, keys in _SCREENS.items():
            await _draw("demo", name, keys, _SIZE)
        for name, (number, logdir, keys) in _OF_TRAININGS.items():
            run_dumped(_PROGRAMS / f"{number}.py", logdir)
            await _draw(logdir, name, keys, _LOW)


if __name__ == "__main__":
    asyncio.run(_draw_all())
