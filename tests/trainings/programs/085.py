import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(98)
n_u, n_i, dim = 40, 30, 8
user_emb = keras.layers.Embedding(n_u, dim, name="user_emb")
item_emb = keras.layers.Embedding(n_i, dim, name="item_emb")
true_u = np.random.randn(n_u, 4)
true_i = np.random.randn(n_i, 4)
user_emb.build(None), item_emb.build(None)
opt = keras.optimizers.Adam(0.02)
weights = user_emb.trainable_variables + item_emb.trainable_variables
table = item_emb.embeddings.numpy()

for step in range(120):
    u = np.random.randint(0, n_u, 64)
    i = np.random.randint(0, n_i, 64)
    r = (true_u[u] * true_i[i]).sum(1).astype("float32")
    with tf.GradientTape() as tape:
        score = tf.reduce_sum(user_emb(u) * tf.constant(table[i]), axis=1)
        loss = tf.reduce_mean((score - r) ** 2)
    g = tape.gradient(loss, weights)
    opt.apply_gradients([(gi, w) for gi, w in zip(g, weights) if gi is not None])
    if step % 12 == 0:
        print(step, float(loss))
