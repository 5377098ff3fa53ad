"""What a process of `multiprocessing` sends to others: results, by pipes, queues and pools.

Who has got the last one may end the process at once, by SIGTERM: `Pool.terminate` does, which is
the end of each ``with Pool()``, and the end of a program does so to its daemons.  A handler of that
signal would show in the program, and would wait for the op that runs.
"""

from __future__ import annotations

from multiprocessing import connection
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.interrupts import contained

if TYPE_CHECKING:
    from collections.abc import Callable

_watched = False


def before_sending(act: Callable[[], None]) -> None:
    """Call `act` each time before something is sent; the first call in a process counts."""
    global _watched
    send: Callable[..., None] | None = getattr(connection.Connection, "_send_bytes", None)
    if _watched or send is None:
        return

    def send_bytes(self: Any, *args: Any) -> None:
        with contained():
            act()
        send(self, *args)

    connection.Connection._send_bytes = send_bytes  # type: ignore[attr-defined]
    _watched = True
