import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(156)
field = keras.Sequential([keras.Input((2,)), keras.layers.Dense(16, activation="relu", name="f1"), keras.layers.Dense(2, name="f2")])
opt = keras.optimizers.SGD(0.05)


@tf.function
def step(x, target):
    with tf.GradientTape() as tape:
        h = x
        for _ in tf.range(30):
            h = h + 0.5 * field(h)
        loss = tf.reduce_mean((h - target) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, field.trainable_variables), field.trainable_variables))
    return loss


for i in range(30):
    x = np.random.randn(64, 2).astype("float32")
    print(i, float(step(x, x @ np.array([[0, 1], [-1, 0]], "float32"))))
