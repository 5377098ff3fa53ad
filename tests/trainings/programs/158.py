import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(158)
mdn = keras.Sequential([keras.Input((1,)), keras.layers.Dense(24, activation="tanh", name="hidden"), keras.layers.Dense(6, name="mixture")])
opt = keras.optimizers.Adagrad(0.05)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        mu, log_s, logit = tf.split(mdn(x), 3, axis=1)
        s = tf.nn.softplus(log_s) + 0.1
        log_p = -0.5 * ((y - mu) / s) ** 2 - tf.math.log(s) + tf.nn.log_softmax(logit)
        loss = -tf.reduce_mean(tf.reduce_logsumexp(log_p, 1))
    opt.apply_gradients(zip(tape.gradient(loss, mdn.trainable_variables), mdn.trainable_variables))
    return loss


for i in range(60):
    x = np.random.uniform(-1, 1, (64, 1)).astype("float32")
    y = (np.sign(np.random.randn(64, 1)) * x).astype("float32")
    if i == 3:
        y = y * 1e12
    loss = step(x, y)
print(float(loss))
