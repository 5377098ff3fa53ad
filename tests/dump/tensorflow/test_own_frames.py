"""What Python and TensorFlow say about the program's lines and functions is as without a dump."""

from __future__ import annotations

import os
import re
import traceback
import warnings
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.diagnosis.report.diagnosis import diagnose  # noqa: E402
from tfdbg_tui.dump.tensorflow import own  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

v1 = tf.compat.v1


def lines_warned_of() -> list[tuple[str, str]]:
    """Return which file each of some warnings is about, of as many frames as there are."""

    @tf.autograph.experimental.do_not_convert
    def warn(x: Any) -> Any:
        for frames in range(1, 30):
            warnings.warn(str(frames), stacklevel=frames)
        return x * 2.0

    @tf.custom_gradient
    def handed_on(x: Any) -> Any:
        return tf.identity(x), warn

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tf.data.Dataset.range(3).map(lambda x: warn(tf.cast(x, tf.float32)))
        x = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            y = handed_on(x)
        tape.gradient(y, x)
        tf.function(warn)(1.0)
        tf.py_function(warn, [1.0], tf.float32)
        with tf.Graph().as_default(), v1.Session() as session:
            session.run(tf.py_function(warn, [1.0], tf.float32))
    return [(warning.filename, str(warning.message)) for warning in caught]


def test_warnings_are_about_the_same_lines(tmp_path: Path) -> None:
    lines_warned_of()  # Python 3.13 warns of AutoGraph itself where that converts a function.
    plain = lines_warned_of()
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    dumped = lines_warned_of()
    tfdbg_tui.disable_dump_debug_info()
    assert len(plain) > 100
    assert dumped == plain


def test_lambdas_that_autograph_converted_have_a_name(tmp_path: Path) -> None:
    """What they call back in Python is a line of theirs, while they are run."""

    def nested(x: Any) -> Any:
        return tf.function(lambda y: tf.py_function(lambda z: z + 1.0, [y], tf.float32))(x)

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    result = tf.py_function(nested, [1.0], tf.float32)
    tfdbg_tui.disable_dump_debug_info()
    assert result == 2.0
    assert diagnose(open_run(str(tmp_path))).verdict == "clean"


def test_errors_name_python_functions_as_without_a_dump() -> None:
    def number() -> int:
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            tf.function(lambda: tf.numpy_function(lambda: 1, [], tf.float64))()
        (found,) = re.findall(r"pyfunc_(\d+) ", str(raised.value))
        return int(found)

    before = number()
    own.py_func_token(number)
    assert number() == before + 1


def session_runs() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        session.run(tf.debugging.check_numerics(tf.math.log([0.0]), ""))


def session_callable_runs() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        session.make_callable(tf.debugging.check_numerics(tf.math.log([0.0]), ""))()


def tape_asks_for_gradients() -> None:
    def raises(_: Any) -> Any:
        raise ValueError

    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = tf.custom_gradient(lambda x: (x * 2.0, raises))(x)
    tape.gradient(y, x)


def concrete_function_is_called() -> None:
    function = tf.function(lambda: tf.debugging.check_numerics(tf.math.log([0.0]), ""))
    function.get_concrete_function()()


def op_of_python_values_runs() -> None:
    tf.io.read_file("/none")


def callable_of_nothing_is_made() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        session.make_callable("none")


@tf.autograph.experimental.do_not_convert
def raises_when_traced(x: Any) -> Any:
    raise ValueError


def dataset_is_made() -> None:
    tf.data.Dataset.range(3).map(raises_when_traced)


def shape_is_set() -> None:
    tf.function(lambda x: x.set_shape([3])).get_concrete_function(tf.TensorSpec([2]))


def layer_is_made() -> None:
    class Layer(tf.keras.layers.Layer):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__(unknown=1)

    Layer()


def frames_of(program: Callable[[], None]) -> list[tuple[str, str]]:
    """Return file and function of each frame in the tracebacks of what a program raises."""
    with pytest.raises(Exception) as raised:  # noqa: PT011
        program()
    errors: list[BaseException] = [raised.value]
    while errors[-1].__context__ is not None:
        errors.append(errors[-1].__context__)
    entries = [entry for error in errors for entry in traceback.extract_tb(error.__traceback__)]
    return [(entry.filename, entry.name) for entry in entries]


@pytest.mark.parametrize(
    "program",
    [
        session_runs,
        session_callable_runs,
        tape_asks_for_gradients,
        concrete_function_is_called,
        op_of_python_values_runs,
        callable_of_nothing_is_made,
        dataset_is_made,
        shape_is_set,
        layer_is_made,
    ],
)
def test_tracebacks_have_no_frame_of_ours(tmp_path: Path, program: Callable[[], None]) -> None:
    plain = frames_of(program)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    dumped = frames_of(program)
    tfdbg_tui.disable_dump_debug_info()
    ours = os.path.dirname(tfdbg_tui.__file__)
    assert len(dumped) >= len(plain) > 1
    assert not [file for file, _ in dumped if file.startswith(ours)]


def test_messages_about_ops_of_gradients_have_no_frame_of_ours(tmp_path: Path) -> None:
    """TensorFlow tells where the op was made that has failed, from a stack that it keeps."""

    @tf.function
    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.linalg.slogdet(x)[1]
        return tape.gradient(y, x)

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        gradient(tf.ones([2, 2]))
    tfdbg_tui.disable_dump_debug_info()
    assert f'"{__file__}"' in str(raised.value)
    assert "tape_hooks" not in str(raised.value)


def test_what_the_dump_raises_keeps_the_frame_that_raised(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1, on_bad="raise")
    frames = frames_of(lambda: tf.math.log([0.0]))
    tfdbg_tui.disable_dump_debug_info()
    assert frames[-1][0].startswith(os.path.dirname(tfdbg_tui.__file__))
