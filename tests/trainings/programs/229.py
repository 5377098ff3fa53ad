import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(229)


def make(inputs, last, name):
    return keras.Sequential([keras.Input((inputs,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1, activation=last)], name=name)


actor, target_actor = make(3, "tanh", "actor"), make(3, "tanh", "target_actor")
critic, target_critic = make(4, None, "critic"), make(4, None, "target_critic")
target_actor.set_weights(actor.get_weights()), target_critic.set_weights(critic.get_weights())
actor_opt, critic_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(2e-3)


@tf.function
def learn(s, a, r, s2):
    with tf.GradientTape() as tape:
        goal = r + 0.95 * target_critic(tf.concat([s2, target_actor(s2)], 1))
        loss = tf.reduce_mean((tf.stop_gradient(goal) - critic(tf.concat([s, a], 1))) ** 2)
    critic_opt.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))
    with tf.GradientTape() as tape:
        actor_loss = -tf.reduce_mean(critic(tf.concat([s, actor(s)], 1)))
    actor_opt.apply_gradients(zip(tape.gradient(actor_loss, actor.trainable_variables), actor.trainable_variables))
    for t, v in zip(target_actor.variables + target_critic.variables, actor.variables + critic.variables):
        t.assign(0.99 * t + 0.01 * v)
    return loss


for episode in range(70):
    s = np.random.randn(32, 3).astype("float32")
    a = np.clip(actor(s).numpy() + 0.2 * np.random.randn(32, 1), -1, 1).astype("float32")
    r = -((a - np.tanh(s[:, :1])) ** 2)
    loss = learn(s, a, r, np.random.randn(32, 3).astype("float32"))
print(float(loss))
