"""Rows are taken out later than they are put in: whose they are is still known then."""

from __future__ import annotations

import functools
import gc
import sys
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
np = pytest.importorskip("numpy")
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.observe import row_ops, row_queue  # noqa: E402
from tfdbg_tui.dump.observe.eager import EagerExecutions  # noqa: E402
from tfdbg_tui.dump.tensorflow import executors, resources, stages  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from tests.preloaded import Preloaded
    from tfdbg_tui.logdir import Run


def recorded(root: Path, program: Any) -> Run:
    tfdbg_tui.enable_dump_debug_info(str(root), "ADAPTIVE", -1)
    try:
        program()
    finally:
        tfdbg_tui.disable_dump_debug_info()
    return open_run(root)


def no_mark(*_: Any) -> None:
    raise RuntimeError("no mark today")


def test_functions_that_are_collected_before_their_rows_are_taken(tmp_path: Path) -> None:
    def function() -> None:
        tf.function(lambda p: tf.math.log(p) * 2.0)(tf.constant([1.0, 2.0]))

    def dataset() -> None:
        numbers = tf.data.Dataset.from_tensor_slices([1.0, 2.0])
        list(numbers.map(lambda p: tf.math.log(p) * 2.0).as_numpy_iterator())

    def collected(program: Any) -> None:
        with row_queue._queue.lock:  # The thread that takes rows waits.
            for _ in range(5):
                program()
                gc.collect()

    recorded(tmp_path / "first", function)  # From now on there is a thread.
    gc.collect()
    row_queue.drain()
    before = set(row_queue._kept)  # Those of other tests' functions, which may live on.
    for program, executions in ((function, 5), (dataset, 10)):
        run = recorded(tmp_path / program.__name__, functools.partial(collected, program))
        assert len(run.graph_executions) == executions * 4
        assert not run.omissions

    gc.collect()
    row_queue.drain()
    assert row_queue._kept <= before


def test_a_group_that_is_there_until_the_process_ends_leaves_without_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = object()
    errors: list[Any] = []
    kept = row_queue.KeepAlive(group)  # type: ignore[arg-type]
    with monkeypatch.context() as ended:
        ended.setattr(sys, "unraisablehook", errors.append)
        ended.setattr(row_queue, "_queue", None)
        del kept
    assert not errors
    row_queue.drain()
    assert group not in row_queue._kept


def test_records_belong_to_their_call_whenever_they_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_queue, "_INTERVAL_SECONDS", 0.0005)
    log = tf.function(lambda p: tf.math.log(p))
    functions = tf.function(lambda x: log(log(x) + 1.0)), tf.function(lambda x: tf.sin(x) * 2.0)
    x = tf.constant([0.0, 2.0])

    def call(function: Any) -> None:
        for _ in range(200):
            function(x)

    def program() -> None:
        threads = [threading.Thread(target=call, args=(function,)) for function in functions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    found = Counter(t.execution_index for t in recorded(tmp_path, program).graph_executions)
    assert len(found) == 400
    assert len(set(found.values())) == 2, Counter(found.values())


def test_of_two_calls_that_begin_at_once_none_is_taken_for_the_only_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, begun, inside, ended = (threading.Event() for _ in range(4))
    begin_call = EagerExecutions.begin_call

    def slow_begin(self: EagerExecutions, name: str, device: str = "") -> Any:
        if "first" in name:
            asked.set()
            begun.wait(0.5)  # In vain, if the other call may not begin now.
        return begin_call(self, name, device)

    def wait(event: threading.Event, other: threading.Event) -> Any:
        event.set()
        other.wait(5.0)
        return np.int64(0)

    @tf.function(autograph=False)
    def first(x: Any) -> Any:
        with tf.control_dependencies([tf.math.log(x)]):
            return tf.numpy_function(lambda: wait(inside, ended), [], tf.int64)

    @tf.function(autograph=False)
    def second(x: Any) -> Any:
        with tf.control_dependencies(
            [tf.numpy_function(lambda: wait(begun, inside), [], tf.int64)]
        ):
            return tf.math.sin(x)

    def call_second() -> None:
        asked.wait(5.0)
        second(tf.constant(1.0))
        row_queue.drain()
        ended.set()

    def program() -> None:
        thread = threading.Thread(target=call_second)
        thread.start()
        first(tf.constant(2.0))
        thread.join()

    monkeypatch.setattr(EagerExecutions, "begin_call", slow_begin)
    run = recorded(tmp_path, program)
    assert [t.op_type for t in run.graph_executions if t.execution_index is None] == []
    assert {t.op_type for t in run.graph_executions} >= {"Log", "Sin"}


def test_a_call_that_runs_alone_needs_no_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "put_number", no_mark)
    monkeypatch.setattr(row_queue, "_INTERVAL_SECONDS", 0.0005)
    monkeypatch.setattr(row_queue._queue, "takes_rows_of_datasets", False)
    log = tf.function(lambda p: tf.math.log(p))
    branch = tf.function(lambda x: tf.cond(x[0] > 0.0, lambda: log(x) * 2.0, lambda: tf.sin(x)))
    functions = tf.function(lambda x: log(branch(log(x)) + 1.0) + 1.0), log

    def program() -> None:
        for number in range(200):
            with tfdbg_tui.step(number):
                for function in functions:
                    function(tf.constant([float(number % 3), 2.0]))

    run = recorded(tmp_path, program)
    found = Counter(t.execution_index for t in run.graph_executions)
    assert len(found) == 400
    assert all(t.step == run.executions[t.execution_index].step for t in run.graph_executions)
    assert not run.omissions


