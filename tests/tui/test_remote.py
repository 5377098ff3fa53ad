"""A logdir behind a URL in the app: no key waits for the server, whatever becomes of it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from tests.storage import places
from tfdbg_tui.storage import connection, remote
from tfdbg_tui.wire import filesets

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open, Opened

KEYS = """
a enter 6 enter 3 o i } { ) ( g G 2 g G w escape V escape M escape exclamation_mark escape v 3 f
s z e enter escape Y c 4 b 5 pagedown 1 right_square_bracket escape 3 escape
"""


class Server:
    """What becomes of the server, and what it is asked for while keys are pressed.

    Attributes:
        gone: Whether it cannot be reached.
        key: The key that is being pressed.
        kept_waiting: The keys that had to wait for it.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gone = False
        self.key = ""
        self.kept_waiting: list[str] = []
        connect = connection.Connection._file_system

        def ask(asked: connection.Connection) -> Any:
            if self.key and threading.current_thread() is threading.main_thread():
                self.kept_waiting.append(self.key)
            if self.gone:
                raise ConnectionResetError("it hung up")
            return connect(asked)

        monkeypatch.setattr(connection.Connection, "_file_system", ask)
        monkeypatch.setattr(connection, "_PAUSES", ())
        monkeypatch.setattr(connection, "_REST_SECONDS", 0.0)
        monkeypatch.setattr(remote.RemoteStorage, "poll_seconds", 0.0)

    async def press_all(self, opened: Opened) -> None:
        for self.key in KEYS.split():
            await opened.press(self.key)
        self.key = ""


async def until(opened: Opened, condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        await opened.pilot.pause(0.02)
    raise AssertionError(opened.screen())


async def test_no_key_waits_for_a_server_that_comes_and_goes(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = places.memory()
    place.fill(logdirs["mnist"])
    server = Server(monkeypatch)
    async with open_app(place.url, follow=True) as opened:
        await server.press_all(opened)
        before = len(opened.snapshot.run.graph_executions)

        server.gone = True
        await until(opened, lambda: "trying again, no connection" in opened.screen())
        await server.press_all(opened)
        assert len(opened.snapshot.run.graph_executions) == before
        assert not opened.snapshot.run.problems

        (traces,) = logdirs["mnist"].glob(f"*.{filesets.GRAPH_EXECUTION_TRACES}")
        place.put(traces.name, traces.read_bytes() * 2)
        server.gone = False
        await until(opened, lambda: len(opened.snapshot.run.graph_executions) == 2 * before)
        assert "trying again" not in opened.screen()
    assert not server.kept_waiting
