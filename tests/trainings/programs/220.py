import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(220)
encoder = keras.Sequential([keras.Input((8, 8, 1)), layers.Conv2D(8, 3, strides=2, padding="same", activation="relu", name="enc_conv"), layers.Conv2D(4, 1, name="enc_out")], name="encoder")
decoder = keras.Sequential([keras.Input((4, 4, 4)), layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu", name="dec_conv"), layers.Conv2D(1, 1, name="dec_out")], name="decoder")
codebook = tf.Variable(tf.random.normal((16, 4)), name="codebook")
optimizer = keras.optimizers.Adam(2e-3)


def quantize(z):
    flat = tf.reshape(z, (-1, 4))
    distance = tf.reduce_sum(flat**2, 1, keepdims=True) - 2 * flat @ tf.transpose(codebook) + tf.reduce_sum(codebook**2, 1)
    code = tf.argmin(distance, 1)
    return tf.reshape(tf.gather(codebook, code), tf.shape(z))


@tf.function
def train(x):
    variables = encoder.trainable_variables + decoder.trainable_variables + [codebook]
    with tf.GradientTape() as tape:
        quantized = quantize(encoder(x))
        loss = tf.reduce_mean((decoder(quantized) - x) ** 2)
    optimizer.apply_gradients((g, v) for g, v in zip(tape.gradient(loss, variables), variables) if g is not None)
    return loss


images = np.random.rand(256, 8, 8, 1).astype("float32")
for i in range(60):
    loss = train(images[np.random.randint(0, 256, 32)])
print(float(loss))
