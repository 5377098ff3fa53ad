"""Executions that the writer writes are read many at a time."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.logdir import RunReader, list_runs  # noqa: E402
from tfdbg_tui.logdir.index.execution_log import ExecutionLog  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path


def told(run: Any) -> list[Any]:
    """Return what the index of a run holds of its executions."""
    executions = run.executions
    rows = range(len(executions))
    measured = executions.magnitudes()
    return [
        [executions.kind(row) for row in rows],
        [run._stacks.values[executions.stack_ids[row]] for row in rows],
        executions.step_marks[:].tolist(),
        executions.alert_rows[:].tolist(),
        executions.alert_slots[:].tolist(),
        measured.rows.tolist(),
        measured.largest.tolist(),
    ]


@pytest.mark.parametrize("mode", ["ADAPTIVE", "CONCISE_HEALTH", "FULL_HEALTH", "NO_TENSOR"])
def test_they_are_read_in_bulk(tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    double = tf.function(lambda x: x * 2.0, autograph=False)
    layer = tf.Module(name="layer")
    with layer.name_scope:
        ones = tf.ones([5])
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, -1)
    try:
        numbers = tf.raw_ops.RangeDataset(
            start=0, stop=9, step=1, output_types=[tf.int64], output_shapes=[[]]
        )
        functions = [
            tf.function(lambda x, by=by: x * by).get_concrete_function(tf.TensorSpec([], tf.int64))
            for by in (2, 3)
        ]
        for number in range(60):
            with tfdbg_tui.step(number):
                doubled = double(ones)
                tf.split(doubled, [2, 3])
                tf.math.log(doubled - 3.0)
                tf.reduce_any(doubled > 1.0)
                with contextlib.suppress(tf.errors.InvalidArgumentError):
                    tf.reshape(doubled, [7])
                tf.raw_ops.MapDataset(
                    input_dataset=numbers,
                    other_arguments=[],
                    f=functions[number % 2],
                    output_types=[tf.int64],
                    output_shapes=[[]],
                )
    finally:
        tfdbg_tui.disable_dump_debug_info()
    (files,) = list_runs(tmp_path)
    one_by_one = RunReader(files, vectorised=False).read_all()
    alone: list[int] = []
    decode = ExecutionLog._decode

    def counted(self: Any, chunk: Any, row: int, **options: Any) -> Any:
        alone.append(row)
        return decode(self, chunk, row, **options)

    monkeypatch.setattr(ExecutionLog, "_decode", counted)
    run = RunReader(files).read_all()
    assert len(run.executions) >= 60 * 7
    assert len(alone) <= 3 * len(run.executions.distinct_kinds) < 60
    assert told(run) == told(one_by_one)
    kinds = {run.executions.kind(row) for row in range(len(run.executions))}
    called = [kind.called_graphs for kind in kinds if kind.op_type == "MapDataset"]
    assert len(called) == len(set(called)) == 2
    assert all(graph_id in run.graphs for (graph_id,) in called)
