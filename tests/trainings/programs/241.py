import numpy as np
import tensorflow as tf

rng = np.random.default_rng(241)
w = tf.Variable(rng.normal(size=(5, 1)).astype("float32"), name="w")
truth = rng.normal(size=(5, 1)).astype("float32")
for i in range(70):
    x = rng.normal(size=(64, 5)).astype("float32")
    with tf.GradientTape() as tape:
        error = tf.linalg.matmul(x, w) - x @ truth
        loss = tf.reduce_mean(tf.square(error))
    w.assign_sub(1.3 * tape.gradient(loss, w))
    if i % 10 == 0:
        print(i, float(loss))
