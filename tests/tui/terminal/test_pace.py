"""Drawing no faster than the terminal does."""

from __future__ import annotations

from tfdbg_tui.tui.terminal.pace import Pace


def test_nothing_is_sent_for_as_long_as_a_frame_took() -> None:
    now = 0.0
    pace = Pace(lambda: now)
    assert pace.is_ready()
    pace.ask()
    assert pace.waits
    now = 2.0
    assert pace.is_ready(), "a terminal that has never answered is waited for only a moment"
    pace.grow()
    pace.answered()
    assert not pace.waits, "a key may draw"
    assert not pace.is_ready(), "what is recorded may not yet"
    now = 4.0
    assert pace.is_ready()
    pace.ask()
    now = 5.0
    pace.answered()
    assert pace.is_ready(), "the frame of a key keeps nothing back"
    pace.ask()
    now = 19.0
    assert pace.waits
    now = 21.0
    assert pace.is_ready(), "the answer got lost"
    pace.ask()
    assert pace.waits, "or the line is blocked: a frame now and then, no more"
