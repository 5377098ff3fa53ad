import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(225)
encoder = keras.Sequential([keras.Input((8, 8, 1)), layers.Conv2D(8, 3, strides=2, padding="same", activation="relu"), layers.Conv2D(4, 1)], name="encoder")
decoder = keras.Sequential([keras.Input((4, 4, 4)), layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu"), layers.Conv2D(1, 1)], name="decoder")
codebook = tf.Variable(tf.random.normal((16, 4)), name="codebook")
optimizer = keras.optimizers.Adam(2e-3)


@tf.function
def train(x):
    variables = encoder.trainable_variables + decoder.trainable_variables + [codebook]
    with tf.GradientTape() as tape:
        z = encoder(x)
        flat = tf.reshape(z, (-1, 4))
        distance = tf.reduce_sum(flat**2, 1, keepdims=True) - 2 * flat @ tf.transpose(codebook) + tf.reduce_sum(codebook**2, 1)
        q = tf.reshape(tf.gather(codebook, tf.argmin(distance, 1)), tf.shape(z))
        commitment = 0.25 * tf.reduce_mean((tf.stop_gradient(q) - z) ** 2) + tf.reduce_mean((q - tf.stop_gradient(z)) ** 2)
        q = z + tf.stop_gradient(q - z)
        loss = tf.reduce_mean((decoder(q) - x) ** 2) + commitment
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


images = np.random.rand(256, 8, 8, 1).astype("float32")
for i in range(60):
    loss = train(images[np.random.randint(0, 256, 32)])
print(float(loss))
