import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(117)
A = (np.random.rand(80, 80) < 0.75).astype("float32")
F = tf.random.normal((80, 8))
labels = tf.cast(tf.reduce_sum(F, 1) > 0, tf.float32)[:, None]
g1, g2, g3 = (layers.Dense(16, activation=a, name=n) for n, a in (("g1", "relu"), ("g2", "relu"), ("g3", None)))
out = layers.Dense(1, name="score")
opt = keras.optimizers.SGD(0.05)


def forward():
    h = g1(A @ F)
    h = g2(A @ h)
    return out(g3(A @ h))


forward()
variables = [v for l in (g1, g2, g3, out) for v in l.trainable_variables]
for i in range(80):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((forward() - labels) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
