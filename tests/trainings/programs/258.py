import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_eager_execution()
v1.set_random_seed(258)
rng = np.random.default_rng(258)
signal = rng.normal(size=(512, 20)).astype("float32") * 40 + 300
data = v1.data.Dataset.from_tensor_slices(signal)
data = data.map(lambda row: (row - tf.reduce_mean(row)) / tf.math.reduce_std(row)).repeat().batch(16)
rows = v1.data.make_one_shot_iterator(data).get_next()
encode = v1.get_variable("encode", [20, 5], initializer=v1.glorot_uniform_initializer())
decode = v1.get_variable("decode", [5, 20], initializer=v1.glorot_uniform_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(rows, encode)), decode) - rows))
train = v1.train.AdamOptimizer(1e-2).minimize(loss)
with v1.Session() as session:
    session.run(v1.global_variables_initializer())
    for i in range(70):
        _, value = session.run([train, loss])
    print(value)
