import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(238)
X = np.random.rand(500, 4).astype("float32")
lam = np.exp(4.5 + X[:, 0] - 0.5 * X[:, 1])
y = np.random.poisson(lam).astype("float32")[:, None]


class CountModel(keras.Model):
    def __init__(self, start):
        super().__init__()
        self.h = keras.layers.Dense(16, activation="relu", name="hidden")
        self.eta = keras.layers.Dense(1, kernel_initializer="zeros", bias_initializer=keras.initializers.Constant(start), name="log_rate")

    def call(self, x):
        return tf.exp(tf.clip_by_value(self.eta(self.h(x)), -10.0, 10.0))


m = CountModel(float(np.log(y.mean())))
m.compile(keras.optimizers.Adam(3e-3), loss=keras.losses.Poisson())
for e in range(8):
    print("epoch", e, m.fit(X, y, epochs=1, batch_size=50, verbose=0).history["loss"])
