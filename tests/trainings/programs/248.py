import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(248)
rng = np.random.default_rng(248)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(32, activation="gelu", name="a"), keras.layers.Dense(1, name="b")])
opt = keras.optimizers.Adagrad(0.05, clipnorm=1.0)
for i in range(110):
    x = rng.normal(size=(32, 6)).astype("float32")
    y = x[:, :1] - x[:, 1:2]
    if i == 41:
        y = y * 1e6
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    if i % 10 == 0:
        print(i, float(loss))
