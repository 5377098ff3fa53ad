import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(113)
rng = np.random.default_rng(113)


def load(i):
    x = rng.normal(size=(32, 8)).astype("float32")
    y = (x[:, :1] - 0.5 * x[:, 1:2]).astype("float32")
    if i == 30:
        y = y * 1e6
    return x, y


class Reg(keras.Model):
    def __init__(self):
        super().__init__()
        self.h = keras.layers.Dense(32, activation="tanh", name="h")
        self.o = keras.layers.Dense(1, name="o")

    def call(self, x):
        return self.o(self.h(x))


model, opt = Reg(), keras.optimizers.SGD(0.02)
for i in range(80):
    x, y = load(i)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    if i % 5 == 0:
        print("step", i, "loss", loss.numpy())
