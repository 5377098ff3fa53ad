"""Which frames are the user's."""

from __future__ import annotations

import pytest

from tfdbg_tui.diagnosis.locations import Location, is_library_frame, user_frame
from tfdbg_tui.logdir import StackFrame


def frame(path: str | None) -> StackFrame:
    return StackFrame("host", path, 1, "f")


@pytest.mark.parametrize(
    "path",
    [
        "/home/ann/venv/lib/python3.12/site-packages/tensorflow/python/ops/gen_math_ops.py",
        "/usr/lib/python3/dist-packages/numpy/core/fromnumeric.py",
        "/usr/lib/python3.12/threading.py",
        "/home/ann/.pyenv/versions/3.11.7/lib/python3.11/runpy.py",
        r"C:\Users\ann\venv\Lib\site-packages\keras\src\trainers\trainer.py",
        r"C:\Python312\Lib\threading.py",
        "/home/ann/code/tensorflow/tensorflow/python/eager/def_function.py",
        "/home/ann/keras/keras/src/layers/layer.py",
        "/home/ann/tfdbg-tui/tfdbg_tui/dump/eager.py",
        "/tmp/__autograph_generated_file4md6pyr9.py",
        "<frozen importlib._bootstrap>",
        "<__array_function__ internals>",
        "/home/ann/<lambdifygenerated-1>",
        None,
    ],
)
def test_library_frames(path: str | None) -> None:
    assert is_library_frame(frame(path))


@pytest.mark.parametrize(
    "path",
    [
        "/home/ann/tensorflow/my_model/train.py",
        "/home/ann/projects/keras/train.py",
        "/srv/tensorflow-2.21/examples/mnist.py",
        "/home/ann/tfdbg_tui/examples/debug_mnist.py",
        "/tmp/ipykernel_4711/1234567.py",
        r"C:\Users\ann\tensorflow\train.py",
        "train.py",
        "<stdin>",
        "<ipython-input-3-0123>",
        "/home/ann/<ipython-input-3-0123>",
        "/home/ann/<doctest module.f[0]>",
        "/home/ann/<string>",
    ],
)
def test_user_frames(path: str) -> None:
    assert not is_library_frame(frame(path))


def test_the_innermost_user_frame_wins() -> None:
    library, main, loss = frame("/x/site-packages/a.py"), frame("/p/main.py"), frame("/p/loss.py")
    assert user_frame([main, library, loss, library]) == 2
    keras = frame("/x/site-packages/keras/src/a.py")
    assert user_frame([library, keras]) == 0  # the whole program is installed
    assert user_frame([keras, keras]) is None
    assert user_frame([]) is None


def test_a_line_of_a_file_comes_before_one_of_a_text_that_was_executed() -> None:
    text, main, cell = frame("/p/<string>"), frame("/p/main.py"), frame("<ipython-input-3-0123>")
    assert user_frame([main, text, text]) == 0
    assert user_frame([text, text]) == 1
    assert user_frame([main, cell]) == 1


@pytest.mark.parametrize("path", ["/home/ann/train.py", r"C:\Users\ann\train.py", "train.py"])
def test_a_line_in_few_characters(path: str) -> None:
    assert Location(path, 12, "step", "").short == "train.py:12"
