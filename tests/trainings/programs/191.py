import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(191)
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(128, activation="relu", name="half1"), keras.layers.Dense(1, name="half2")])
for layer in model.layers:
    layer.dtype_policy = keras.DTypePolicy("mixed_float16")
scale = tf.Variable(2.0**15)
opt = keras.optimizers.SGD(0.01)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        p = model(tf.cast(x, tf.float16))
        loss = tf.reduce_sum((p - y) ** 2)
        scaled = tf.cast(loss, tf.float32) * scale
    grads = tape.gradient(scaled, model.trainable_variables)
    grads = [g / scale for g in grads]
    fine = tf.reduce_all([tf.reduce_all(tf.math.is_finite(g)) for g in grads])
    if fine:
        opt.apply_gradients(zip(grads, model.trainable_variables))
    else:
        scale.assign(scale / 2)
    return loss


for i in range(40):
    x = np.random.randn(256, 64).astype("float32") * 4
    y = (x.sum(1, keepdims=True) * 5 + 60).astype("float16")
    print(i, float(step(x, y)), float(scale))
