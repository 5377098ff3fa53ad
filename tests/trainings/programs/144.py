import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(144)
images = np.random.rand(256, 64).astype("float32") * 4
encoder = keras.Sequential([keras.Input((64,)), keras.layers.Dense(128, activation="relu", name="hidden"), keras.layers.Dense(64, name="projection")])
opt = keras.optimizers.Adam(1e-3)


@tf.function
def step(batch):
    one = batch + tf.random.normal(tf.shape(batch), stddev=0.1)
    two = batch + tf.random.normal(tf.shape(batch), stddev=0.1)
    with tf.GradientTape() as tape:
        a, b = encoder(one), encoder(two)
        scores = tf.matmul(a, b, transpose_b=True) * 100.0
        p = tf.nn.softmax(scores)
        loss = -tf.reduce_mean(tf.math.log(tf.linalg.diag_part(p) + 1e-7))
    g = tape.gradient(loss, encoder.trainable_variables)
    opt.apply_gradients(zip(g, encoder.trainable_variables))
    return loss


for i in range(40):
    print(i, float(step(images[np.random.randint(0, 256, 32)])))
