import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(161)
policy = keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="tanh", name="body"), keras.layers.Dense(3, name="logits")])
value = keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="tanh", name="critic_body"), keras.layers.Dense(1, name="value")])
opt = keras.optimizers.Adam(3e-3)
rng = np.random.default_rng(161)


@tf.function
def update(s, a, r):
    with tf.GradientTape() as tape:
        v = value(s)[:, 0]
        advantage = tf.stop_gradient(r - v)
        log_p = tf.nn.log_softmax(policy(s))
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, 1))
        loss = -tf.reduce_mean(tf.gather(log_p, a, batch_dims=1) * advantage) + 0.5 * tf.reduce_mean((r - v) ** 2) - 0.01 * entropy
    w = policy.trainable_variables + value.trainable_variables
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, w), 0.5)
    opt.apply_gradients(zip(grads, w))
    return loss


for episode in range(60):
    s = rng.normal(size=(64, 4)).astype("float32")
    p = tf.nn.softmax(policy(s)).numpy()
    a = np.array([rng.choice(3, p=q / q.sum()) for q in p])
    r = ((a == (s[:, 0] > 0)) * 10.0 - 3.0 * rng.random(64)).astype("float32")
    loss = update(s, a, r)
print(float(loss))
