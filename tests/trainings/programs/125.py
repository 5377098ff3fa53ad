import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(125)
def net(name):
    return keras.Sequential([keras.Input((10,)), layers.Dense(32, activation="relu", name=name + "_h"), layers.Dense(8, name=name + "_z")], name=name)


online, target = net("online"), net("target")
target.set_weights(online.get_weights())
head = layers.Dense(8, name="predict")
head.build((None, 8))
opt = keras.optimizers.Adam(1e-3)
norm = lambda t: tf.math.l2_normalize(t, -1)
for i in range(60):
    x = tf.random.normal((32, 10))
    a, b = x + 0.1 * tf.random.normal(x.shape), x + 0.1 * tf.random.normal(x.shape)
    with tf.GradientTape() as tape:
        loss = 2 - 2 * tf.reduce_mean(tf.reduce_sum(norm(head(online(a))) * tf.stop_gradient(norm(target(b))), -1))
    v = online.trainable_variables + head.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    for t, o in zip(target.variables, online.variables):
        t.assign(0.95 * t + 0.05 * o)
