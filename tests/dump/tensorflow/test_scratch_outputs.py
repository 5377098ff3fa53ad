"""Outputs that hold no numbers are not looked at: kernels leave their memory as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path


def _normalized(op: str, image: Any, *, training: bool) -> Any:
    mean = [] if training else [1.0, 1.0]
    return getattr(tf.raw_ops, op)(
        x=image,
        scale=[1.0, 1.0],
        offset=[0.0, 0.0],
        mean=tf.constant(mean, tf.float32),
        variance=tf.constant(mean, tf.float32),
        is_training=training,
    )


@pytest.mark.parametrize("op", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"])
@pytest.mark.parametrize("training", [False, True])
def test_a_graph_of_inference_has_no_numbers_for_the_gradient(
    op: str, training: bool, tmp_path: Path
) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    tf.function(lambda x: _normalized(op, x, training=training)[0])(tf.ones([1, 2, 2, 2]))
    tfdbg_tui.disable_dump_debug_info()
    traces = tfdbg_tui.open_run(tmp_path).graph_executions
    slots = [trace.output_slot for trace in traces if trace.op_name == op]
    assert slots == list(range(5 if training else 3))


@pytest.mark.parametrize("mode", ["ADAPTIVE", "CONCISE_HEALTH", "FULL_HEALTH"])
def test_an_eager_op_has_none_unless_what_comes_before_is_bad(mode: str, tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, -1, magnitudes_every=1)
    for number in (1.0, float("nan")):
        _normalized("FusedBatchNormV3", tf.fill([1, 2, 2, 2], number), training=True)
    _normalized("FusedBatchNormV3", tf.ones([1, 2, 2, 2]), training=False)
    tfdbg_tui.disable_dump_debug_info()
    executions = tfdbg_tui.open_run(tmp_path).executions
    known = [
        [summary is not None for summary in execution.outputs]
        for execution in executions
        if execution.op_type == "FusedBatchNormV3"
    ]
    healthy = [True] * 3 + [False] * 3
    assert known == [healthy, [True] * 6, healthy]


@pytest.mark.parametrize("every", [0, 1])
def test_memory_to_be_written_to_has_none(every: int, tmp_path: Path) -> None:
    def zeros() -> Any:
        memory = tf.raw_ops.Empty(shape=[2], dtype=tf.float32)
        return tf.raw_ops.InplaceUpdate(x=memory, i=[0, 1], v=[0.0, 0.0])

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1, magnitudes_every=every)
    zeros()
    tf.function(zeros)()
    tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(tmp_path)
    found = {e.op_type: e.outputs for e in run.executions}
    assert (found["Empty"], found["InplaceUpdate"] == (None,)) == ((None,), False)
    recorded = {trace.op_name for trace in run.graph_executions}
    assert ("InplaceUpdate" in recorded, "Empty" in recorded) == (True, False)
