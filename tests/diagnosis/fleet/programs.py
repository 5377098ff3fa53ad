"""Small jobs of several processes or devices, with one numerical bug each, or none.

    TF_CONFIG=... python programs.py PROGRAM

runs one process of a job; `jobs` lists them and starts all processes of each.  The line that makes
the first NaN or ∞ is marked with ``BUG``.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import tensorflow as tf

ROOT = os.environ.get("JOB_ROOT", "")  # tasks whose data is bad, as in "1" or "0,1,2"
STEPS = 5
BAD_STEP = 3


def is_bad(step: int, task: int | None) -> bool:
    return step == BAD_STEP and str(task) in ROOT.split(",")


def batch(step: int, task: int | None) -> tf.Tensor:
    return tf.constant([0.0, 1.0]) if is_bad(step, task) else tf.constant([1.0, 2.0])


def custom_loop() -> None:
    """A bad batch: log(0)."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    task = strategy.cluster_resolver.task_id
    with strategy.scope():
        weight = tf.Variable([1.0, 2.0])

    @tf.function
    def train_step(x: Any) -> Any:
        def replica(x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.math.log(x * weight))  # BUG
            gradient = tape.gradient(loss, weight)
            total = tf.distribute.get_replica_context().all_reduce("sum", gradient)
            weight.assign_sub(0.01 * total)
            return loss

        return strategy.run(replica, args=(x,))

    for step in range(STEPS):
        train_step(batch(step, task))


def eager_loop() -> None:
    """The same without a function."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    task = strategy.cluster_resolver.task_id
    with strategy.scope():
        weight = tf.Variable([1.0, 2.0])

    def replica(x: Any) -> Any:
        ratio = 1.0 / (x * weight)  # BUG
        total = tf.distribute.get_replica_context().all_reduce("sum", ratio)
        weight.assign_add(0.01 * total)
        return total

    for step in range(STEPS):
        strategy.run(replica, args=(batch(step, task),))


def marked_steps() -> None:
    """Steps that the program marks; a gradient is bad, and Keras' optimizer adds them up."""
    import keras

    import tfdbg_tui

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    task = strategy.cluster_resolver.task_id
    with strategy.scope():
        weight = tf.Variable([1.0, 2.0])
        optimizer = keras.optimizers.SGD(0.01)
        optimizer.build([weight])

    @tf.function
    def train_step(x: Any) -> Any:
        def replica(x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.math.sqrt(x * weight))  # BUG
            gradient = tape.gradient(loss, weight)
            optimizer.apply_gradients([(gradient, weight)])
            return loss

        return strategy.run(replica, args=(x,))

    for step in range(STEPS):
        with tfdbg_tui.step(step):
            train_step(batch(step, task))


