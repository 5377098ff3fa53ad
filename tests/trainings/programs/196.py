import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(196)
critic = keras.Sequential([keras.Input((2,)), keras.layers.Dense(32, activation="leaky_relu"), keras.layers.Dense(1)], name="critic")
maker = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)], name="maker")
c_opt, g_opt = (keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.9) for _ in range(2))


@tf.function
def step(real):
    fake = maker(tf.random.normal([64, 4]))
    mix = tf.random.uniform([64, 1])
    between = mix * real + (1 - mix) * fake
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(between)
            score = critic(between)
        slope = tf.sqrt(tf.reduce_sum(inner.gradient(score, between) ** 2, 1) + 1e-12)
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + 10.0 * tf.reduce_mean((slope - 1.0) ** 2)
    c_opt.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))
    with tf.GradientTape() as tape:
        made = -tf.reduce_mean(critic(maker(tf.random.normal([64, 4]))))
    g_opt.apply_gradients(zip(tape.gradient(made, maker.trainable_variables), maker.trainable_variables))
    return loss, made


for i in range(60):
    c, g = step(tf.constant(np.random.randn(64, 2) * 0.5 + 2.0, tf.float32))
    if i % 10 == 0:
        print(i, float(c), float(g))
