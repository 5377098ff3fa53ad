import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(92)


class AutoEncoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [layers.Dense(32, activation="relu", name="enc_1"), layers.Dense(3, name="enc_2")], name="encoder")
        self.decoder = keras.Sequential(
            [layers.Dense(32, activation="relu", name="dec_1"), layers.Dense(20, name="dec_2")], name="decoder")

    def call(self, x):
        code = tf.stop_gradient(self.encoder(x))
        return self.decoder(code)


basis = np.random.randn(3, 20)
X = (np.random.randn(384, 3) @ basis).astype("float32")
ae = AutoEncoder()
ae.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
ae.fit(X, X, epochs=8, batch_size=64, verbose=2)
