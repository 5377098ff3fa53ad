import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(110)
X = np.random.randint(0, 256, (480, 64)).astype("float32")
y = (X[:, :32].mean(1) > X[:, 32:].mean(1)).astype("int32")
model = keras.Sequential([keras.Input((64,)), layers.Dense(32, activation="tanh", name="hidden"), layers.Dense(2, name="out")])
opt = keras.optimizers.SGD(0.05)
for step in range(60):
    b = np.random.randint(0, 480, 32)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y[b], model(X[b])))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
