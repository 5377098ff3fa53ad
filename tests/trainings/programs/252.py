import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(252)
rng = np.random.default_rng(252)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu", name="h"), keras.layers.Dense(1, name="o", kernel_initializer=keras.initializers.RandomNormal(stddev=0.01))])
opt = keras.optimizers.Adam(1e-2)
first, second = rng.normal(size=(8, 1)) * 0.05, rng.normal(size=(8, 1)) * 3.0
for i in range(150):
    x = rng.normal(size=(32, 8)).astype("float32")
    y = (x @ (first if i < 50 else second)).astype("float32")
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    if i % 15 == 0:
        print(i, float(loss))
