"""The line of keys and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.bars import key_bar
from tfdbg_tui.tui.bars.key_bar import KeyBar

if TYPE_CHECKING:
    import pytest

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open


async def test_a_long_message_stays_longer(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_bar, "_MESSAGE_SECONDS", 5.0)
    seconds: list[float] = []
    async with open_app(logdirs["session"]) as opened:
        keys = opened.app.query_one(KeyBar)
        monkeypatch.setattr(keys, "set_timer", lambda delay, _: seconds.append(delay))
        for length in (10, 120):
            keys.say("x" * length)
    assert seconds == [5, 10]
