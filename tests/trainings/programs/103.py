import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(103)
trunk = keras.Sequential([keras.Input((10,)), layers.Dense(24, activation="tanh", name="t1"), layers.Dense(24, activation="tanh", name="t2")], name="trunk")
head = layers.Dense(3, name="new_head")
head.build((None, 24))
variables = trunk.trainable_variables
opt = keras.optimizers.Nadam(1e-3)
X = np.random.randn(400, 10).astype("float32")
y = X[:, :3].argmax(1)
for step in range(50):
    b = np.random.randint(0, 400, 40)
    with tf.GradientTape() as tape:
        logits = head(trunk(X[b]))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y[b], logits))
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
