import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(239)
gen = keras.Sequential([keras.Input((4,)), layers.Dense(24, activation="relu", name="gh"), layers.Dense(2, name="gx")], name="generator")
critic = keras.Sequential([keras.Input((2,)), layers.Dense(32, activation="relu", name="ch"), layers.Dense(1, use_bias=False, name="cs")], name="critic")
go, co = keras.optimizers.RMSprop(3e-3), keras.optimizers.RMSprop(3e-3)


@tf.function
def c_step():
    real = tf.random.normal((64, 2)) * 0.2 + [1.0, -0.5]
    with tf.GradientTape() as t:
        w = tf.reduce_mean(critic(real)) - tf.reduce_mean(critic(gen(tf.random.normal((64, 4)))))
        loss = -w
    co.apply_gradients(zip(t.gradient(loss, critic.trainable_variables), critic.trainable_variables))
    for v in critic.trainable_variables:
        v.assign(tf.clip_by_value(v, -0.2, 0.2))
    return w


@tf.function
def g_step():
    with tf.GradientTape() as t:
        x = gen(tf.random.normal((64, 4)))
        loss = -tf.reduce_mean(critic(x))
    go.apply_gradients(zip(t.gradient(loss, gen.trainable_variables), gen.trainable_variables))
    return tf.reduce_mean(x, 0)


for i in range(90):
    for _ in range(2):
        w = c_step()
    m = g_step()
    if i % 9 == 0:
        print("round", i, "wasserstein", float(w), "mean", m.numpy())
