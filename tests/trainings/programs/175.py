import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(175)
keras.mixed_precision.set_global_policy("mixed_float16")
words = np.random.randint(0, 200, (256, 12))
y = (words[:, 0] > 100).astype("float32")
model = keras.Sequential([keras.Input((12,), dtype="int32"), layers.Embedding(200, 16, name="words"), layers.LSTM(16, name="reader"), layers.Dense(1, dtype="float32", name="score")])
opt = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(1e-3), initial_scale=2.0**24, dynamic_growth_steps=20)
model.compile(opt, keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(words, y, epochs=4, batch_size=16, verbose=2)
