"""Bad executions of which a graph hands over no more than their pattern are recorded as others."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.observe.groups import Group  # noqa: E402
from tfdbg_tui.dump.observe.looks import Looks  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STEPS = 60
SIZE = 100
"""More elements in a group than are handed over in any case."""


@tf.function(input_signature=[tf.TensorSpec([SIZE, None]), tf.TensorSpec([SIZE, SIZE])])
def function(x: Any, w: Any) -> Any:
    """A loop of tensors of known size, and one of tensors of unknown size."""
    y = x
    for _ in tf.range(4):
        w = tf.tanh(w @ w) * 2.0 + tf.reduce_sum(w)
    for _ in tf.range(4):
        y = tf.nn.relu(tf.sqrt(tf.square(w @ y)) / 2.0)
    return y, w


@tf.function
def line(x: Any, w: Any, *, covered: bool) -> Any:
    """Ops in no loop, more than are handed to Python in any case.

    Of one it shows in the next one that it is bad, or it is looked at.
    """
    y = x
    for _ in range(6):
        y = tf.tanh(w.read_value() @ y) * 2.0
    root = tf.sqrt(w.read_value())
    return tf.reduce_mean(-x * tf.square(y - x)), root * x[:, :1] if covered else root


@tf.function
def skipped(x: Any, w: Any) -> Any:
    """Ops of a variable that stays healthy though all else is NaN, and of what is in part zero."""
    half = tf.cast(w.read_value(), tf.float16)
    for _ in range(10):
        half = tf.tanh(half @ tf.cast(x, tf.float16))
    for _ in tf.range(4):
        x = tf.pad(x[:50], ((0, 50), (0, 0))) + tf.pad(x[50:], ((50, 0), (0, 0)))
    return half, x


def inputs(step: int) -> tuple[Any, Any]:
    """Return what a step computes with: mostly NaN, but some of it healthy or infinite in turn."""
    x = np.full((SIZE, 60 if step % 9 == 4 else 70), np.nan, np.float32)
    w = np.full((SIZE, SIZE), np.nan, np.float32)
    if step % 7 == 6:
        x[7:] = 1.0
    if step % 5 == 3:
        w[...] = 0.001 if step % 2 else -0.001
    if step % 11 == 10:
        x[0, 0], w[0, 0] = np.inf, -np.inf
    return tf.constant(x), tf.constant(w)


def recorded(root: Path, mode: str) -> list[tuple[Any, ...]]:
    """Return what is on record of all tensors, in the order of the file."""
    variable = tf.Variable(tf.zeros([SIZE, SIZE]))
    writer = tfdbg_tui.enable_dump_debug_info(str(root), mode, -1)
    for step in range(STEPS):
        x, w = inputs(step)
        variable.assign(w)
        with tfdbg_tui.step(step):
            function(x, w)
            line(x[:, :5], variable, covered=True)
            line(x[:, :5], variable, covered=False)
        writer.FlushExecutionFiles()  # What has been told so far is settled from now on.
    tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(root)
    return [
        (trace.tensor_name, trace.iteration, trace.step, repr(trace.summary))
        for trace in run.graph_executions
    ]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Returns of how many executions Python looks at the elements, and of how many at tensors."""
    taken: Counter[str] = Counter()

    def note(method: str, size: Callable[..., int]) -> None:
        original = getattr(Group, method)

        def noting(group: Group, first: Any, *args: Any) -> Any:
            taken[method] += size(first)
            return original(group, first, *args)

        monkeypatch.setattr(Group, method, noting)

    note("rows_of_elements", len)
    note("detail", lambda _row: 1)
    return taken


@pytest.mark.parametrize("mode", ["ADAPTIVE", "CONCISE_HEALTH"])
def test_what_is_settled_is_recorded_as_before(
    mode: str, tmp_path: Path, taken: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settled = recorded(tmp_path / "settled", mode)
    executions = taken.copy()
    taken.clear()
    monkeypatch.setattr(Looks, "patterns", lambda *_: None)
    assert recorded(tmp_path / "plain", mode) == settled
    assert 3 * executions["rows_of_elements"] < 2 * taken["rows_of_elements"]
    assert executions["detail"] + 20 < taken["detail"]


def test_runs_that_are_not_nan_all_over_are_settled(tmp_path: Path, taken: Counter[str]) -> None:
    x = tf.fill([SIZE, SIZE], np.float32(np.nan))
    variable = tf.Variable(tf.ones([SIZE, SIZE]))
    root = str(tmp_path)
    writer = tfdbg_tui.enable_dump_debug_info(root, "ADAPTIVE", -1, magnitudes_every=0)
    for _ in range(STEPS):
        skipped(x, variable)
        writer.FlushExecutionFiles()
    tfdbg_tui.disable_dump_debug_info()
    assert 0 < taken["detail"] < STEPS / 2
    assert 0 < taken["rows_of_elements"] < 4 * STEPS / 2
