import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(124)
target = keras.Sequential([keras.Input((6,)), layers.Dense(32, activation="relu", name="r1"), layers.Dense(8, name="r2")], name="target")
target.trainable = False
predictor = keras.Sequential([keras.Input((6,)), layers.Dense(32, activation="relu", name="p1"), layers.Dense(8, name="p2")], name="predictor")
opt = keras.optimizers.Adam(3e-3)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((predictor(x) - target(x)) ** 2)
    v = predictor.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


for i in range(100):
    step(tf.random.normal((64, 6)))
