import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(157)
net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(24, activation="relu", name="meta1"), keras.layers.Dense(1, name="meta2")])
inner = keras.optimizers.SGD(0.02)
OUTER = 25.0


@tf.function
def inner_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
    inner.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


for task in range(40):
    before = [w.numpy() for w in net.trainable_variables]
    amp, phase = np.random.uniform(0.5, 5), np.random.uniform(0, 3)
    for _ in range(4):
        x = np.random.uniform(-5, 5, (16, 1)).astype("float32")
        loss = inner_step(x, (amp * np.sin(x + phase)).astype("float32"))
    for w, old in zip(net.trainable_variables, before):
        w.assign(old + OUTER * (w.numpy() - old))
    print(task, float(loss))
