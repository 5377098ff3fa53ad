import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(126)
base = keras.Sequential([keras.Input((12,)), layers.Dense(24, activation="relu", name="b1"), layers.Dense(24, activation="relu", name="b2")], name="base")
m = keras.Sequential([keras.Input((12,)), base, layers.Dense(3, name="head")])
X = np.random.randn(320, 12).astype("float32")
y = X[:, :3].argmax(1)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
base.trainable = False
m.compile(keras.optimizers.Adam(1e-2), ce)
m.fit(X, y, epochs=3, batch_size=32, verbose=0)
base.trainable = True
m.compile(keras.optimizers.Adam(1e-3), ce)
m.fit(X, y, epochs=3, batch_size=32, verbose=0)
