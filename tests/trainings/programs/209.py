import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(209)
policy = keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(3)])
opt = keras.optimizers.Adam(5e-3)


@tf.function
def update(states, actions, returns):
    with tf.GradientTape() as tape:
        log_p = tf.nn.log_softmax(policy(states))
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, 1))
        loss = -tf.reduce_mean(tf.gather(log_p, actions, batch_dims=1) * returns) - 0.01 * entropy
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, policy.trainable_variables), 1.0)
    opt.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


rng = np.random.default_rng(209)
for episode in range(60):
    s = rng.normal(size=(64, 4)).astype("float32")
    p = tf.nn.softmax(policy(s)).numpy().astype(float)
    a = np.array([rng.choice(3, p=q / q.sum()) for q in p])
    r = ((a == s[:, :3].argmax(1)) & (rng.random(64) < 0.1)).astype("float32")  # rare rewards; some batches have none
    loss = update(s, a, r)
    if episode % 10 == 0:
        print(episode, float(loss), r.sum())
