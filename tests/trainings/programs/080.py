import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(42)
H = tf.float16
w1 = tf.Variable(tf.random.normal((16, 64)) * 0.5, name="narrow")
w2 = tf.Variable(tf.random.normal((64, 64)) * 4.0, name="wide")
w3 = tf.Variable(tf.random.normal((64, 1)) * 1e-3, name="last")
params = [w1, w2, w3]
opt = keras.optimizers.Adam(0.5)


def forward(x):
    h = tf.nn.relu(tf.matmul(tf.cast(x, H), tf.cast(w1, H)))
    h = tf.matmul(h, tf.cast(w2, H))
    h = tf.nn.relu(h)
    return tf.cast(tf.matmul(h * H.as_numpy_dtype(0.01), tf.cast(w3, H)), tf.float32)


for step in range(60):
    x = tf.random.normal((64, 16)) * 10
    y = 900.0 * tf.reduce_sum(x, axis=1, keepdims=True)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(forward(x) - y))
    opt.apply_gradients(zip(tape.gradient(loss, params), params))
    if step % 5 == 0:
        print("step", step, "mae", float(loss))
