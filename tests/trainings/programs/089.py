import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(53)
rng = np.random.default_rng(53)
policy = keras.mixed_precision.DTypePolicy("mixed_float16")
net = keras.Sequential([
    keras.Input((12,)),
    keras.layers.Dense(64, activation="relu", dtype=policy, name="lin1"),
    keras.layers.Dense(64, activation="relu", dtype=policy, name="lin2"),
    keras.layers.Dense(1, dtype="float32", name="lin3"),
])
opt = keras.optimizers.SGD(0.01)


class Scaler:
    def __init__(self):
        self.scale = tf.Variable(2.0**12, trainable=False, name="loss_scale")
        self.good = 0

    def update(self, finite):
        self.good = 0
        if finite:
            self.good += 1
            if self.good >= 20:
                self.scale.assign(self.scale * 2)
                self.good = 0
        else:
            self.scale.assign(tf.maximum(self.scale / 2, 2.0**-14))


scaler = Scaler()
for step in range(150):
    x = rng.normal(size=(32, 12)).astype("float32")
    y = x[:, :1] * x[:, 1:2]
    if rng.random() < 0.3:
        x[0] = 6e4
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(net(x) - y))
        big = loss * scaler.scale
    grads = tape.gradient(big, net.trainable_variables)
    ok = all(bool(tf.reduce_all(tf.math.is_finite(g))) for g in grads)
    if ok:
        grads = [g / scaler.scale for g in grads]
        opt.apply_gradients(zip(grads, net.trainable_variables))
    scaler.update(ok)
    if step % 10 == 0:
        print(step, "loss", float(loss))
