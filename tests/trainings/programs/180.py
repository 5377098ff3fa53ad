import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(180)
make = lambda name: keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="relu", name="hidden"), keras.layers.Dense(2, name="values")], name=name)
q, target_q = make("online"), make("target")
target_q.set_weights(q.get_weights())
opt = keras.optimizers.Adam(1e-3, clipnorm=10.0)


@tf.function
def learn(s, a, r, s2, done):
    target = r + 0.95 * (1 - done) * tf.reduce_max(target_q(s2), 1)
    with tf.GradientTape() as tape:
        chosen = tf.gather(q(s), a, batch_dims=1)
        loss = tf.reduce_mean(keras.losses.huber(tf.stop_gradient(target)[:, None], chosen[:, None]))
    opt.apply_gradients(zip(tape.gradient(loss, q.trainable_variables), q.trainable_variables))
    return loss


for i in range(80):
    s, s2 = (np.random.randn(64, 4).astype("float32") for _ in range(2))
    a = np.random.randint(0, 2, 64)
    loss = learn(s, a, (100.0 * (a == (s[:, 1] > 0))).astype("float32"), s2, (np.random.rand(64) < 0.1).astype("float32"))
    if i % 20 == 0:
        target_q.set_weights(q.get_weights())
print(float(loss))
