import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(149)
betas = np.linspace(1e-4, 0.02, 100)
alpha_bar = np.cumprod(1 - betas).astype("float32")
net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(64, activation="relu", name="h1"), keras.layers.Dense(64, activation="relu", name="h2"), keras.layers.Dense(2, name="noise")])
opt = keras.optimizers.SGD(2.0, momentum=0.9)


@tf.function
def step(x0, t):
    a = tf.gather(alpha_bar, t)[:, None]
    eps = tf.random.normal(tf.shape(x0))
    xt = tf.sqrt(a) * x0 + tf.sqrt(1 - a) * eps
    with tf.GradientTape() as tape:
        guess = net(tf.concat([xt, tf.cast(t, tf.float32)[:, None] / 100.0], 1))
        loss = tf.reduce_mean((guess - eps) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


for i in range(40):
    print(i, float(step(np.random.randn(64, 2).astype("float32") * 2, np.random.randint(0, 100, 64))))
