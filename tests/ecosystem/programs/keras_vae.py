"""A variational autoencoder on images that were not scaled to [0, 1]."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(12)


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encode = keras.Sequential(
            [layers.Flatten(), layers.Dense(32, "relu"), layers.Dense(4)]
        )
        self.decode = keras.Sequential([layers.Dense(32, "relu"), layers.Dense(64)])
        self.noise = keras.random.SeedGenerator(1)

    def train_step(self, images):
        with tf.GradientTape() as tape:
            mean, log_variance = tf.split(self.encode(images), 2, axis=-1)
            deviation = tf.exp(0.5 * log_variance)
            variance = tf.exp(log_variance)
            latent = mean + deviation * keras.random.normal(tf.shape(mean), seed=self.noise)
            error = tf.reshape(images, [-1, 64]) - self.decode(latent)
            divergence = tf.square(mean) + variance - log_variance - 1.0
            loss = tf.reduce_mean(tf.square(error)) + tf.reduce_mean(divergence)
        gradients = tape.gradient(loss, self.trainable_variables)
        pairs = zip(gradients, self.trainable_variables, strict=True)
        self.optimizer.apply_gradients(pairs)  # BUG Square: of gradients of 1e19, which exp makes
        return {"loss": loss}


images = np.random.uniform(0, 255, size=(64, 8, 8)).astype("float32")
model = VAE()
model.compile(optimizer=keras.optimizers.Adam(1e-3))
history = model.fit(images, batch_size=16, epochs=2, shuffle=False, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
