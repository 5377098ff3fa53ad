"""A process of a cluster: its place is on record, and what it runs on others is left alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.logdir import Task, open_run
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from pathlib import Path

    from tests.preloaded import Preloaded

pytestmark = pytest.mark.tensorflow
pytest.importorskip("tensorflow")

_CLUSTER = {"worker": ["host-a:2222", "host-b:2222"], "ps": ["host-c:2222"]}
_PROGRAM = """
import sys
import tensorflow as tf
import tfdbg_tui

tfdbg_tui.enable_dump_debug_info(sys.argv[1], tensor_debug_mode="ADAPTIVE")
server = tf.distribute.Server.create_local_server()
tf.config.experimental_connect_to_host(server.target.removeprefix("grpc://"))

@tf.function
def log(x):
    return tf.math.log(x)

@tf.function
def add_up(x):
    return tf.raw_ops.CollectiveReduceV2(
        input=x, group_size=1, group_key=7, instance_key=9, ordering_token=[],
        merge_op="Add", final_op="Id",
    )

add_up.get_concrete_function(tf.TensorSpec([2]))
print(log(tf.constant(1.0)).numpy())
with tf.device("/job:worker/replica:0/task:0/device:CPU:0"):
    print(log(tf.constant(0.0)).numpy())
print(log(tf.constant(1.0)).numpy())
"""


def test_a_function_that_runs_in_another_process_is_left_alone_and_told(
    tmp_path: Path, preloaded: Preloaded
) -> None:
    config = {"cluster": _CLUSTER, "task": {"type": "worker", "index": 1}}
    result = preloaded.run(
        _PROGRAM, tmp_path, TF_CONFIG=json.dumps(config), CUDA_VISIBLE_DEVICES="-1"
    )
    assert result.stdout.split() == ["0.0", "-inf", "0.0"], result.stderr[-2000:]
    run = open_run(tmp_path)
    (omission,) = run.omissions
    assert omission.kind == omissions.SKIPPED
    assert "log" in omission.what
    assert "/job:worker/replica:0/task:0/device:CPU:0" in omission.reason
    recorded = {trace.execution_index for trace in run.graph_executions}
    functions = [e.index for e in run.executions if e.op_type.startswith("__inference_log_")]
    assert len(functions) == 3
    assert recorded == {functions[0], functions[2]}
    check_place(run.files.task)
    keys = [op.collective_keys for graph in run.graphs.values() for op in graph.ops.values()]
    assert set(keys) == {(), (7, 9)}


def check_place(task: Task | None) -> None:
    """Checks the place in the cluster, which does not tell its addresses."""
    assert task is not None
    assert (task.kind, task.index, task.size) == ("worker", 1, 2)
    assert task.cluster
    assert "host" not in task.cluster
