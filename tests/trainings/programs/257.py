import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_eager_execution()
v1.set_random_seed(257)
rng = np.random.default_rng(257)
x = v1.placeholder(tf.float32, [None, 6])
y = v1.placeholder(tf.int64, [None])
step = v1.train.get_or_create_global_step()
w = v1.get_variable("w", [6, 3], initializer=v1.zeros_initializer())
b = v1.get_variable("b", [3], initializer=v1.zeros_initializer())
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.matmul(x, w) + b))
rate = v1.train.exponential_decay(0.5, step, 20, 0.8, staircase=True)
opt = v1.train.MomentumOptimizer(rate, 0.9)
pairs = opt.compute_gradients(loss)
train = opt.apply_gradients([(tf.clip_by_norm(g, 1.0), v) for g, v in pairs], global_step=step)
with v1.train.MonitoredTrainingSession() as session:
    for i in range(100):
        a = rng.normal(size=(64, 6)).astype("float32")
        _, value = session.run([train, loss], {x: a, y: a[:, :3].argmax(1)})
    print(value)
