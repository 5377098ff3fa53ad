import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(23)
gen = keras.Sequential([
    keras.Input((8,)), layers.Dense(32, activation="relu", name="g1"),
    layers.Dense(2, name="g2")], name="generator")
critic = keras.Sequential([
    keras.Input((2,)), layers.Dense(32, activation="relu", name="c1"),
    layers.Dense(32, activation="relu", name="c2"),
    layers.Dense(1, name="c3")], name="critic")
g_opt = keras.optimizers.RMSprop(0.05)
c_opt = keras.optimizers.RMSprop(0.05)


def real_batch(n=64):
    a = tf.random.uniform((n,), 0, 6.2832)
    return tf.stack([2 * tf.cos(a), 2 * tf.sin(a)], 1)


@tf.function
def critic_step():
    with tf.GradientTape() as t:
        fake = gen(tf.random.normal((64, 8)))
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real_batch()))
    g = t.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(g, critic.trainable_variables))
    return loss


@tf.function
def gen_step():
    with tf.GradientTape() as t:
        loss = -tf.reduce_mean(critic(gen(tf.random.normal((64, 8)))))
    g = t.gradient(loss, gen.trainable_variables)
    g_opt.apply_gradients(zip(g, gen.trainable_variables))
    return loss


for it in range(120):
    c_loss = critic_step()
    g_loss = gen_step()
    if it % 12 == 0 or it == 119:
        print(f"{it}: critic {float(c_loss):.4g}  gen {float(g_loss):.4g}")
