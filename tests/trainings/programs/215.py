import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(215)
keras.mixed_precision.set_global_policy("mixed_float16")


class Denoiser(keras.Model):
    def __init__(self):
        super().__init__()
        self.down = layers.Conv2D(8, 3, strides=2, padding="same", activation="relu", name="down")
        self.up = layers.Conv2DTranspose(1, 3, strides=2, padding="same", dtype="float32", name="up")

    def call(self, x):
        return self.up(self.down(x))

    def train_step(self, data):
        noisy, clean = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(noisy, training=True) - clean) ** 2)
            scaled = self.optimizer.scale_loss(loss)
        grads = tape.gradient(scaled, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


model = Denoiser()
model.compile(keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(1e-3), initial_scale=2.0**90))
clean = np.random.rand(400, 8, 8, 1).astype("float32")
noisy = clean + 0.3 * np.random.randn(400, 8, 8, 1).astype("float32")
model.fit(noisy, clean, batch_size=8, epochs=1, verbose=2)
