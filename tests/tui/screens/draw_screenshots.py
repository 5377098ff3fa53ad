"""Draws the README's screenshots: python -m tests.tui.screens.draw_screenshots

of the recording that `tfdbg-tui demo` opens, after the keys of each.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from tfdbg_tui.cli.demo import extract
from tfdbg_tui.tui.app import TfdbgApp

_EXAMPLES = Path(__file__).parents[3] / "examples"
_SIZE = (120, 40)
_SCREENS = {
    "screenshot": ("a",),
    "why": ("a", "w"),
    "filter": ("a", "L", "s", *"nan", "enter", "g"),
}


async def _draw(logdir: str, name: str, keys: tuple[str, ...]) -> None:
    app = TfdbgApp(logdir, fresh=True)
    async with app.run_test(size=_SIZE) as pilot:
        while app.session.snapshot is None or app.session.snapshot.explanation is None:
            await pilot.pause(0.05)
        await pilot.press(*keys)
        await pilot.pause(1.0)  # for what is found in threads
        picture = app.export_screenshot(title=f"tfdbg-tui {logdir}")
        (_EXAMPLES / f"{name}.svg").write_text(picture, encoding="utf-8")


async def _draw_all() -> None:
    with tempfile.TemporaryDirectory() as directory:
        os.environ["XDG_STATE_HOME"] = directory
        os.chdir(directory)
        extract("demo")
        for name, keys in _SCREENS.items():
            await _draw("demo", name, keys)


if __name__ == "__main__":
    asyncio.run(_draw_all())
