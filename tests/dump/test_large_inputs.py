"""Inputs of functions that are large, and of which only parts are taken."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LARGE, SMALL = 1 << 20, 1 << 10
"""Elements of float32."""


def data(size: int, bad: int | None = None) -> Any:
    array = np.ones(size, np.float32)
    if bad is not None:
        array[bad] = np.nan
    return tf.constant(array)


def recorded(root: Path, act: Callable[[], object], mode: str = "ADAPTIVE") -> Any:
    tfdbg_tui.enable_dump_debug_info(str(root), mode, -1)
    try:
        act()
    finally:
        tfdbg_tui.disable_dump_debug_info()
    return tfdbg_tui.open_run(root)


def counted(run: Any) -> Counter[str]:
    """Return how many executions of each type of op are on record."""
    return Counter(trace.op_type for trace in run.graph_executions)


def one_by_one(dataset: Any) -> Any:
    """Let no two elements be made at the same time: none of two is surely the third."""
    options = tf.data.Options()
    options.experimental_optimization.map_parallelization = False
    options.experimental_optimization.inject_prefetch = False
    return dataset.with_options(options)


def take_elements(x: Any) -> list[Any]:
    return list(one_by_one(tf.data.Dataset.range(20).map(lambda i: tf.gather(x, i))))


@pytest.mark.parametrize(
    ("size", "mode", "times"),
    [(LARGE, "ADAPTIVE", 3), (SMALL, "ADAPTIVE", 20), (LARGE, "CONCISE_HEALTH", 20)],
)
def test_what_a_dataset_takes_parts_of_is_recorded_three_times(
    tmp_path: Path, size: int, mode: str, times: int
) -> None:
    x = data(size)
    run = recorded(tmp_path, lambda: take_elements(x), mode)
    assert counted(run) == {"Placeholder": times, "GatherV2": 20}


def test_what_keras_takes_batches_of_is_recorded_three_times(tmp_path: Path) -> None:
    def batch(i: Any, x: Any) -> Any:
        return tf.gather(x, [i, i + 1])

    def take_batches() -> None:
        whole = tf.data.Dataset.from_tensors(data(LARGE)).repeat()
        list(one_by_one(tf.data.Dataset.zip((tf.data.Dataset.range(20), whole)).map(batch)))

    run = recorded(tmp_path, take_batches)
    assert counted(run)["Placeholder"] == 3
    assert counted(run)["GatherV2"] == 20


def test_what_a_loop_takes_parts_of_is_recorded_as_it_enters(tmp_path: Path) -> None:
    @tf.function
    def add(x: Any) -> Any:
        total = 0.0
        for i in tf.range(12):
            total += x[i]
        return total

    x = data(LARGE)
    run = recorded(tmp_path, lambda: [add(x), add(x)])
    placeholders = Counter(
        trace.iteration is not None
        for trace in run.graph_executions
        if trace.op_type == "Placeholder" and trace.summary.size == LARGE
    )
    assert placeholders == {False: 2, True: 3}
    assert counted(run)["StridedSlice"] == 24


def test_what_is_used_as_a_whole_is_recorded_each_time(tmp_path: Path) -> None:
    x = data(LARGE)
    total = tf.function(lambda i: tf.reduce_sum(x) + x[i])
    run = recorded(tmp_path, lambda: [total(tf.constant(i)) for i in range(5)])
    assert counted(run)["Placeholder"] == 5


def test_bad_data_are_told_where_they_come_from(tmp_path: Path) -> None:
    x = data(LARGE, bad=17)
    run = recorded(tmp_path, lambda: take_elements(x))
    (root,) = tfdbg_tui.diagnose(run).roots
    assert root.op_type == "Placeholder"
    assert counted(run) == {"Placeholder": 3, "GatherV2": 20}
    bad = [trace.op_type for trace in run.graph_executions if trace.summary.bad]
    assert Counter(bad) == {"Placeholder": 3, "GatherV2": 1}
