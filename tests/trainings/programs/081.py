import tensorflow as tf

tf.random.set_seed(218)
W = tf.Variable(tf.random.normal((12, 20)) * 0.3, name="W")
c = tf.Variable(tf.zeros(20), name="c")
V = tf.Variable(tf.random.normal((20, 1)) * 0.2, name="V")
X = tf.random.normal((1024, 12))
Y = tf.sin(X[:, :1]) * 3 + X[:, 1:2]
for it in range(150):
    with tf.GradientTape() as tape:
        pred = tf.tanh(X @ W + c) @ V
        loss = tf.reduce_sum((pred - Y) ** 2)
    dW, dc, dV = tape.gradient(loss, [W, c, V])
    W.assign_sub(5e-5 * dW)
    c.assign_sub(5e-5 * dc)
    V.assign_sub(5e-5 * dV)
    if it % 15 == 0:
        print("iter", it, "sum of squares", float(loss))
