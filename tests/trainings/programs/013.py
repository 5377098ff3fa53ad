import tensorflow as tf
import keras

keras.utils.set_random_seed(101)
w = tf.Variable(tf.random.normal((5, 1)), name="weights")
log_scale = tf.Variable(-22.0, name="log_scale")
opt = keras.optimizers.Adam(0.05)
true = tf.constant([[1.0], [2.0], [-1.0], [0.5], [0.0]])
for t in range(80):
    x = tf.random.normal((64, 5))
    y = x @ true + 0.1 * tf.random.normal((64, 1))
    with tf.GradientTape() as tape:
        err = tf.square(x @ w - y)
        nll = tf.reduce_mean(err * tf.exp(-2.0 * log_scale) / 2.0 + log_scale)
    g = tape.gradient(nll, [w, log_scale])
    opt.apply_gradients(zip(g, [w, log_scale]))
    if t % 8 == 0:
        print("t", t, "nll", float(nll))
