import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(231)
pol = keras.DTypePolicy("mixed_float16")
net = keras.Sequential([keras.Input((9,)), keras.layers.Dense(64, activation="relu", dtype=pol, name="fp16_a"),
                        keras.layers.Dense(64, activation="relu", dtype=pol, name="fp16_b"),
                        keras.layers.Dense(1, dtype="float32", name="head")])
opt = keras.optimizers.Adam(3e-3)
scale, good, skipped = 2.0**20, 0, 0
for step in range(150):
    x = np.random.randn(48, 9).astype("float32")
    y = np.abs(x[:, :1]) * 2 - x[:, 1:2]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
        scaled = loss * scale
    grads = tape.gradient(scaled, net.trainable_variables)
    if all(np.all(np.isfinite(g)) for g in grads):
        opt.apply_gradients([(g / scale, v) for g, v in zip(grads, net.trainable_variables)])
        good += 1
        if good == 40:
            scale, good = scale * 2, 0
    else:
        scale, good, skipped = scale / 2, 0, skipped + 1
    if step % 15 == 0:
        print("step", step, "loss", float(loss), "scale", scale, "skipped", skipped)
