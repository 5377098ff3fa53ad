import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(239)
raw = np.random.uniform(2e4, 9e4, (640, 7)).astype("float32")
raw[:, ::2] *= -1
label = (raw[:, 0] + raw[:, 1] > 0).astype("float32")[:, None]
squash = keras.layers.Dense(40, activation="tanh", name="squash")
out = keras.layers.Dense(1, name="out")
model = keras.Sequential([keras.Input((7,)), squash, out])
opt = keras.optimizers.Adam(1e-3)
for i in range(30):
    at = slice(16 * i, 16 * i + 16)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(label[at], model(raw[at])))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
print(float(loss))
