"""No thread waits for itself, whatever runs in it at any time; nor a fork for other threads."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui import dump  # noqa: E402
from tfdbg_tui.dump import locks, threads  # noqa: E402
from tfdbg_tui.dump.encode.executions import EagerValues  # noqa: E402
from tfdbg_tui.dump.observe import row_queue  # noqa: E402
from tfdbg_tui.dump.observe.calls import Moment  # noqa: E402
from tfdbg_tui.dump.tensorflow import resources, stages  # noqa: E402
from tfdbg_tui.logdir import list_runs, open_run  # noqa: E402
from tfdbg_tui.wire.modes import TensorDebugMode  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.preloaded import Preloaded

VALUES = EagerValues(TensorDebugMode.CONCISE_HEALTH, b"")
EXECUTION: Any = (b"", VALUES, (), (), (), b"", 1, 0, 0.0, None, b"", 0)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Any]:
    yield tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    tfdbg_tui.disable_dump_debug_info()


def test_threads_wait_by_these_alone() -> None:
    kinds = r"\w*[Ll]ock|Event|Condition|\w*Semaphore|Barrier"
    others = re.compile(rf"\b_?thread(ing)?\.({kinds})\(|\bQueue\(")
    sources = Path(dump.__file__).parent.rglob("*.py")
    users = {path.name for path in sources if others.search(path.read_text())}
    assert users == {"locks.py"}


def test_a_signal_that_was_given_keeps_nobody_waiting() -> None:
    signal = locks.Signal()
    assert not signal.wait(0.0)
    signal.give()
    assert signal.wait(60.0)
    assert not signal.wait(0.0)


@pytest.mark.parametrize("holder", ["another thread", "the thread that forks"])
def test_what_a_fork_finds_held_is_of_its_own_thread(holder: str) -> None:
    lock = locks.new()
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            done.wait()

    if holder == "another thread":
        threading.Thread(target=hold, daemon=True).start()
        held.wait()
    else:
        lock.acquire()
    pid = os.fork()
    if not pid:
        is_free = lock.acquire(blocking=False)
        other = threading.Thread(target=lambda: os._exit(lock.acquire(blocking=False)))
        if is_free:
            other.start()
            other.join()
        os._exit(2)
    assert os.WEXITSTATUS(os.waitpid(pid, 0)[1]) == 0
    done.set()


def test_who_writes_or_looks_around_does_not_wait_for_the_writer_thread(
    writer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finalizers may execute ops there, and to switch recording off hands over what waits."""
    recorder, done = writer._recorder, threading.Event()
    where: list[str] = []

    def record(where_now: str) -> None:
        recorder._backlog.add(1 << 40)
        where.append(where_now)
        recorder.execution(EXECUTION)
        recorder._backlog.add(-(1 << 40))

    def looks_around() -> None:
        if not done.is_set():
            record("looks around")
            done.set()

    def write(definitions: Any) -> None:
        list(definitions)
        if threading.current_thread() is threading.main_thread():
            record("writes")

    def waits(_seconds: float) -> None:
        raise AssertionError("it waits")

    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", waits)
        patch.setattr(recorder._files, "write_definitions", write)
        patch.setattr(recorder, "each_round", looks_around)
        while not done.is_set() and not recorder.broken:
            done.wait(0.01)
        recorder.flush()
    assert not recorder.failure
    assert where == ["looks around", "writes"]


def test_what_a_thread_of_ours_runs_is_not_recorded(tmp_path: Path, writer: Any) -> None:
    """It is what finalizers of the program do: to record it may take the thread that runs it."""
    traced: list[int] = []

    @tf.function
    def function(x: Any) -> Any:
        traced.append(1)
        return tf.math.log(x)

    def finalizer() -> None:
        function(one)
        tf.math.sin(one)

    one = tf.constant(1.0)
    function(one)
    threads.start(finalizer, "test").join()
    function(one)
    writer.flush()
    run = open_run(tmp_path)
    names = [execution.op_type.split("_")[0] for execution in run.executions]
    assert "Sin" not in names
    assert sum(execution.graph_id is not None for execution in run.executions) == 2
    assert len(traced) == 1


