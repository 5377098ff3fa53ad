"""What is counted of elements that graphs hand over is what Python counts in the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.observe import elements  # noqa: E402
from tfdbg_tui.dump.observe.groups import Group  # noqa: E402
from tfdbg_tui.wire.modes import TensorDebugMode  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from tfdbg_tui.logdir import Run

LENGTH = 200
RARE = 150


def rows() -> Any:
    """Return what the iterations of a loop see: each has NaN and infinities, one has others."""
    found = np.ones([LENGTH, 6], np.float32)
    for number, row in enumerate(found):
        row[: number % 5] = np.nan
        row[5] = -np.inf
    found[RARE, 4] = np.inf
    return found


@tf.function(input_signature=[tf.TensorSpec([LENGTH, None], tf.float32)])
def loop(x: Any) -> Any:
    last = x[0]
    for i in tf.range(LENGTH):
        row = x[i]
        half = tf.cast(row, tf.float16) * tf.constant(2.0, tf.float16)  # of unknown size
        pair = tf.stack([tf.reduce_sum(row), tf.reduce_max(row)])
        small = tf.complex(pair, pair) + tf.cast(tf.reshape(pair, [1, 2]), tf.complex64)
        last = row * tf.math.real(small[0, 0]) + tf.cast(half, tf.float32)
    return last


@tf.function
def many(x: Any) -> Any:
    """See so many tensors in an iteration that they are handed over as few shapes of one type."""
    last = x[0]
    for i in tf.range(LENGTH):
        last = x[i]
        for number in range(1, 6):
            row = last * float(number)
            half = tf.cast(row, tf.float16) * tf.constant(0.5, tf.float16)
            pair = tf.stack([tf.reduce_max(row), tf.cast(tf.reduce_max(half), tf.float32)])
            last = row + pair[0] + tf.reshape(pair, [2, 1])[0]
    return last


def recorded(root: Path, mode: str, program: Any, size: int = -1, **options: Any) -> Run:
    tfdbg_tui.enable_dump_debug_info(str(root), mode, size, magnitudes_every=0, **options)
    try:
        program()
    finally:
        tfdbg_tui.disable_dump_debug_info()
    return tfdbg_tui.open_run(root)


def counts(run: Run) -> dict[tuple[str, int | None], tuple[int | None, ...]]:
    return {
        (trace.tensor_name, trace.iteration): (
            trace.summary.size,
            trace.summary.neg_inf,
            trace.summary.pos_inf,
            trace.summary.nan,
        )
        for trace in run.graph_executions
    }


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every call of Python by a graph."""
    found: list[Any] = []
    detail = Group.detail

    def noting(*args: Any) -> Any:
        found.append(args)
        return detail(*args)

    monkeypatch.setattr(Group, "detail", noting)
    return found


@pytest.mark.parametrize("function", [loop, many])
def test_as_much_is_counted_as_python_would(
    tmp_path: Path, entries: list[Any], function: Any
) -> None:
    def program() -> Any:
        return function(tf.constant(rows()))

    counted = recorded(tmp_path / "counted", "CONCISE_HEALTH", program)
    assert len(entries) == (function is loop)  # for the argument of unknown size, in no loop
    entries.clear()
    full = recorded(tmp_path / "full", "FULL_HEALTH", program)
    assert len(entries) >= LENGTH
    expected = counts(full)
    assert sum(any(c[1:]) for c in expected.values()) > 5 * LENGTH
    assert counts(counted) == expected
    frozen = recorded(tmp_path / "frozen", "ADAPTIVE", program, size=10**6, keep_after_bad=10**6)
    assert {key: found for key, found in counts(frozen).items() if key in expected} == expected


def test_what_was_not_seen_before_is_described_in_full(tmp_path: Path) -> None:
    run = recorded(tmp_path, "ADAPTIVE", lambda: loop(tf.constant(rows())))
    whole: dict[str, set[int | None]] = {}
    for trace in run.graph_executions:
        if trace.summary.mode == TensorDebugMode.FULL_HEALTH:
            whole.setdefault(trace.op_type, set()).add(trace.iteration)
    assert RARE in whole["Cast"]
    assert RARE - 1 not in whole["Cast"]


def test_elements_that_are_too_many_are_not_handed_over(tmp_path: Path, entries: list[Any]) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
    def double(x: Any) -> Any:
        for _ in tf.range(3):
            x *= 2.0
        return x

    def program() -> None:
        for size in (10, elements.MAX_WORDS):
            double(tf.fill([size], tf.constant(np.nan, tf.float64)))

    run = recorded(tmp_path, "ADAPTIVE", program)
    found = [t.summary.nan for t in run.graph_executions if t.op_type == "Mul"]
    assert found == [10] * 3 + [elements.MAX_WORDS] * 3
    assert len(entries) == 3 + 2  # for the iterations of the second, and for both arguments


def test_elements_of_a_dataset(tmp_path: Path) -> None:
    def program() -> None:
        data = tf.data.Dataset.from_tensor_slices(rows())
        list(data.map(lambda row: tf.sin(row) * 2.0))

    expected = sorted(np.count_nonzero(~np.isfinite(row)) for row in rows())
    run = recorded(tmp_path, "ADAPTIVE", program)
    for op_type in ("Sin", "Mul"):
        found = [t.summary for t in run.graph_executions if t.op_type == op_type]
        assert sorted(summary.nan for summary in found) == expected
