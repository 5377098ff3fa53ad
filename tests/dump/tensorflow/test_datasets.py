"""Which functions of datasets take tensors of the shapes that they are traced for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.tensorflow import datasets  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def with_wrong_shape(x: Any) -> Any:
    four = tf.numpy_function(lambda: np.full(4, -1.0, np.float32), [], tf.float32)
    four.set_shape([3])
    return four + tf.cast(x, tf.float32)


def calls_with_wrong_shape(x: Any) -> Any:
    return tf.function(with_wrong_shape)(x)


def inner_with_wrong_shape(x: Any) -> Any:
    return tf.data.Dataset.range(1).map(lambda _: with_wrong_shape(x))


def inner_from_elsewhere(x: Any) -> Any:
    made = tf.data.Dataset.from_tensors(tf.fill([4], tf.cast(x, tf.float32)))
    return tf.data.experimental.from_variant(
        tf.data.experimental.to_variant(made), tf.TensorSpec([3], tf.float32)
    )


def numbers() -> Any:
    return tf.data.Dataset.range(3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: numbers().map(with_wrong_shape),
        lambda: numbers().map(with_wrong_shape).filter(lambda x: True).batch(1).take(1),
        lambda: numbers().map(calls_with_wrong_shape),
        lambda: numbers().flat_map(inner_with_wrong_shape),
        lambda: numbers().interleave(inner_from_elsewhere),
    ],
    ids=["map", "and on", "call", "flat_map", "variant"],
)
def test_what_has_other_shapes_than_it_says_is_told_right(
    make: Callable[[], Any], tmp_path: Path
) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE")
    try:
        next(iter(make().map(lambda x: tf.reduce_sum(tf.math.log(x - 9.0)))))
    finally:
        tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(str(tmp_path))
    (log,) = {t.summary for t in run.graph_executions if t.op_type == "Log"}
    assert log is not None
    assert (log.size, log.nan) == (4, 4)


def test_shapes_that_tensorflow_has_found_are_trusted(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE")
    try:
        mapped = numbers().map(lambda i: tf.cast(i, tf.float32)).shuffle(3).repeat(2).batch(2)
        certain = [
            mapped.prefetch(1),
            tf.data.Dataset.zip((mapped, tf.data.Dataset.from_tensor_slices([1.0]))),
        ]
        doubtful = [
            numbers().map(with_wrong_shape),
            mapped.cache(str(tmp_path / "cache")),
            numbers().flat_map(tf.data.Dataset.range),
            numbers().map(lambda i: numbers().reduce(i, lambda a, b: a + b)),
            numbers().apply(tf.data.experimental.assert_cardinality(3)),
        ]
        assert list(map(datasets.are_elements_certain, certain)) == [True] * len(certain)
        assert list(map(datasets.are_elements_certain, doubtful)) == [False] * len(doubtful)
    finally:
        tfdbg_tui.disable_dump_debug_info()


def test_a_dataset_that_others_are_made_of_twice_is_looked_at_once() -> None:
    made = numbers()
    for _ in range(40):
        made = made.concatenate(made)
    assert datasets.are_elements_certain(made)


def test_a_function_that_was_traced_before_the_dump_is_not_trusted(tmp_path: Path) -> None:
    before = numbers().map(with_wrong_shape)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE")
    try:
        assert not datasets.are_elements_certain(before)
    finally:
        tfdbg_tui.disable_dump_debug_info()


def chosen_by_weights() -> Any:
    """Returns elements of two datasets, as a function chooses that starts no thread."""
    floats = numbers().map(lambda x: tf.cast(x, tf.float32))
    both = [floats, floats.map(lambda x: x + 10.0)]
    weights = tf.data.Dataset.from_tensors([0.5, 0.5]).repeat()
    return tf.data.Dataset.sample_from_datasets(both, weights, seed=1)


def total() -> Any:
    return chosen_by_weights().reduce(0.0, lambda x, y: x + y)


def total_in_session() -> float:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        return float(session.run(total()))


@pytest.mark.parametrize(
    "run",
    [lambda: sum(chosen_by_weights()), lambda: tf.function(total)(), total_in_session],
    ids=["eager", "function", "session"],
)
def test_what_a_dataset_runs_in_one_thread_is_on_record(
    run: Callable[[], Any], tmp_path: Path
) -> None:
    """The executor that it runs on knows no branches, which what records it has."""
    expected = float(run())
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    assert float(run()) == expected
    tfdbg_tui.disable_dump_debug_info()
    recorded = tfdbg_tui.open_run(str(tmp_path))
    assert recorded.omissions == ()
    assert any("varying_logits" in graph.name for graph in recorded.graphs.values())
