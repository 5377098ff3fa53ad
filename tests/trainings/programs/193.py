import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(193)
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(16, activation="relu", name="trunk"), keras.layers.Dense(1, name="demand")])
opt = keras.optimizers.Adam(1e-2)
for i in range(60):
    x = np.random.randn(32, 5).astype("float32")
    y = x[:, :1] + 1
    if i == 9:
        y[3] = 1e16
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    if i % 6 == 0:
        print(i, float(loss))
