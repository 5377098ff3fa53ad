"""What graphs count themselves is what Python would count, and what is new comes to Python."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.observe import graph_counts, row_queue  # noqa: E402
from tfdbg_tui.dump.observe.groups import Group  # noqa: E402
from tfdbg_tui.dump.tensorflow import resources  # noqa: E402
from tfdbg_tui.wire.modes import TensorDebugMode  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from tfdbg_tui.logdir import Run

LENGTH = 200
RARE = 150


def elements() -> Any:
    """Return what the iterations of a loop see: each has NaN and infinities, one has others."""
    rows = np.ones([LENGTH, 6], np.float32)
    for number, row in enumerate(rows):
        row[: number % 5] = np.nan
        row[5] = -np.inf
    rows[RARE, 4] = np.inf
    return rows


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


def test_graphs_count_what_python_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = []
    detail = Group.detail

    def counting(*args: Any) -> Any:
        entries.append(args)
        return detail(*args)

    monkeypatch.setattr(Group, "detail", counting)

    def program() -> Any:
        return loop(tf.constant(elements()))

    counted = recorded(tmp_path / "counted", "CONCISE_HEALTH", program)
    assert len(entries) < LENGTH / 4
    entries.clear()
    full = recorded(tmp_path / "full", "FULL_HEALTH", program)
    assert len(entries) >= LENGTH
    expected = counts(full)
    assert sum(any(c[1:]) for c in expected.values()) > 5 * LENGTH
    assert counts(counted) == expected
    frozen = recorded(tmp_path / "frozen", "ADAPTIVE", program, size=10**6, keep_after_bad=10**6)
    assert {key: found for key, found in counts(frozen).items() if key in expected} == expected


def test_what_was_not_seen_before_is_described_in_full(tmp_path: Path) -> None:
    run = recorded(tmp_path, "ADAPTIVE", lambda: loop(tf.constant(elements())))
    whole: dict[str, set[int | None]] = {}
    for trace in run.graph_executions:
        if trace.summary.mode == TensorDebugMode.FULL_HEALTH:
            whole.setdefault(trace.op_type, set()).add(trace.iteration)
    assert RARE in whole["Cast"]
    assert RARE - 1 not in whole["Cast"]


def test_what_python_has_seen_goes_with_the_graph(tmp_path: Path) -> None:
    def noted() -> int:
        table = resources._set(graph_counts._NAME)
        return int(tf.raw_ops.LookupTableSizeV2(table_handle=table))

    def program() -> None:
        own = tf.function(loop.python_function)
        own(tf.constant(elements()))
        assert noted() > before

    before = noted()
    recorded(tmp_path, "ADAPTIVE", program)
    gc.collect()
    row_queue.drain()
    assert noted() == before


def test_elements_of_a_dataset(tmp_path: Path) -> None:
    def program() -> None:
        rows = tf.data.Dataset.from_tensor_slices(elements())
        list(rows.map(lambda row: tf.sin(row) * 2.0))

    expected = sorted(np.count_nonzero(~np.isfinite(row)) for row in elements())
    run = recorded(tmp_path, "ADAPTIVE", program)
    for op_type in ("Sin", "Mul"):
        found = [t.summary for t in run.graph_executions if t.op_type == op_type]
        assert sorted(summary.nan for summary in found) == expected
