"""Where gevent has put greenlets in the place of threads, the writer's are the system's."""

from __future__ import annotations

import _thread
import queue
import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

pytestmark = pytest.mark.tensorflow
pytest.importorskip("tensorflow")

from tfdbg_tui.dump import locks, threads  # noqa: E402

if TYPE_CHECKING:
    from typing import Any, Never

LONGEST_WAIT_SECONDS = 60.0


def greenlet(*_: Any) -> Never:
    raise AssertionError("is gevent's")


@pytest.fixture(autouse=True)
def patched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts what a greenlet would wait by in the place of what a thread does."""
    gevent = SimpleNamespace(
        is_module_patched=lambda name: name == "threading",
        get_original=lambda module, name: getattr(_thread, name),
    )
    monkeypatch.setitem(sys.modules, "gevent.monkey", gevent)
    monkeypatch.setattr(threading.Thread, "start", greenlet)
    monkeypatch.setattr(threading, "RLock", greenlet)
    monkeypatch.setattr(queue, "SimpleQueue", greenlet)


def test_a_thread_works_until_it_has_ended() -> None:
    wake, done = locks.Signal(), []

    def work() -> None:
        wake.wait(LONGEST_WAIT_SECONDS)
        done.append(threads.is_own())

    thread = threads.start(work, "works")
    assert not done
    wake.give()
    thread.join(LONGEST_WAIT_SECONDS)
    thread.join(LONGEST_WAIT_SECONDS)
    assert done == [True]
    assert thread.ident != threading.get_ident()


def test_a_lock_is_the_systems() -> None:
    with locks.new() as held:
        assert held
