"""What a function has changed when it raises is what it has changed without a dump."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.diagnosis import diagnose  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Act = Callable[..., Any]
    Program = Callable[[Any, Act], Any]

LONGEST_WAIT_SECONDS = 60.0  # where the function waits for what it must not wait for


def in_a_call(x: Any, act: Act) -> Any:
    @tf.function
    def inner(y: Any) -> Any:
        z = tf.sqrt(y) * 2.0
        act()
        return z

    return inner(tf.exp(x))


def in_a_call_of_a_call(x: Any, act: Act) -> Any:
    call = tf.function(lambda y: in_a_call(y, act))
    return call(x) + 1.0


def in_calls_of_one_function(x: Any, act: Act) -> Any:
    call = tf.function(lambda y: in_a_call(y, act))
    return call(x) + call(2.0)


def in_a_branch(x: Any, act: Act) -> Any:
    y = tf.exp(x)

    def acting() -> Any:
        act()
        return tf.sqrt(y)

    return tf.cond(tf.random.uniform([]) >= 0.0, acting, lambda: y)


def in_python(x: Any, act: Act) -> Any:
    y = tf.exp(x)
    return tf.py_function(lambda: act(), [], tf.int32), y


def by_a_number_that_a_call_makes(x: Any, act: Act) -> Any:
    root = tf.function(lambda v: tf.sqrt(v))
    y = tf.exp(x)
    act(tf.cast(root(1.0), tf.int32))
    return y


def in_a_loop(x: Any, act: Act) -> Any:
    y = tf.exp(x)

    def acting(i: Any, z: Any) -> tuple[Any, Any]:
        act()
        return i + 1, z * 2.0

    return tf.while_loop(lambda i, _: i < 1, acting, [0, tf.constant(1.0)])[1] + y


PROGRAMS = (
    in_a_call,
    in_a_call_of_a_call,
    in_calls_of_one_function,
    in_a_branch,
    in_python,
    by_a_number_that_a_call_makes,
)
MODES = ("ADAPTIVE", "NO_TENSOR", "FULL_TENSOR")


# A loop begins once its condition is on record, which it is in the other modes.
@pytest.mark.parametrize(
    ("program", "mode"),
    [*((program, mode) for program in PROGRAMS for mode in MODES), (in_a_loop, "ADAPTIVE")],
)
def test_what_needs_no_data_does_not_wait_for_them(
    program: Program, mode: str, tmp_path: Path
) -> None:
    """The data come, and end, only once the function has counted the call."""
    counts, ends = tf.Variable(0), threading.Event()
    has_counted: list[bool] = []

    def elements() -> Iterator[float]:
        for number in range(3):
            while not (counted := int(counts) > number) and not ends.wait(0.001):
                pass
            has_counted.append(counted)
            if number < 2:
                yield 1.0

    data = tf.data.Dataset.from_generator(elements, output_signature=tf.TensorSpec([]))
    iterator = iter(data)

    @tf.function
    def step() -> Any:
        return program(iterator.get_next(), lambda number=1: counts.assign_add(number))

    limit = threading.Timer(LONGEST_WAIT_SECONDS, ends.set)
    limit.start()
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, -1)
    for _ in range(2):
        step()
    with pytest.raises(tf.errors.OutOfRangeError):
        step()
    tfdbg_tui.disable_dump_debug_info()
    limit.cancel()
    assert has_counted == [True] * 3
    run = open_run(str(tmp_path))
    names = {run.graph_executions.site(row).op_name for row in range(len(run.graph_executions))}
    assert "Exp" in names
    assert "IteratorGetNext" in names


def test_what_raises_without_waiting_for_records_is_told(tmp_path: Path) -> None:
    def fail() -> Any:
        raise ValueError("mine")

    iterator = iter(tf.data.Dataset.from_tensors(1.0))

    @tf.function
    def step() -> Any:
        return tf.exp(iterator.get_next()), tf.py_function(fail, [], tf.float32)

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="mine"):
        step()
    tfdbg_tui.disable_dump_debug_info()
    report = diagnose(open_run(tmp_path))
    assert report.verdict == "incomplete"
    assert any("what step computed before it failed" in gap.text for gap in report.gaps)
