import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(7)
rng = np.random.default_rng(7)
N = 400
S = rng.normal(size=(N, 6)).astype("float32")
A = rng.integers(0, 3, N)
R = rng.normal(size=N).astype("float32")
S2 = (S * 1.6 + 0.3 * rng.normal(size=S.shape)).astype("float32")

q = keras.Sequential([keras.Input((6,)),
                      keras.layers.Dense(64, activation="relu", name="q_hidden"),
                      keras.layers.Dense(3, name="q_values")])
opt = keras.optimizers.Adam(0.02)
GAMMA = 0.99


@tf.function
def update(s, a, r, s2):
    target = r + GAMMA * tf.reduce_max(q(s2), axis=1)
    with tf.GradientTape() as tape:
        qa = tf.reduce_sum(q(s) * tf.one_hot(a, 3), axis=1)
        loss = tf.reduce_mean((tf.stop_gradient(target) - qa) ** 2)
    g = tape.gradient(loss, q.trainable_variables)
    opt.apply_gradients(zip(g, q.trainable_variables))
    return loss, tf.reduce_mean(qa)


for t in range(150):
    idx = rng.integers(0, N, 64)
    loss, mq = update(S[idx], A[idx], R[idx], S2[idx])
    if t % 15 == 0 or t == 149:
        print(f"update {t}: td {float(loss):.3f} mean q {float(mq):.3f}")
