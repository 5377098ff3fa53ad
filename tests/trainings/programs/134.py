import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(134)
policy = keras.Sequential([keras.Input((5,)), layers.Dense(24, activation="tanh", name="ph"), layers.Dense(4, name="pi")], name="policy")
value = keras.Sequential([keras.Input((5,)), layers.Dense(24, activation="tanh", name="vh"), layers.Dense(1, name="v")], name="value")
opt = keras.optimizers.Adam(1e-2)
for i in range(90):
    s = tf.random.normal((48, 5))
    a = tf.squeeze(tf.random.categorical(policy(s), 1), 1)
    r = 10.0 * tf.cast(a == tf.argmax(s[:, :4], 1), tf.float32)
    with tf.GradientTape() as tape:
        v = tf.squeeze(value(s), 1)
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(a, policy(s))
        loss = -tf.reduce_mean(logp * tf.stop_gradient(r - v)) + 0.5 * tf.reduce_mean((v - r) ** 2)
    w = policy.trainable_variables + value.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, w), w))
