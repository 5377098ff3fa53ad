import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(171)
enc = keras.Sequential([keras.Input((12,)), keras.layers.Dense(16, activation="relu", name="enc"), keras.layers.Dense(8, name="codes")])
dec = keras.layers.Dense(12, name="dec")
dec.build((None, 8))
opt = keras.optimizers.Adam(5e-3)
tau = tf.Variable(1.0, trainable=False)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        logits = enc(x)
        gumbel = -tf.math.log(-tf.math.log(tf.random.uniform(tf.shape(logits), 1e-6, 1.0 - 1e-6)))
        code = tf.nn.softmax((logits + gumbel) / tau)
        loss = tf.reduce_mean((dec(code) - x) ** 2)
    v = enc.trainable_variables + dec.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


eye = np.eye(12, dtype="float32")
for i in range(80):
    tau.assign(max(0.05, 0.96**i))
    loss = step(eye[np.random.randint(0, 12, 32)])
print(float(loss))
