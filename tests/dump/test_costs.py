"""What recording costs in numbers that need no clock; `costs.json` holds them.

A change that changes them updates the file, and says why in its commit.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.observe.groups import Group  # noqa: E402
from tfdbg_tui.dump.tensorflow import own_frames, stages  # noqa: E402
from tfdbg_tui.dump.tensorflow.function_defs import FunctionBody  # noqa: E402
from tfdbg_tui.dump.tensorflow.session_stages import SessionStage  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

COSTS = Path(__file__).with_name("costs.json")
CALLS_OF_AN_EAGER_OP = 19
"""Calls of Python functions of the writer, in a place that has been seen before."""
AROUND_AN_EAGER_OP = ("fast_path", "__exit__")
"""Besides, where the process had other threads as the dump began, that may yet execute ops."""


def small(x: Any) -> Any:
    return tf.sin(x) * 2.0


def loop(x: Any) -> Any:
    for _ in tf.range(50):
        x = tf.sin(x) * 1.01 + 0.1
    return x


def branch(x: Any) -> Any:
    for i in tf.range(50):
        x = x / 2.0 if i % 2 == 0 else tf.exp(-x)
    return x


def gradient(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.scan(lambda s, v: s * 0.9 + v, x))
    return tape.gradient(y, x)


def many_tensors(x: Any) -> Any:
    for _ in tf.range(5):
        for _ in range(10):
            x = tf.sin(x) * tf.reduce_max(tf.cos(x))
    return x


def unknown_sizes(x: Any) -> Any:
    return tf.add_n([tf.sin(x) * float(k) for k in range(6)])


def data(x: Any) -> Any:
    return list(tf.data.Dataset.range(50).map(lambda i: tf.cast(i, tf.float32) * 2.0 + x[0]))


def bad_loop(x: Any) -> Any:
    for _ in tf.range(50):
        x = tf.math.log(x - 1.5)
    return x


def bad_calls(x: Any) -> Any:
    call = tf.function(lambda x: tf.math.log(x - 1.5))
    return [call(x) for _ in range(50)]


def bad_large_calls(x: Any) -> Any:
    call = tf.function(lambda x: tf.math.log(x - 1.5))
    return [call(tf.tile(x, [8192])) for _ in range(50)]


def session_loop(x: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        return session.run(v1.while_loop(lambda i, _: i < 50, _one_more, [0, x.numpy()])[1])


def v1_loop(x: Any) -> Any:
    tf.compat.v1.disable_control_flow_v2()
    try:
        return session_loop(x)
    finally:
        tf.compat.v1.enable_control_flow_v2()


def _one_more(i: Any, x: Any) -> Any:
    return i + 1, tf.sin(x) * 1.01 + 0.1


def compiled(x: Any) -> Any:
    y = tf.reshape(tf.math.exp(x), [1, 2])
    return tf.reduce_sum(tf.square(y) * tf.constant([3.0, 4.0]))


PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "small": (small, [1.0, 2.0]),
    "loop": (loop, [1.0, 2.0]),
    "bad_loop": (bad_loop, [1.0, 2.0]),
    "bad_calls": (bad_calls, [1.0, 2.0]),
    "bad_large_calls": (bad_large_calls, [1.0, 2.0]),
    "branch": (branch, [1.0, 2.0]),
    "gradient": (gradient, [1.0, 2.0]),
    "many_tensors": (many_tensors, [1.0, 2.0]),
    "unknown_sizes": (unknown_sizes, [[1.0, 2.0, 3.0]]),
    "data": (data, [1.0, 2.0]),
    "session_loop": (session_loop, [1.0, 2.0]),
    "v1_loop": (v1_loop, [1.0, 2.0]),
    "compiled": (compiled, [1.0, 2.0]),
}


def test_costs_are_as_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: dict[str, int] = {}

    def count(name: str, owner: Any, method: str, size: Callable[..., int]) -> None:
        original = getattr(owner, method)

        def counting(*args: Any, **kwargs: Any) -> Any:
            counted[name] = counted.get(name, 0) + size(*args)
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, method, counting)

    def in_program(*_: Any) -> int:
        return int(threading.current_thread() is threading.main_thread())

    for method in ("sink", "detail"):
        count("entries into Python", Group, method, lambda *_: 1)
    count("reads of the queue", stages, "take_all", in_program)
    count("reads of a session's queue", SessionStage, "take_all", in_program)
    count("marks", stages, "put_number", lambda *_: 1)
    count("tensors", Group, "__init__", lambda _group, plan, *_: len(plan.rows))
    count("ops", FunctionBody, "add", lambda _body, added: len(added.definition.node_def))
    found = {}
    for name, (program, argument) in PROGRAMS.items():
        tfdbg_tui.enable_dump_debug_info(str(tmp_path / name), "ADAPTIVE", -1)
        try:
            counted.clear()
            counted["entries into Python"] = counted["marks"] = 0
            jit = program is compiled or None
            # Here and not in the module: what the writer keeps of a function goes with it.
            is_eager = program in (data, bad_calls, bad_large_calls, session_loop, v1_loop)
            call = program if is_eager else tf.function(program, jit_compile=jit)
            if program is unknown_sizes:
                call = tf.function(program, input_signature=[tf.TensorSpec([None, 3])])
            call(tf.constant(argument))
        finally:
            tfdbg_tui.disable_dump_debug_info()
        found[name] = dict(sorted(counted.items()))
    assert found == json.loads(COSTS.read_text()), json.dumps(found, indent=2)


def test_an_eager_op_takes_as_many_calls_of_python_as_noted(tmp_path: Path) -> None:
    called: list[str] = []

    def note(frame: Any, event: str, _: Any) -> None:
        is_own = frame.f_code.co_filename.startswith(own_frames.OWN_DIRECTORY)
        name = frame.f_code.co_name
        # Python 3.12 inlines comprehensions.
        is_counted = not name.startswith("<") and name not in AROUND_AN_EAGER_OP
        if event == "call" and is_own and is_counted:
            called.append(name)

    x = tf.ones([10])
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        with tfdbg_tui.step(1000), tfdbg_tui.step(1003):  # which is not measured
            for number in range(5):
                sys.setprofile(note if number == 4 else None)
                tf.add(x, x)
                sys.setprofile(None)
    finally:
        sys.setprofile(None)
        tfdbg_tui.disable_dump_debug_info()
    assert len(called) == CALLS_OF_AN_EAGER_OP, " ".join(called)
