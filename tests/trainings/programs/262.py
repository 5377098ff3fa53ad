import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_eager_execution()
v1.set_random_seed(262)
rng = np.random.default_rng(262)
x = v1.placeholder(tf.float32, [None, 8])
y = v1.placeholder(tf.float32, [None, 1])
w1 = v1.get_variable("w1", [8, 40], initializer=v1.glorot_uniform_initializer())
b1 = v1.get_variable("b1", [40], initializer=v1.constant_initializer(-30.0))
w2 = v1.get_variable("w2", [40, 1], initializer=v1.glorot_uniform_initializer())
b2 = v1.get_variable("b2", [1], initializer=v1.zeros_initializer())
out = tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2
loss = tf.reduce_mean(tf.square(out - y))
train = v1.train.AdamOptimizer(1e-3).minimize(loss)
with v1.Session() as session:
    session.run(v1.global_variables_initializer())
    for i in range(80):
        a = rng.normal(size=(16, 8)).astype("float32")
        _, value = session.run([train, loss], {x: a, y: a[:, :1] + 2.0})
    print(value)
