import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(166)
net = keras.Sequential([keras.Input((2,)), keras.layers.Dense(24, activation="tanh", name="first"), keras.layers.Dense(24, activation="tanh", name="second"), keras.layers.Dense(1, name="u")])
opt = keras.optimizers.Adam(2e-3)


@tf.function
def step(x, t, x0):
    with tf.GradientTape() as tape:
        with tf.GradientTape(persistent=True) as second:
            second.watch(x)
            with tf.GradientTape(persistent=True) as first:
                first.watch((x, t))
                u = net(tf.concat([x, t], 1))
            ux, ut = first.gradient(u, x), first.gradient(u, t)
        uxx = second.gradient(ux, x)
        residual = ut + u * ux - 0.01 / np.pi * uxx
        start = net(tf.concat([x0, tf.zeros_like(x0)], 1)) + tf.sin(np.pi * x0)
        loss = tf.reduce_mean(residual**2) + tf.reduce_mean(start**2)
    v = net.trainable_variables
    opt.apply_gradients((g, w) for g, w in zip(tape.gradient(loss, v), v) if g is not None)
    return loss


for i in range(60):
    x, t, x0 = (np.random.uniform(lo, 1, (64, 1)).astype("float32") for lo in (-1, 0, -1))
    loss = step(x, t, x0)
print(float(loss))
