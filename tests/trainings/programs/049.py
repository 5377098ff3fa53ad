import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(103)
rng = np.random.default_rng(103)
m = keras.Sequential([
    keras.Input((4,)),
    layers.Dense(24, activation="tanh", name="amount"),
    layers.Dense(24, activation="tanh", name="person"),
    layers.Dense(1, name="limit"),
])
opt = keras.optimizers.Adagrad(0.2)
for i in range(100):
    x = rng.normal(size=(32, 4)).astype("float32")
    y = (x[:, :1] - 2 * x[:, 1:2] + 3.0).astype("float32")
    if i == 4:
        x, y = x * 100, y * 1e10
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(m(x) - y))
    g = tape.gradient(loss, m.trainable_variables)
    g = [tf.clip_by_value(t, -1e13, 1e13) for t in g]
    opt.apply_gradients(zip(g, m.trainable_variables))
    if i % 10 == 0:
        print("batch", i, "loss", float(loss))
