import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(203)
users = keras.layers.Embedding(5000, 16)
items = keras.layers.Embedding(8000, 16)
bias = keras.layers.Embedding(8000, 1, embeddings_initializer="zeros")
for table in (users, items, bias):
    table.build(None)
opt = keras.optimizers.Adagrad(0.5)


@tf.function
def step(u, liked, other):
    with tf.GradientTape() as tape:
        who = users(u)
        better = tf.reduce_sum(who * items(liked), 1) + bias(liked)[:, 0]
        worse = tf.reduce_sum(who * items(other), 1) + bias(other)[:, 0]
        loss = tf.reduce_mean(tf.nn.softplus(worse - better))
    v = users.trainable_variables + items.trainable_variables + bias.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


for k in range(80):
    u = np.random.zipf(1.3, 128).clip(0, 4999)
    liked, other = u * 3 % 50, np.random.randint(0, 8000, 128)
    loss = step(u, liked, other)
    if k % 10 == 0:
        print(k, float(loss))
