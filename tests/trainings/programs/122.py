import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(122)
tower = keras.Sequential([keras.Input((8,)), layers.Dense(32, activation="relu", name="s1"), layers.Dense(4, name="s2")], name="tower")
opt = keras.optimizers.Adam(5e-3)
C = np.random.randn(5, 8) * 3


@tf.function
def step(a, b, same):
    with tf.GradientTape() as tape:
        d = tf.sqrt(tf.reduce_sum((tower(a) - tower(b)) ** 2, -1) + 1e-6)
        loss = tf.reduce_mean(same * d ** 2 + (1 - same) * tf.maximum(0.0, 1.0 - d) ** 2)
    v = tower.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))


for i in range(100):
    i1, i2 = np.random.randint(0, 5, (2, 48))
    noise = np.random.randn(2, 48, 8) * 0.3
    step((C[i1] + noise[0]).astype("float32"), (C[i2] + noise[1]).astype("float32"), (i1 == i2).astype("float32"))
