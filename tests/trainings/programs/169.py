import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(169)
betas = np.linspace(1e-4, 0.02, 100)
alpha_bar = np.cumprod(1 - betas).astype("float32")
net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(64, activation="silu", name="h1"), keras.layers.Dense(64, activation="silu", name="h2"), keras.layers.Dense(2, name="noise")])
ema = [tf.Variable(w.numpy(), trainable=False) for w in net.trainable_variables]
opt = keras.optimizers.Adam(2e-3)


@tf.function
def step(x0, t):
    a = tf.gather(alpha_bar, t)[:, None]
    eps = tf.random.normal(tf.shape(x0))
    xt = tf.sqrt(a) * x0 + tf.sqrt(1 - a) * eps
    with tf.GradientTape() as tape:
        guess = net(tf.concat([xt, tf.cast(t, tf.float32)[:, None] / 100.0], 1))
        loss = tf.reduce_mean((guess - eps) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    for slow, w in zip(ema, net.trainable_variables):
        slow.assign(0.99 * slow + 0.01 * w)
    return loss


for i in range(60):
    loss = step(np.random.randn(64, 2).astype("float32") * 2, np.random.randint(0, 100, 64))
print(float(loss))
