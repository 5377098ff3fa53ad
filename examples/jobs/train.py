"""Three workers of MultiWorkerMirroredStrategy; worker 1 has a bad batch in step 3.

Each gets its place in the cluster from TF_CONFIG, or, under `srun`, from Slurm.
"""

import os

import tensorflow as tf

if "TF_CONFIG" not in os.environ and "SLURM_STEP_ID" in os.environ:
    resolver = tf.distribute.cluster_resolver.SlurmClusterResolver(
        jobs={"worker": int(os.environ["SLURM_STEP_NUM_TASKS"])},
        port_base=18888,
        gpus_per_node=int(os.environ["SLURM_STEP_NUM_TASKS"]),  # so many tasks fit on a node
        gpus_per_task=1,
        auto_set_gpu=False,
    )
    strategy = tf.distribute.MultiWorkerMirroredStrategy(cluster_resolver=resolver)
else:
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
worker = strategy.cluster_resolver.task_id

with strategy.scope():
    weight = tf.Variable([1.0, 2.0])


@tf.function
def train_step(x: tf.Tensor) -> tf.Tensor:
    def replica(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.math.log(x * weight))  # BUG: x may hold zeros
        gradient = tape.gradient(loss, weight)
        total = tf.distribute.get_replica_context().all_reduce("sum", gradient)
        weight.assign_sub(0.01 * total)
        return loss

    return strategy.run(replica, args=(x,))


for step in range(5):
    is_bad = worker == 1 and step == 3
    print(step, train_step(tf.constant([0.0, 1.0] if is_bad else [1.0, 2.0])), flush=True)
