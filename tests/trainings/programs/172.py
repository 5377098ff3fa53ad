import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(172)
embed = keras.Sequential([keras.Input((12,)), keras.layers.Dense(24, activation="relu", name="trunk"), keras.layers.Dense(6, name="embedding")], name="embed")
opt = keras.optimizers.Adam(3e-3)
centers = 3 * np.random.randn(5, 12).astype("float32")


@tf.function
def step(a, p, n):
    with tf.GradientTape() as tape:
        a, p, n = (tf.math.l2_normalize(embed(x), 1) for x in (a, p, n))
        d = tf.reduce_sum((a - p) ** 2, 1) - tf.reduce_sum((a - n) ** 2, 1)
        loss = tf.reduce_mean(tf.nn.relu(d + 0.2))
    opt.apply_gradients(zip(tape.gradient(loss, embed.trainable_variables), embed.trainable_variables))
    return loss


for i in range(80):
    label = np.random.randint(0, 5, 32)
    other = (label + np.random.randint(1, 5, 32)) % 5
    noisy = [c + 0.3 * np.random.randn(32, 12).astype("float32") for c in (centers[label], centers[label], centers[other])]
    loss = step(*noisy)
print(float(loss))
