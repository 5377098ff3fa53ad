import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(216)
T = 15
flag = np.zeros((512, T), "float32")
pos = np.random.randint(0, T - 3, 512)
flag[np.arange(512), pos] = 1
val = np.random.choice([-1.0, 1.0], (512, T)).astype("float32")
y = val[np.arange(512), pos][:, None]
X = np.stack([flag, val * flag + 0.3 * val * (1 - flag)], -1)
inp = keras.Input((T, 2), name="seq")
h = keras.layers.LSTM(24, name="latch")(inp)
model = keras.Model(inp, keras.layers.Dense(1, name="read")(h))
opt = keras.optimizers.Adam(0.02)


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(a, training=True) - b) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for i in range(160):
    k = np.random.randint(0, 512, 64)
    l = step(X[k], y[k])
    if i % 16 == 0:
        print(i, float(l))
