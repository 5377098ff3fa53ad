import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(131)
inp = keras.Input((6,))
gates = layers.Dense(4, activation="softmax", name="router")(inp)
stack = layers.Lambda(lambda t: tf.stack(t, 1), output_shape=(4, 8), name="stack")([layers.Dense(8, activation="relu", name=f"ex{i}")(inp) for i in range(4)])
mix = layers.Lambda(lambda t: tf.einsum("be,bed->bd", *t), output_shape=(8,), name="mix")([gates, stack])
m = keras.Model(inp, [layers.Dense(1, name="out")(mix), gates])
opt = keras.optimizers.Adam(3e-3)
for i in range(60):
    x = tf.random.normal((48, 6))
    with tf.GradientTape() as tape:
        p, g = m(x)
        loss = tf.reduce_mean((p - x[:, :1] * x[:, 1:2]) ** 2) + 0.01 * 4 * tf.reduce_sum(tf.reduce_mean(g, 0) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, m.trainable_variables), m.trainable_variables))
