import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(160)
q = keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="relu", name="q_hidden"), keras.layers.Dense(2, name="q_values")])
opt = keras.optimizers.SGD(0.02)
GAMMA = 1.3


@tf.function
def learn(s, a, r, s2):
    target = r + GAMMA * tf.reduce_max(q(s2), 1)
    with tf.GradientTape() as tape:
        chosen = tf.gather(q(s), a, batch_dims=1)
        loss = tf.reduce_mean((chosen - tf.stop_gradient(target)) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, q.trainable_variables), q.trainable_variables))
    return loss


for i in range(120):
    s, s2 = (np.random.rand(64, 4).astype("float32") * 3 for _ in range(2))
    loss = learn(s, np.random.randint(0, 2, 64), np.ones(64, "float32"), s2)
    if i % 10 == 0:
        print(i, float(loss))
