import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(141)
policy = keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="tanh", name="body"), keras.layers.Dense(3, name="logits")])
opt = keras.optimizers.SGD(0.5)
rng = np.random.default_rng(141)


@tf.function
def update(states, actions, returns):
    with tf.GradientTape() as tape:
        log_p = tf.nn.log_softmax(policy(states))
        chosen = tf.gather(log_p, actions, batch_dims=1)
        loss = -tf.reduce_mean(chosen * returns)
    grads = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


for episode in range(50):
    s = rng.normal(size=(64, 4)).astype("float32")
    p = tf.nn.softmax(policy(s)).numpy()
    a = np.array([rng.choice(3, p=q / q.sum()) for q in p])
    r = np.cumsum(rng.normal(50, 30, 64) * (a == 1))[::-1].astype("float32").copy() * 1000
    print(episode, float(update(s, a, r)))
