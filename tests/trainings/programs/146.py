import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(146)
net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(24, activation="tanh", name="first"), keras.layers.Dense(24, activation="tanh", name="second"), keras.layers.Dense(1, name="u")])
opt = keras.optimizers.Adam(1e-3)
points = np.linspace(1000, 20000, 128, dtype="float32")[:, None]


@tf.function
def step(t):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(t)
            u = net(t)
        du = inner.gradient(u, t)
        loss = tf.reduce_mean((du + u / 5000.0) ** 2) + tf.reduce_mean((net(t[:1]) - 1.0) ** 2)
    v = net.trainable_variables
    opt.apply_gradients((g, w) for g, w in zip(tape.gradient(loss, v), v) if g is not None)
    return loss


for i in range(60):
    loss = step(tf.constant(points))
print(float(loss))
