import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(181)
critic = keras.Sequential([keras.Input((2,)), keras.layers.Dense(32, activation="relu", name="c1"), keras.layers.Dense(1, name="score")], name="critic")
maker = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)], name="maker")
c_opt, g_opt = keras.optimizers.SGD(0.5), keras.optimizers.SGD(0.01)


@tf.function
def critic_step(real):
    fake = maker(tf.random.normal([64, 4]))
    mix = tf.random.uniform([64, 1])
    between = mix * real + (1 - mix) * fake
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(between)
            score = critic(between)
        slope = tf.sqrt(tf.reduce_sum(inner.gradient(score, between) ** 2, 1) + 1e-12)
        penalty = tf.reduce_mean((slope - 1.0) ** 2)
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + 10.0 * penalty
    c_opt.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))
    return loss


@tf.function
def maker_step():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(maker(tf.random.normal([64, 4]))))
    g_opt.apply_gradients(zip(tape.gradient(loss, maker.trainable_variables), maker.trainable_variables))
    return loss


for i in range(30):
    real = tf.constant(np.random.randn(64, 2) * 0.5 + 2.0, tf.float32)
    c = critic_step(real)
    g = maker_step()
    print(i, float(c), float(g))
