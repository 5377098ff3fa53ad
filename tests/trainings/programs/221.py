import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(221)
actor = keras.Sequential([keras.Input((3,)), keras.layers.Dense(24, activation="relu", name="a1"), keras.layers.Dense(1, activation="tanh", name="a2")], name="actor")
critic = keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="relu", name="q1"), keras.layers.Dense(1, name="q2")], name="critic")
actor_opt, critic_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(2e-3)


def act(state):
    return actor(state)


for step in range(60):
    s = tf.random.normal((32, 3))
    a = tf.clip_by_value(act(s) + 0.1 * tf.random.normal((32, 1)), -1, 1)
    r = -((a - tf.tanh(s[:, :1])) ** 2)
    with tf.GradientTape() as tape:
        q = critic(tf.concat([s, tf.stop_gradient(a)], 1))
        critic_loss = tf.reduce_mean((q - r) ** 2)
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))
    with tf.GradientTape() as tape:
        action = tf.stop_gradient(act(s))
        actor_loss = -tf.reduce_mean(critic(tf.concat([s, action], 1)))
    grads = tape.gradient(actor_loss, actor.trainable_variables)
    actor_opt.apply_gradients((g, v) for g, v in zip(grads, actor.trainable_variables) if g is not None)
print(float(critic_loss))
