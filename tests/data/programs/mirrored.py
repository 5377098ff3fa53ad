"""Two replicas on two CPU devices; the second one's share of the data holds a zero."""

import tensorflow as tf


def main():
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        weight = tf.Variable([2.0, 3.0], name="weight")

    def replica_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.math.log(x * weight))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))
        return loss

    @tf.function
    def step(x):
        losses = strategy.run(replica_step, args=(x,))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    data = tf.data.Dataset.from_tensor_slices([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 0.0]])
    for x in strategy.experimental_distribute_dataset(data.batch(2)):
        step(x)


if __name__ == "__main__":
    main()
