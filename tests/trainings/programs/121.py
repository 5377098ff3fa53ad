import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(121)
t = np.arange(3000) / 20
s = (np.sin(t) + 0.1 * np.random.randn(3000)).astype("float32")
X = np.stack([s[i:i + 24] for i in range(0, 2900, 6)])[..., None]
y = np.array([s[i + 24] for i in range(0, 2900, 6)])
m = keras.Sequential([keras.Input((24, 1)), layers.GRU(16, name="gru"), layers.Dense(1, name="next")])
m.compile("adam", "mse")
m.fit(X, y, epochs=4, batch_size=32, verbose=0)
