import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(84)
half = keras.DTypePolicy("mixed_float16")
inp = keras.Input((14,))
h = layers.Dense(48, activation="relu", dtype=half, name="h1")(inp)
h = layers.Dense(48, activation="relu", dtype=half, name="h2")(h)
out = layers.Dense(1, dtype=half, name="pred")(h)
model = keras.Model(inp, out)
opt = keras.optimizers.Adam(1e-3)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        pred = tf.cast(model(x, training=True), tf.float32)
        loss = tf.reduce_mean((pred - y) ** 2) * 1e-8
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


for i in range(80):
    x = tf.random.normal((64, 14))
    y = x[:, :1] - 2.0 * x[:, 1:2]
    loss = step(x, y)
    if i % 8 == 0:
        tf.print("step", i, "loss", loss * 1e8)
