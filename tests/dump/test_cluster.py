"""A process of a cluster: its place is on record, and what it has other processes compute."""

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
import socket
import sys
import numpy as np
import tensorflow as tf
import tfdbg_tui

tfdbg_tui.enable_dump_debug_info(sys.argv[1], tensor_debug_mode="ADAPTIVE")

def server(job, index):
    # As many threads as there are processors may all wait for another server of this process.
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=8)
    return tf.distribute.Server(cluster, job_name=job, task_index=index, config=config)

free = [socket.socket() for _ in range(3)]
for one in free:
    one.bind(("127.0.0.1", 0))
addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in free]
for one in free:
    one.close()
cluster = tf.train.ClusterSpec({"worker": addresses[:2], "ps": addresses[2:]})
servers = [server("worker", 0), server("worker", 1), server("ps", 0)]
strategy = tf.distribute.ParameterServerStrategy(
    tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, rpc_layer="grpc")
)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    weight = tf.Variable([1.0, 2.0])

@tf.function
def log(x):
    return tf.math.log(x * weight)

@tf.function
def train_step(x):
    def add(i, total):
        return i + 1, total + log(x)

    _, total = tf.while_loop(lambda i, _: i < 2, add, [0, tf.zeros([2])])
    total = tf.cond(tf.reduce_sum(x) > 0.0, lambda: total - 1.0, lambda: total)
    weight.assign_sub(0.01 * x)
    return total

@tf.function
def add_up(x):
    return tf.raw_ops.CollectiveReduceV2(
        input=x, group_size=1, group_key=7, instance_key=9, ordering_token=[],
        merge_op="Add", final_op="Id",
    )

add_up.get_concrete_function(tf.TensorSpec([2]))
batches = [tf.constant([step % 3, 1.0]) for step in range(6)]
results = [coordinator.schedule(train_step, args=(batch,)) for batch in batches]
coordinator.join()
print(sum(np.isneginf(result.fetch()).sum() for result in results))
with tf.device("/job:worker/replica:0/task:0/device:CPU:0"):
    data = tf.data.Dataset.range(3).map(lambda x: tf.math.log(tf.cast(x, tf.float32)))
    print([float(x) for x in data])
"""


def test_what_a_coordinator_has_workers_compute_is_on_its_record(
    tmp_path: Path, preloaded: Preloaded
) -> None:
    config = {"cluster": _CLUSTER, "task": {"type": "worker", "index": 1}}
    result = preloaded.run(
        _PROGRAM, tmp_path, TF_CONFIG=json.dumps(config), CUDA_VISIBLE_DEVICES="-1"
    )
    assert result.stdout.split("\n")[:2] == ["2", "[-inf, 0.0, 0.6931471824645996]"], result.stderr
    run = open_run(tmp_path)
    (omission,) = run.omissions
    assert omission.kind == omissions.SKIPPED
    assert "Dataset_map" in omission.what
    assert "/job:worker/replica:0/task:0/device:CPU:0" in omission.reason
    steps = {e.index: e for e in run.executions if e.op_type.startswith("__inference_train_step_")}
    assert len(steps) == 6
    logs = [trace for trace in run.graph_executions if trace.op_name == "Log"]
    assert len(logs) == 12
    for trace in logs:
        (device,) = steps[trace.execution_index].output_devices
        assert trace.device == device
        assert device.startswith("/job:worker/replica:0/task:")
    assert sum(trace.summary.neg_inf for trace in logs) == 4
    check_place(run.files.task)
    keys = [op.collective_keys for graph in run.graphs.values() for op in graph.ops.values()]
    assert set(keys) == {(), (7, 9)}


def test_an_evaluator_is_of_the_cluster_that_it_works_beside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tfdbg_tui.dump.record.cluster import task_fields

    found = []
    for kind, more in (("worker", {}), ("evaluator", {}), ("evaluator", {"evaluator": ["e:1"]})):
        config = {"cluster": {**_CLUSTER, **more}, "task": {"type": kind, "index": 0}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))
        found.append(task_fields())
    assert len({fields["cluster"] for fields in found}) == 1
    assert [fields["task_type"] for fields in found] == ["worker", "evaluator", "evaluator"]


def check_place(task: Task | None) -> None:
    """Checks the place in the cluster, which does not tell its addresses."""
    assert task is not None
    assert (task.kind, task.index, task.size) == ("worker", 1, 2)
    assert task.cluster
    assert "host" not in task.cluster
