import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(184)
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="tanh", name="inner"), keras.layers.Dense(1, name="answer")])
model.compile(keras.optimizers.AdamW(0.1, weight_decay=25.0), "mse")
x = np.random.randn(640, 10).astype("float32")
y = x.sum(1, keepdims=True)
model.fit(x, y, batch_size=16, epochs=6, verbose=2)
