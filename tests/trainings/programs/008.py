import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(19)
lr = keras.optimizers.schedules.ExponentialDecay(1e-3, decay_steps=1, decay_rate=1.15)
opt = keras.optimizers.SGD(lr)


class Regressor(keras.Model):
    def __init__(self):
        super().__init__()
        self.a = keras.layers.Dense(32, activation="relu", name="body")
        self.b = keras.layers.Dense(32, activation="relu", name="neck")
        self.c = keras.layers.Dense(2, name="head")

    def call(self, x):
        return self.c(self.b(self.a(x)))


net = Regressor()
A = tf.random.normal((6, 2))
for s in range(100):
    x = tf.random.normal((64, 6))
    y = x @ A
    with tf.GradientTape() as tape:
        loss = keras.losses.MeanSquaredError()(y, net(x))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    if s % 10 == 0 or s == 99:
        print(f"step={s} lr={float(lr(s)):.3g} loss={float(loss):.5g}")
