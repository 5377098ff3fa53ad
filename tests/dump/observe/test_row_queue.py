"""Rows are taken out later than they are put in: whose they are is still known then."""

from __future__ import annotations

import functools
import gc
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.observe import row_queue  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from tfdbg_tui.logdir import Run


def recorded(root: Path, program: Any) -> Run:
    tfdbg_tui.enable_dump_debug_info(str(root), "ADAPTIVE", -1)
    try:
        program()
    finally:
        tfdbg_tui.disable_dump_debug_info()
    return open_run(root)


def test_functions_that_are_collected_before_their_rows_are_taken(tmp_path: Path) -> None:
    def function() -> None:
        tf.function(lambda p: tf.math.log(p) * 2.0)(tf.constant([1.0, 2.0]))

    def dataset() -> None:
        numbers = tf.data.Dataset.from_tensor_slices([1.0, 2.0])
        list(numbers.map(lambda p: tf.math.log(p) * 2.0).as_numpy_iterator())

    def collected(program: Any) -> None:
        with row_queue._queue.lock:  # The thread that takes rows waits.
            for _ in range(5):
                program()
                gc.collect()

    recorded(tmp_path / "first", function)  # From now on there is a thread.
    for program, executions in ((function, 5), (dataset, 10)):
        run = recorded(tmp_path / program.__name__, functools.partial(collected, program))
        assert len(run.graph_executions) == executions * 4
        assert not run.omissions

    gc.collect()
    row_queue.drain()
    assert not row_queue._kept
