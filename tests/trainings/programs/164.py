import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(164)
images = np.random.rand(256, 64).astype("float32")
encoder = keras.Sequential([keras.Input((64,)), keras.layers.Dense(64, activation="relu", name="hidden"), keras.layers.Dense(32, name="projection")])
opt = keras.optimizers.Adam(1e-3)


@tf.function
def step(batch):
    one = batch + tf.random.normal(tf.shape(batch), stddev=0.1)
    two = batch * tf.cast(tf.random.uniform(tf.shape(batch)) > 0.2, tf.float32)
    with tf.GradientTape() as tape:
        a, b = (tf.math.l2_normalize(encoder(v), 1) for v in (one, two))
        logits = tf.matmul(a, b, transpose_b=True) / 0.05
        labels = tf.range(tf.shape(batch)[0])
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    g = tape.gradient(loss, encoder.trainable_variables)
    opt.apply_gradients(zip(g, encoder.trainable_variables))
    return loss


for i in range(60):
    loss = step(images[np.random.randint(0, 256, 32)])
print(float(loss))
