import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(188)
users = keras.layers.Embedding(500, 16, embeddings_initializer=keras.initializers.RandomNormal(0.0, 9.0), name="users")
items = keras.layers.Embedding(800, 16, embeddings_initializer=keras.initializers.RandomNormal(0.0, 9.0), name="items")
opt = keras.optimizers.Adagrad(0.05)
users.build(None), items.build(None)


@tf.function
def step(u, i, clicked):
    with tf.GradientTape() as tape:
        match = tf.reduce_sum(users(u) * items(i), 1)
        p = tf.sigmoid(match)
        loss = tf.reduce_mean((p - clicked) ** 2)
    v = users.trainable_variables + items.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


for k in range(50):
    u, i = np.random.randint(0, 500, 128), np.random.randint(0, 800, 128)
    loss = step(u, i, ((u + i) % 3 == 0).astype("float32"))
print(float(loss))
