import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(155)
keras.mixed_precision.set_global_policy("mixed_float16")
words = np.random.randint(0, 200, (256, 12))
y = (words.sum(1) % 2).astype("float32")
model = keras.Sequential([keras.Input((12,), dtype="int32"), layers.Embedding(200, 16, name="words"), layers.LSTM(16, name="reader"), layers.Dense(1, dtype="float32", name="score")])
opt = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(1e-3), initial_scale=2.0**60)
model.compile(opt, lambda t, p: tf.reduce_mean((t - p) ** 2) * 1e4)
model.fit(words, y, epochs=3, batch_size=16, verbose=2)
