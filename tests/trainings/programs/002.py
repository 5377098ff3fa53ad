import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(244)


class ReZero(layers.Layer):
    def __init__(self, d, **kw):
        super().__init__(**kw)
        self.f = layers.Dense(d, activation="relu", name="f")

    def build(self, shape):
        self.gate = self.add_weight(shape=(), initializer="zeros", name="gate")
        self.f.build(shape)

    def call(self, x):
        return x + self.gate * self.f(x)


inp = keras.Input((10,))
x = layers.Dense(32, name="stem")(inp)
for i in range(5):
    x = ReZero(32, name=f"rz{i}")(x)
out = layers.Dense(1, name="out")(x)
m = keras.Model(inp, out)
X = np.random.randn(400, 10).astype("float32")
y = np.maximum(X[:, :1], X[:, 1:2])
m.compile(keras.optimizers.Adam(5e-3), "mse")
m.fit(X, y, epochs=8, batch_size=40, verbose=2)
