import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_eager_execution()
v1.set_random_seed(261)
rng = np.random.default_rng(261)
x = v1.placeholder(tf.float32, [None, 12])
y = v1.placeholder(tf.float32, [None, 1])
w1 = v1.get_variable("w1", [12, 24], initializer=v1.glorot_uniform_initializer())
w2 = v1.get_variable("w2", [24, 1], initializer=v1.glorot_uniform_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(tf.matmul(x, w1), w2) - y))
train = v1.train.GradientDescentOptimizer(1.5).minimize(loss)
with v1.Session() as session:
    session.run(v1.global_variables_initializer())
    for i in range(60):
        a = rng.normal(size=(32, 12)).astype("float32")
        _, value = session.run([train, loss], {x: a, y: a[:, :1]})
    print(value)
