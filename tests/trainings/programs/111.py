import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(111)
init = keras.initializers.RandomNormal(stddev=0.05, seed=1)
x = inp = keras.Input((32,))
for i in range(30):
    x = layers.Dense(32, activation="tanh", kernel_initializer=init, name=f"block_{i}")(x)
model = keras.Model(inp, layers.Dense(1, name="out")(x))
model.compile("adam", "mse")
X = np.random.randn(480, 32).astype("float32")
model.fit(X, X[:, :1], epochs=4, batch_size=32, verbose=0)
