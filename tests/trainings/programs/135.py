import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(135)
wide = layers.Dense(1, use_bias=False, kernel_initializer="zeros", name="wide")
deep = keras.Sequential([keras.Input((6,)), layers.Dense(16, activation="relu", name="dh"), layers.Dense(1, name="do")], name="deep")
wide.build((None, 200))
o1, o2 = keras.optimizers.Ftrl(0.1, l1_regularization_strength=0.001), keras.optimizers.Adam(3e-3)


@tf.function
def step(ids, x, y):
    with tf.GradientTape(persistent=True) as tape:
        logit = wide(tf.reduce_sum(tf.one_hot(ids, 200), 1)) + deep(x)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logit))
    o1.apply_gradients(zip(tape.gradient(loss, wide.trainable_variables), wide.trainable_variables))
    o2.apply_gradients(zip(tape.gradient(loss, deep.trainable_variables), deep.trainable_variables))


for i in range(80):
    ids = np.random.randint(0, 20, (32, 3))
    x = np.random.randn(32, 6).astype("float32")
    step(ids, x, ((ids[:, :1] < 10) ^ (x[:, :1] > 0)).astype("float32"))
