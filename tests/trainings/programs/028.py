import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(76)
G = keras.Sequential([keras.Input((6,)), layers.Dense(32, activation="relu", name="g_h"),
                      layers.Dense(8, name="g_out")], name="G")
D = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu", name="d_h"),
                      layers.Dense(1, activation="sigmoid", name="d_out")], name="D")
og, od = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(2e-2)


@tf.function
def train(real):
    z = tf.random.normal((tf.shape(real)[0], 6))
    with tf.GradientTape(persistent=True) as t:
        fake = G(z)
        pr, pf = D(real), D(fake)
        d_loss = -tf.reduce_mean(tf.math.log(pr) + tf.math.log(1.0 - pf))
        g_loss = tf.reduce_mean(tf.math.log(1.0 - pf))
    od.apply_gradients(zip(t.gradient(d_loss, D.trainable_variables), D.trainable_variables))
    og.apply_gradients(zip(t.gradient(g_loss, G.trainable_variables), G.trainable_variables))
    return d_loss, g_loss


for n in range(120):
    real = 15.0 + 2.0 * tf.random.normal((64, 8))
    d, g = train(real)
    if n % 10 == 0:
        print("it", n, "D", float(d), "G", float(g))