def test_a_call_that_fails_or_is_interrupted_ends_with_a_mark(tmp_path: Path) -> None:
    sin = tf.function(tf.sin)

    def between(x: Any) -> Any:
        with tfdbg_tui.step(7):
            return sin(x) + sin(x)

    @tf.function
    def outer(x: Any) -> Any:
        y = tf.py_function(between, [tf.exp(x)], tf.float32)
        return tf.sqrt(y) * 2.0

    fails = tf.function(lambda x: tf.debugging.check_numerics(tf.math.log(x), "log") * 2.0)

    def program() -> None:
        for _ in range(20):
            outer(tf.constant([1.0]))
            sin(tf.constant([1.0]))
            with pytest.raises(tf.errors.InvalidArgumentError):
                fails(tf.constant([0.0]))

    run = recorded(tmp_path, program)
    calls = [i for i, e in enumerate(run.executions) if e.graph_id is not None]
    assert not run.omissions
    assert not [t for t in run.graph_executions if t.execution_index is None]
    found = Counter(t.execution_index for t in run.graph_executions)
    assert sorted(found) == calls
    names = {run.executions[i].op_type for i in calls}
    assert len(calls) == 100
    assert len({(run.executions[i].op_type, number) for i, number in found.items()}) == len(names)


def test_marks_that_are_lost_change_no_other_cause(tmp_path: Path) -> None:
    function = tf.function(tf.sin)

    def program() -> None:
        function(tf.constant([1.0]))
        with row_queue._queue.lock:  # The thread that takes rows waits.
            row_queue.drain()
            function(tf.constant([2.0]))
            list(stages.take_all(row_ops.NAME, resources.current_context()))
            for value in (3.0, 4.0):
                function(tf.constant([value]))
            row_queue.drain()

    run = recorded(tmp_path, program)
    calls = [i for i, e in enumerate(run.executions) if e.graph_id is not None]
    found = Counter(t.execution_index for t in run.graph_executions)
    assert sorted(found) == [calls[0], *calls[2:]]
    assert len(set(found.values())) == 1


def test_a_call_has_ended_though_no_mark_can_be_put(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = tf.function(lambda x: tf.map_fn(tf.sin, x))  # Calls with loops end with marks.

    def program() -> None:
        function(tf.constant([1.0]))
        with monkeypatch.context() as patch:
            patch.setattr(stages, "put_number", no_mark)
            assert function(tf.constant([0.0])).numpy() == 0
        function(tf.constant([2.0]))

    run = recorded(tmp_path, program)
    causes = [trace.execution_index for trace in run.graph_executions]
    assert causes[-1] is not None
    assert any("no mark today" in omission.reason for omission in run.omissions)


def test_rows_outlive_the_context_that_they_were_put_in(
    tmp_path: Path, preloaded: Preloaded
) -> None:
    result = preloaded.run(_THROWN_AWAY, tmp_path)
    assert result.returncode == 0, result.stderr
    run = open_run(tmp_path)
    ops = Counter(execution.op_name for execution in run.graph_executions)
    assert (ops["Sin"], ops["Cos"]) == (3, 3)
    assert not run.omissions


_THROWN_AWAY = """
import gc, sys, weakref, tensorflow as tf, tfdbg_tui
from tensorflow.python.eager import context
from tfdbg_tui.dump.observe import row_queue
tfdbg_tui.enable_dump_debug_info(sys.argv[1], "ADAPTIVE", -1)
tf.function(tf.tan)(1.0)  # starts the thread
first = weakref.ref(context.context())
for function in (tf.function(tf.sin), tf.function(tf.cos)):
    with row_queue._queue.lock:  # The thread that takes rows waits.
        for _ in range(3):
            function(tf.constant([1.0]))
        context._reset_context()
del function
tf.function(tf.tan)(1.0)
row_queue.drain()  # what was left,
row_queue.drain()  # and finds that nothing is left any more
gc.collect()
assert first() is None
"""


def test_a_thread_that_cannot_begin_or_fails_holds_up_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    queue = row_queue._Queue([])
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        for _ in range(2):
            with pytest.raises(RuntimeError):
                queue._start()
    monkeypatch.setattr(executors, "synchronous", refused)
    queue._start()
    queue.end()
    assert queue._has_run
