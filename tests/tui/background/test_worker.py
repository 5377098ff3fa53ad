"""Threads of the app end before the process does."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from tfdbg_tui.tui.background.tasks import Tasks
from tfdbg_tui.tui.background.worker import Worker, end_workers

_LEAVE_BUSY = """\
import numpy as np
from tfdbg_tui.tui.background.worker import Worker, end_workers

class Busy(Worker):
    def stop(self):
        pass
    def run(self):
        while True:
            np.sort(numbers)

numbers = np.random.rand(100_000)
for _ in range(4):
    Busy("busy").start()
end_workers()
"""


class Endless(Worker):
    def __init__(self) -> None:
        super().__init__("endless")
        self.stopped = threading.Event()
        self.working = threading.Event()

    def stop(self) -> None:
        self.stopped.set()

    def run(self) -> None:
        while True:
            try:
                self.working.set()
                np.sort(np.arange(1000.0))
            except Exception:
                continue


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_worker_ends_in_the_middle_of_its_work() -> None:
    worker = Endless()
    worker.start()
    worker.working.wait()
    end_workers()
    assert not worker.is_alive()
    assert worker.stopped.is_set()


def test_leaving_does_not_abort_the_process() -> None:
    for _ in range(3):
        result = subprocess.run([sys.executable, "-c", _LEAVE_BUSY], check=False, timeout=60)
        assert result.returncode == 0


def test_work_that_is_wanted_while_the_app_ends_is_left_undone() -> None:
    tasks = Tasks(lambda _: None)
    assert tasks.start_work(lambda: 1).done.wait(60)
    tasks.stop()
    tasks.join()
    assert not tasks.start_work(lambda: 2).done.is_set()
    never_started = Tasks(lambda _: None)
    never_started.stop()
    assert not never_started.start_work(lambda: 3).done.is_set()
