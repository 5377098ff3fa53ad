import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(235)
trunk = keras.Sequential([keras.Input((10,)), layers.Dense(24, activation="relu")], name="trunk")
head = layers.Dense(3, name="head")
head.build((None, 24))
optimizer = keras.optimizers.Adam(3e-3)
seen = []
for i in range(70):
    x = np.random.randn(32, 10).astype("float32")
    y = np.argmax(x[:, :3], 1)
    with tf.GradientTape() as tape:
        features = trunk(x)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, head(features)))
    seen.append(features.numpy().mean())  # to watch it
    chosen = np.argsort(-np.abs(features.numpy()).sum(1))[:8]
    check = tf.reduce_mean(head(tf.constant(features.numpy()[chosen])))
    v = trunk.trainable_variables + head.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, v), v))
print(float(loss), float(check))
