import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(104)
class VQ(keras.Model):
    def __init__(self):
        super().__init__(name="vq")
        self.enc = layers.Dense(8, name="enc")
        self.book = self.add_weight(shape=(32, 8), initializer="random_normal", name="book")
        self.dec = layers.Dense(20, name="dec")

    def call(self, x):
        z = self.enc(x)
        d = tf.reduce_sum((z[:, None] - self.book[None]) ** 2, -1)
        return self.dec(tf.gather(self.book, tf.argmin(d, 1)))


m = VQ()
m.compile(keras.optimizers.Adam(1e-3), "mse")
X = np.random.randn(320, 20).astype("float32")
m.fit(X, X, epochs=6, batch_size=32, verbose=0)