def test_a_fork_that_is_interrupted_lets_go(writer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(writer._recorder, "held", interrupted)
        with pytest.raises(KeyboardInterrupt):
            writer.before_fork()
    writer.after_fork_in_parent()
    free: list[bool] = []

    def take(lock: Any) -> None:
        with contextlib.ExitStack() as held:
            free.append(lock.acquire(timeout=60.0) and bool(held.callback(lock.release)))

    for lock in (row_queue._queue.lock, row_queue._queue.mark_lock):
        other = threading.Thread(target=take, args=(lock,))
        other.start()
        other.join()
    assert free == [True, True]


def test_who_traces_does_not_wait_for_a_thread_that_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(row_queue, "_LONGEST_WAIT_SECONDS", 0.0)
    queue = row_queue._Queue([])
    begun = threading.Event()

    def watch() -> None:
        with queue.lock:
            queue.watch()
        begun.set()

    threading.Thread(target=watch, daemon=True).start()
    assert begun.wait(60.0)
    queue.end()


WRITES_AGAIN = """
import os, sys, threading, tensorflow as tf, tfdbg_tui
writer = tfdbg_tui.enable_dump_debug_info(sys.argv[1], "ADAPTIVE", -1)
tf.math.sin(1.0)
files = writer._recorder._files
write = files.write_definitions

def finalizer(definitions):
    if threading.current_thread() is threading.main_thread():
        files.write_definitions = write
        eval(sys.argv[2])
    write(definitions)

files.write_definitions = finalizer
writer.flush()
tfdbg_tui.disable_dump_debug_info()
print("done")
"""


@pytest.mark.parametrize(
    "act",
    [
        "writer.flush()",
        "writer.rest()",
        "tfdbg_tui.disable_dump_debug_info()",
        "os.waitpid(os.fork() or os._exit(0), 0)",
    ],
)
def test_what_interrupts_who_writes_may_write(
    tmp_path: Path, preloaded: Preloaded, act: str
) -> None:
    result = preloaded.run(WRITES_AGAIN, tmp_path, act)
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")
    assert [e.op_type for e in open_run(tmp_path).executions] == ["Sin"]


FORKS = """
import os, sys, threading, tensorflow as tf, tfdbg_tui
from tfdbg_tui.dump.observe import row_queue
writer = tfdbg_tui.enable_dump_debug_info(sys.argv[1], "ADAPTIVE", -1)
tf.function(tf.math.sin)(1.0)
listener = writer._listener
all_locks = [listener._copies._lock, listener.measured._lock, listener.switch._lock]
held, done = threading.Event(), threading.Event()

def other_thread():
    with all_locks[0], all_locks[1], all_locks[2]:
        held.set()
        done.wait()

other = threading.Thread(target=other_thread)
other.start()
held.wait()
pid = os.fork()
if not pid:
    with tfdbg_tui.step(1):
        tf.math.cos(1.0)
    sys.exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
done.set()
other.join()
tfdbg_tui.disable_dump_debug_info()
pid = os.fork()
if not pid:
    thread = row_queue._queue._thread
    tfdbg_tui.enable_dump_debug_info(sys.argv[1], "ADAPTIVE", -1)
    tf.math.tan(1.0)
    tfdbg_tui.disable_dump_debug_info()
    os._exit(6 if thread is None else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_a_fork_lacks_threads_that_hold_locks_and_leaves_the_files_of_others(
    tmp_path: Path, preloaded: Preloaded
) -> None:
    result = preloaded.run(FORKS, tmp_path)
    assert (result.returncode, result.stdout) == (0, "5\n6\n"), result.stderr
    assert len(list(tmp_path.glob("*.metadata"))) == 2
    (run,) = list_runs(tmp_path)
    assert run


def test_what_interrupts_who_takes_rows_takes_none(
    tmp_path: Path, writer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TensorFlow would wait without end for rows that are gone."""
    run_op, log = resources.run_op, tf.function(tf.math.log)

    def run_then_drain(op_type: str, *args: Any, **kwargs: Any) -> Any:
        found = run_op(op_type, *args, **kwargs)
        if op_type == "StageSize":
            drained.append(threading.current_thread())
            row_queue.drain()
        return found

    drained: list[threading.Thread] = []
    log(tf.constant(1.0))
    with row_queue._queue.lock:  # The thread that takes rows waits.
        log(tf.constant(1.0))
        with monkeypatch.context() as patch:
            patch.setattr(stages, "run_op", run_then_drain)
            row_queue.drain()
    assert drained == [threading.current_thread()]
    writer.flush()
    assert len(open_run(tmp_path).graph_executions) == 2 * 2


def test_who_goes_on_when_the_process_ends_takes_the_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody else does: TensorFlow would wait without end once there is no room."""
    queue = row_queue._Queue([])
    queue.watch()
    for has_ended in (False, True):
        drains: list[int] = []
        with monkeypatch.context() as patch:
            if has_ended:
                queue.end()
            patch.setattr(row_queue, "_queue", queue)
            patch.setattr(queue, "_contexts", [object()])
            patch.setattr(stages, "put_number", lambda *_: None)
            patch.setattr(queue, "drain", lambda to=drains: to.append(1))
            queue.mark(lambda: Moment(0.0, None, ()))
            drains_of_caller = has_ended and len(drains)
        assert drains_of_caller == (1 if has_ended else 0)
