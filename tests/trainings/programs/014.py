import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(236)
emb = keras.Sequential([keras.Input((12,)), keras.layers.Dense(32, activation="relu", name="t1"),
                        keras.layers.Dense(6, name="t2")], name="embedder")
opt = keras.optimizers.Adam(5e-3)
C = np.random.randn(5, 12) * 1.2


def sample(n=48):
    a = np.random.randint(0, 5, n)
    b = (a + np.random.randint(1, 5, n)) % 5
    f = lambda k: (C[k] + 1.3 * np.random.randn(n, 12)).astype("float32")
    return f(a), f(a), f(b)


for i in range(120):
    A, P, N = sample()
    with tf.GradientTape() as tape:
        ea, ep, en = (tf.nn.l2_normalize(emb(v), 1) for v in (A, P, N))
        hinge = tf.nn.relu(tf.reduce_sum((ea - ep) ** 2, 1) - tf.reduce_sum((ea - en) ** 2, 1) + 0.4)
        loss = tf.reduce_mean(hinge)
    opt.apply_gradients(zip(tape.gradient(loss, emb.trainable_variables), emb.trainable_variables))
    if i % 12 == 0:
        print("step", i, "triplet", float(loss), "active", float(tf.reduce_mean(tf.cast(hinge > 0, tf.float32))))
