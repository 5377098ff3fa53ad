"""tf.distribute: MirroredStrategy over two logical CPUs, with fit and with a loop by hand."""

import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
keras.utils.set_random_seed(102)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
x = np.random.normal(size=(64, 4)).astype("float32")
y = x.sum(axis=1, keepdims=True)
with strategy.scope():
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)]
    )
    model.compile(keras.optimizers.SGD(0.05), "mse")
history = model.fit(x, y, batch_size=16, epochs=2, shuffle=False, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])

dataset = strategy.experimental_distribute_dataset(
    tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
)
with strategy.scope():
    weights = tf.Variable(tf.zeros([4, 1]))


@tf.function
def step(batch):
    def replica(inputs):
        features, targets = inputs
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(features @ weights - targets)) / 16.0
        context = tf.distribute.get_replica_context()
        gradient = context.all_reduce("SUM", tape.gradient(loss, weights))
        weights.assign_sub(0.1 * gradient)
        return loss

    losses = strategy.run(replica, args=(batch,))
    return strategy.reduce("SUM", losses, axis=None)


print("result steps", [float(step(batch)) for batch in dataset])
print("result weights", strategy.experimental_local_results(weights)[1].numpy().ravel().tolist())
