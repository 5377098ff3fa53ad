import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(46)
body = keras.Sequential([
    keras.Input((10,)),
    layers.Dense(64, activation="relu", name="f1"),
    layers.Dense(6, name="logits"),
])
opt = keras.optimizers.Adam(0.01)
proj = tf.random.normal((10, 6))


def softmax16(z):
    e = tf.exp(tf.cast(z, tf.float16))
    return e / tf.reduce_sum(e, axis=-1, keepdims=True)


for step in range(120):
    x = tf.random.normal((64, 10))
    y = tf.argmax(x @ proj, axis=1)
    with tf.GradientTape() as tape:
        p = tf.cast(softmax16(body(x)), tf.float32)
        picked = tf.gather(p, y, axis=1, batch_dims=1)
        loss = -tf.reduce_mean(tf.math.log(picked + 1e-6))
    opt.apply_gradients(zip(tape.gradient(loss, body.trainable_variables), body.trainable_variables))
    if step % 10 == 0:
        print("step", step, "loss", float(loss))
