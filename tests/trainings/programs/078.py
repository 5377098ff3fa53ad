import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(229)
X = np.random.randn(300, 5).astype("float32")
y = (X @ np.array([1.0, -2, 0.5, 0, 3], "float32"))[:, None] + 0.5 * np.random.standard_t(3, (300, 1)).astype("float32")
net = keras.Sequential([keras.Input((5,)), keras.layers.Dense(16, activation="relu", name="hid"), keras.layers.Dense(1, name="lin")])
opt = keras.optimizers.SGD(0.02)


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(a) - b) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


window = []
for i in range(200):
    j = np.random.randint(0, 300, 2)
    window.append(float(step(X[j], y[j])))
    if i % 20 == 19:
        print(i, "last", round(window[-1], 4), "mean of 20", round(float(np.mean(window[-20:])), 4))