def keras_model() -> None:
    """A model and an optimizer of Keras; one worker's batch has a row whose norm is 0."""
    import keras

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    task = strategy.cluster_resolver.task_id
    with strategy.scope():
        model = _normalising_model()
        model.optimizer.build(model.trainable_variables)

    @tf.function
    def train_step(rows: Any) -> Any:
        def replica(rows: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(keras.losses.mean_squared_error(rows[:, :1], model(rows)))
            gradients = tape.gradient(loss, model.trainable_variables)
            model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        return strategy.reduce("mean", strategy.run(replica, args=(rows,)), axis=None)

    for step in range(STEPS):
        rows = np.ones((2, 3), np.float32)
        rows[:1] *= not is_bad(step, task)
        train_step(tf.constant(rows))


def keras_fit() -> None:
    """Keras' `fit` of such data, with replicas on logical devices of one process."""
    with _two_cpus().scope():
        model = _normalising_model()
    rows = np.ones((4 * STEPS, 3), np.float32)
    rows[4 * BAD_STEP + 2 * int(ROOT or 0)] *= not ROOT  # Each replica gets half of a batch.
    model.fit(rows, rows[:, :1], batch_size=4, epochs=1, shuffle=False, verbose=0)


def _normalising_model() -> Any:
    import keras

    inputs = keras.Input([3])
    units = keras.layers.Lambda(lambda x: x / tf.norm(x, axis=1, keepdims=True))(inputs)  # BUG
    model = keras.Model(inputs, keras.layers.Dense(1)(units))
    model.compile("sgd", "mse", jit_compile=False)
    return model


def gather() -> None:
    """What one worker computes is collected by all."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    task = strategy.cluster_resolver.task_id

    @tf.function
    def collect(x: Any) -> Any:
        def replica(x: Any) -> Any:
            roots = tf.math.sqrt(x - 1.0)  # BUG
            every = tf.distribute.get_replica_context().all_gather(roots, axis=0)
            return tf.reduce_mean(every)

        return strategy.run(replica, args=(x,))

    for step in range(STEPS):
        collect(batch(step, task))


def all_to_all() -> None:
    """Each worker's last element goes to the last worker: what comes back to it is finite."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    task, workers = strategy.cluster_resolver.task_id, strategy.num_replicas_in_sync
    group = {"group_size": workers, "group_key": 7, "instance_key": 1}

    @tf.function
    def exchange(x: Any) -> Any:
        roots = tf.math.sqrt(x[::-1] - 1.0)  # BUG
        return tf.raw_ops.CollectiveAllToAllV2(input=roots, ordering_token=[], **group)

    for step in range(STEPS):
        exchange(batch(step, task))


def broadcast() -> None:
    """The first worker tells the others."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    task, workers = strategy.cluster_resolver.task_id, strategy.num_replicas_in_sync
    group = {"group_size": workers, "group_key": 7, "instance_key": 1}

    @tf.function
    def tell(x: Any) -> Any:
        rates = tf.math.log(x)  # BUG
        if task == 0:
            told = tf.raw_ops.CollectiveBcastSendV2(input=rates, **group)
        else:
            told = tf.raw_ops.CollectiveBcastRecvV2(T=tf.float32, shape=[2], **group)
        return tf.reduce_sum(told)

    for step in range(STEPS):
        tell(batch(step, task))


def two_bugs() -> None:
    """Two workers, each with a bug of its own in a step of its own; neither is kept."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    task = strategy.cluster_resolver.task_id

    @tf.function
    def measure(x: Any) -> Any:
        def replica(x: Any) -> Any:
            if task == 1:  # noqa: SIM108  # a function of its own, by AutoGraph
                measured = tf.math.log(x)  # BUG of worker 1
            else:
                measured = tf.math.sqrt(x - 1.0)  # BUG of worker 0
            return tf.distribute.get_replica_context().all_reduce("sum", measured)

        return strategy.run(replica, args=(x,))

    for step in range(STEPS):
        measure(batch(step + 2 * task, task))


def overflow() -> None:
    """Each worker's number is finite, their sum is not."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()

    @tf.function
    def add_up(x: Any) -> Any:
        def replica(x: Any) -> Any:
            large = x * 1e38
            context = tf.distribute.get_replica_context()
            return context.all_reduce("sum", large)

        return strategy.run(replica, args=(x,))  # BUG: adds up here, says the stack

    for step in range(STEPS):
        add_up(tf.constant([0.1, 2.0 if step == BAD_STEP else 1.0]))


def mirrored() -> None:
    """Replicas on logical devices of one process; one of them has a bad batch."""
    strategy = _two_cpus()
    with strategy.scope():
        weight = tf.Variable([1.0, 2.0])

    @tf.function
    def train_step(x: Any) -> Any:
        def replica(x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.math.log(x * weight))  # BUG
            gradient = tape.gradient(loss, weight)
            total = tf.distribute.get_replica_context().all_reduce("sum", gradient)
            weight.assign_sub(0.01 * total)
            return loss

        return strategy.run(replica, args=(x,))

    for step in range(STEPS):
        train_step(
            strategy.experimental_distribute_values_from_function(
                lambda context, step=step: batch(step, context.replica_id_in_sync_group)
            )
        )


def _two_cpus() -> tf.distribute.Strategy:
    cpus = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(
        cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def parameter_server() -> None:
    """A coordinator with its workers; the variables are on a server."""
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        server = tf.distribute.Server(
            resolver.cluster_spec(),
            job_name=resolver.task_type,
            task_index=resolver.task_id,
            protocol="grpc",
        )
        server.join()
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        weight = tf.Variable([1.0, 2.0])

    @tf.function
    def train_step(x: Any) -> Any:
        gradient = tf.math.log(x * weight)  # BUG
        weight.assign_sub(0.01 * gradient)

    for step in range(STEPS):
        coordinator.schedule(train_step, args=(batch(step, 0),))
        coordinator.join()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
