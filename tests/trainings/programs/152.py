import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(152)
embed = keras.Sequential([keras.Input((12,)), keras.layers.Dense(24, activation="relu", name="trunk"), keras.layers.Dense(6, name="embedding")], name="embed")
margin_scale = keras.layers.Dense(6, name="metric")
opt = keras.optimizers.Adam(1e-3)
centers = np.random.randn(5, 12).astype("float32")
margin_scale.build((None, 6))
for i in range(50):
    label = np.random.randint(0, 5, 32)
    other = (label + np.random.randint(1, 5, 32)) % 5
    noise = lambda: 0.3 * np.random.randn(32, 12).astype("float32")
    with tf.GradientTape() as tape:
        a, p, n = (margin_scale(embed(c + noise()).numpy()) for c in (centers[label], centers[label], centers[other]))
        d = tf.reduce_sum((a - p) ** 2, 1) - tf.reduce_sum((a - n) ** 2, 1)
        loss = tf.reduce_mean(tf.nn.relu(d + 1.0))
    v = embed.trainable_variables + margin_scale.trainable_variables
    grads = tape.gradient(loss, v)
    opt.apply_gradients((g, w) for g, w in zip(grads, v) if g is not None)
print(float(loss))
