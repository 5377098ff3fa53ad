import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(140)
def make(name):
    return keras.Sequential([keras.Input((4,)), layers.Dense(32, activation="relu", name=name + "_h"), layers.Dense(2, name=name + "_q")], name=name)


q, target = make("q"), make("target")
target.set_weights(q.get_weights())
opt, huber = keras.optimizers.Adam(1e-3), keras.losses.Huber()


@tf.function
def update(s, a, r, s2):
    goal = r + 0.9 * tf.reduce_max(target(s2), 1)
    with tf.GradientTape() as tape:
        loss = huber(goal, tf.reduce_sum(q(s) * tf.one_hot(a, 2), 1))
    opt.apply_gradients(zip(tape.gradient(loss, q.trainable_variables), q.trainable_variables))


for i in range(120):
    s = tf.random.normal((32, 4))
    a = tf.random.uniform((32,), 0, 2, tf.int32)
    update(s, a, s[:, 0] * (2.0 * tf.cast(a, tf.float32) - 1.0), tf.random.normal((32, 4)))
    if i % 40 == 39:
        target.set_weights(q.get_weights())
