"""Of alike executions in a call one is written whole; others are read as if they were."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tests.dump import dump_oracle as oracle  # noqa: E402
from tfdbg_tui.dump.encode.repetitions import Repeats  # noqa: E402
from tfdbg_tui.dump.record import recorder  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@tf.function
def nested(x: Any) -> Any:
    for i in tf.range(5):
        for _ in tf.range(7):
            x = tf.tanh(x) + 1.0
        if i > 2:
            x = tf.sqrt(x)
    return x


@tf.function
def all_nan(x: Any) -> Any:
    for _ in tf.range(40):
        x = tf.math.log(x - 1000.0) * tf.ones([700])
    return x


def data(size: int) -> Callable[[], Any]:
    def make() -> Any:
        dataset = tf.data.Dataset.range(60).map(
            lambda i: tf.math.log(tf.fill([size], tf.cast(i - 30, tf.float32)))
        )
        options = tf.data.Options()
        options.experimental_optimization.map_parallelization = False
        options.experimental_optimization.inject_prefetch = False
        return list(dataset.with_options(options))  # Elements are made when they are asked for.

    return make


def gradient() -> Any:
    x = tf.Variable(tf.ones([300]))
    with tf.GradientTape() as tape:
        y = nested(x)
    return tape.gradient(y, x)


def session() -> None:
    with tf.Graph().as_default():
        start = [0, tf.ones([300]), tf.compat.v1.placeholder(tf.float32, [None])]
        made = tf.compat.v1.while_loop(
            lambda i, *_: i < 30, lambda i, x, y: (i + 1, x * 0.5 + 1.0, tf.tanh(y)), start
        )
        with tf.compat.v1.Session() as running:
            for size in (3, 3, 2):
                running.run(made, {start[2]: np.ones(size)})


PROGRAMS: dict[str, Callable[[], Any]] = {
    "nested": lambda: (nested(tf.ones([2])), nested(tf.ones([700]))),
    "gradient": gradient,
    "session": session,
    "all NaN": lambda: [all_nan(tf.ones([700])) for _ in range(3)],
    "few elements": data(2),
    "many elements": data(70_000),
}


def rows(
    root: Path, program: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, repeats: Repeats
) -> Any:
    """Record a program; return all that is on record of its tensors, but for times."""
    with monkeypatch.context() as patch:
        patch.setattr(recorder.Recorder, "repeats", repeats)
        tfdbg_tui.enable_dump_debug_info(str(root), "ADAPTIVE", -1, magnitudes_every=0)
        try:
            for number in range(300, 303):
                with tfdbg_tui.step(number):
                    program()
            program()
        finally:
            tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(root)
    assert not run.problems
    return Counter(
        (
            *(trace.op_name, trace.output_slot, trace.step),
            *(trace.execution_index, trace.iteration, str(trace.summary)),
        )
        for trace in run.graph_executions
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_is_on_record(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, sizes = [], []
    for repeats in Repeats:
        root = tmp_path / repeats.name
        found.append(rows(root, PROGRAMS[name], monkeypatch, repeats))
        sizes.append(sum(path.stat().st_size for path in root.glob("*.graph_execution_traces")))
    assert found[0] == found[1] == found[2]
    none, *fewer = sizes
    assert max(fewer) < 0.7 * none


def test_calls_repeat_others_once_files_are_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TensorFlow's reader sees each call until then."""

    @tf.function
    def chain(x: Any) -> Any:
        for _ in range(8):
            x = tf.tanh(x) + 0.1
        return x

    sizes = []
    for limit in (1 << 28, 0):
        monkeypatch.setattr(recorder, "_MUCH_BYTES", limit)
        root = tmp_path / str(limit)
        handle = tfdbg_tui.enable_dump_debug_info(str(root), "ADAPTIVE", -1, magnitudes_every=0)
        for number in range(200):
            chain(tf.ones([9]))
            if number == 10:
                handle.flush()
        tfdbg_tui.disable_dump_debug_info()
        found = len(tfdbg_tui.open_run(root).graph_executions)
        assert found >= 200 * 16
        seen = len(oracle.open_reader(str(root)).graph_execution_traces())
        assert seen == found if limit else 16 <= seen < found / 2
        sizes.append(sum(path.stat().st_size for path in root.glob("*.graph_execution_traces")))
    assert sizes[1] < sizes[0] / 2


def test_tensorflow_sees_the_first_of_each_call(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1, magnitudes_every=0)
    try:
        results = [nested(tf.fill([700], float(i))) for i in range(4)]
    finally:
        tfdbg_tui.disable_dump_debug_info()
    assert np.isfinite(results).all()
    run = tfdbg_tui.open_run(tmp_path)
    sites = {
        (trace.op_name, trace.output_slot, trace.execution_index) for trace in run.graph_executions
    }
    reader = oracle.open_reader(str(tmp_path))
    seen = Counter((trace.op_name, trace.output_slot) for trace in reader.graph_execution_traces())
    assert all(seen[name, slot] >= 4 for name, slot, _ in sites)
    assert sum(seen.values()) < len(run.graph_executions) / 3


@pytest.mark.parametrize(
    "mode", ["CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "SHAPE", "NO_TENSOR"]
)
def test_in_the_modes_of_tensorflow_its_reader_sees_all(tmp_path: Path, mode: str) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, -1)
    nested(tf.ones([700]))
    tfdbg_tui.disable_dump_debug_info()
    reader = oracle.open_reader(str(tmp_path))
    seen = len(reader.graph_execution_traces())
    assert seen == len(tfdbg_tui.open_run(tmp_path).graph_executions) > 35
