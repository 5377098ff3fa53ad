"""The tree of Graph Structure is shown although the run grows faster than it is found."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tfdbg_tui.tui.session.snapshot import Snapshot

if TYPE_CHECKING:
    import pytest

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.tree import Tree


async def test_what_is_under_way_is_shown_though_the_run_has_grown(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    find, may_go_on, calls = Snapshot.tree, threading.Event(), []

    def slow(self: Snapshot, focus: Focus) -> Tree | None:
        if threading.current_thread() is not threading.main_thread():
            calls.append(self)
            assert may_go_on.wait(60)
        return find(self, focus)

    async with open_app(logdirs["mnist"]) as opened:
        monkeypatch.setattr(Snapshot, "tree", slow)
        session = opened.app.session
        await opened.pilot.press("3", "j", "j")
        await opened.pilot.pause()
        assert session.finding_tree
        assert session.earlier_tree is None
        focused = len(calls)
        for _ in range(3):
            session.load(Snapshot(opened.snapshot.run, opened.snapshot))
            await opened.pilot.pause()
        assert len(calls) == focused
        assert "Finding what it was computed from" in opened.screen()
        may_go_on.set()
        await opened.press()
        assert "Finding what it was computed from" not in opened.screen()
        may_go_on.clear()
        session.load(Snapshot(opened.snapshot.run, opened.snapshot))
        await opened.pilot.pause()
        assert session.finding_tree
        assert "Finding what it was computed from" not in opened.screen()
        may_go_on.set()
        await opened.press()
