import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(207)


class Wide(keras.Model):
    def __init__(self):
        super().__init__(name="wide_net")
        b = keras.initializers.Constant(-0.25)
        self.h1 = keras.layers.Dense(256, activation="relu", bias_initializer=b, kernel_initializer="he_normal", name="h1")
        self.h2 = keras.layers.Dense(128, activation="relu", bias_initializer=b, kernel_initializer="he_normal", name="h2")
        self.out = keras.layers.Dense(1, name="out")

    def call(self, x):
        h = self.h1(x)
        h = self.h2(h)
        return self.out(h)


X = np.random.randn(400, 6).astype("float32") * 2
y = np.abs(X[:, :1]) + X[:, 1:2] * X[:, 2:3]
m = Wide()
m.compile(keras.optimizers.Adam(2e-3), "mse")
m.fit(X, y, epochs=10, batch_size=40, verbose=2)
