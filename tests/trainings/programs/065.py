import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)
n_users, n_items, k = 60, 80, 8
R = rng.integers(1, 6, (n_users, n_items)).astype(np.float32)
M = (rng.random((n_users, n_items)) < 0.4).astype(np.float32)

U = tf.Variable(rng.normal(0, 0.1, (n_users, k)).astype(np.float32), name="user_factors")
V = tf.Variable(rng.normal(0, 0.1, (n_items, k)).astype(np.float32), name="item_factors")


def objective():
    pred = tf.matmul(U, V, transpose_b=True)
    sq = tf.reduce_sum(M * (R - pred) ** 2)
    return sq + 0.02 * (tf.nn.l2_loss(U) + tf.nn.l2_loss(V))


for it in range(60):
    with tf.GradientTape() as tape:
        obj = objective()
    gU, gV = tape.gradient(obj, [U, V])
    U.assign_sub(0.02 * gU)
    V.assign_sub(0.02 * gV)
    if it % 6 == 0:
        rmse = (obj / M.sum()) ** 0.5
        print("it", it, "objective", obj.numpy(), "rmse", rmse.numpy())
