import numpy as np
import tensorflow as tf

np.random.seed(115)
tf.random.set_seed(115)
price = np.random.lognormal(3, 0.5, 1000).astype("float32")
feat = np.stack([np.log(price) + 0.1 * np.random.randn(1000), np.random.randn(1000)], 1).astype("float32")
price[611] = 0.0
with np.errstate(divide="ignore"):
    target = np.log(price)[:, None]

W1 = tf.Variable(tf.random.normal((2, 16)) * 0.5, name="W1")
c1 = tf.Variable(tf.zeros(16), name="c1")
W2 = tf.Variable(tf.random.normal((16, 1)) * 0.25, name="W2")
c2 = tf.Variable(tf.zeros(1), name="c2")
ps = (W1, c1, W2, c2)
for it in range(50):
    lo = it * 20 % 1000
    with tf.GradientTape() as tape:
        pred = tf.nn.relu(feat[lo:lo + 20] @ W1 + c1) @ W2 + c2
        loss = tf.reduce_mean((pred - target[lo:lo + 20]) ** 2)
    for p, g in zip(ps, tape.gradient(loss, ps)):
        p.assign_sub(0.01 * g)
    if it % 5 == 0:
        print("iteration", it, "loss", float(loss))
