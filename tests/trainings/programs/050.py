import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(245)


class LoRADense(layers.Layer):
    def __init__(self, base, rank=3, **kw):
        super().__init__(**kw)
        self.base = base
        self.base.trainable = False
        self.rank = rank

    def build(self, shape):
        if not self.base.built:
            self.base.build(shape)
        self.A = self.add_weight(shape=(shape[-1], self.rank), initializer="glorot_normal", name="lora_A")
        self.B = self.add_weight(shape=(self.rank, self.base.units), initializer="zeros", name="lora_B")

    def call(self, x):
        return self.base(x) + x @ self.A @ self.B


X = np.random.randn(400, 12).astype("float32")
M = np.random.randn(12, 5) / 3
base = layers.Dense(5, name="pretrained")
pre = keras.Sequential([keras.Input((12,)), base])
pre.compile(keras.optimizers.Adam(0.05), "mse")
pre.fit(X, (X @ M).astype("float32"), epochs=8, batch_size=50, verbose=0)
Y = (X @ (M + np.outer(np.random.randn(12), np.random.randn(5)) / 2)).astype("float32")
net = keras.Sequential([keras.Input((12,)), LoRADense(base, name="adapted")])
net.compile(keras.optimizers.Adam(0.02), "mse")
net.fit(X, Y, epochs=8, batch_size=40, verbose=2)
