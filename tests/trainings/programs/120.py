import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(120)
class Net(keras.Model):
    def __init__(self):
        super().__init__(name="net")
        self.out = layers.Dense(1, name="out")

    def call(self, x):
        hidden = layers.Dense(8, activation="tanh", name="fresh")
        return self.out(hidden(x))


net, opt = Net(), keras.optimizers.Adam(1e-2)
X = tf.random.normal((64, 5))
for i in range(60):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(X) - X[:, :1]) ** 2)
    v = net.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
