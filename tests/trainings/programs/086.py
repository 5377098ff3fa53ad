import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(112)
N, T = 800, 10
X = np.random.randn(N, T, 3).astype("float32")
y = (X[:, -1, 0] > 0).astype("float32")[:, None]
X[477, 4, 1] = np.nan
inp = keras.Input((T, 3))
h = layers.GRU(16, name="gru")(inp)
out = layers.Dense(1, name="logit")(h)
model = keras.Model(inp, out)
opt = keras.optimizers.Adam(3e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = bce(b, model(a, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for i in range(40):
    loss = step(X[i * 20:(i + 1) * 20], y[i * 20:(i + 1) * 20])
    if i % 4 == 0:
        print(f"batch {i}: {float(loss):.4f}")
