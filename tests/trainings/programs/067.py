import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(234)
enc = keras.Sequential([keras.Input((16,)), layers.Dense(32, name="e1"), layers.BatchNormalization(name="bn1"),
                        layers.ReLU(), layers.Dense(16, name="e2")], name="encoder")
pred = keras.Sequential([keras.Input((16,)), layers.Dense(8, activation="relu", name="p1"), layers.Dense(16, name="p2")], name="predictor")
opt = keras.optimizers.SGD(0.1, momentum=0.9)
tv = enc.trainable_variables + pred.trainable_variables


def neg_cos(p, z):
    z = tf.stop_gradient(z)
    return -tf.reduce_mean(tf.reduce_sum(tf.nn.l2_normalize(p, 1) * tf.nn.l2_normalize(z, 1), 1))


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        za, zb = enc(a, training=True), enc(b, training=True)
        loss = 0.5 * neg_cos(pred(za), zb) + 0.5 * neg_cos(pred(zb), za)
    g = tape.gradient(loss, tv)
    opt.apply_gradients(zip(g, tv))
    return loss, tf.reduce_mean(tf.math.reduce_std(tf.nn.l2_normalize(za, 1), 0))


for i in range(120):
    base = tf.random.normal((64, 16))
    loss, sd = step(base + 0.3 * tf.random.normal((64, 16)), base + 0.3 * tf.random.normal((64, 16)))
    if i % 12 == 0:
        print(i, "loss", float(loss), "feature std", float(sd))
