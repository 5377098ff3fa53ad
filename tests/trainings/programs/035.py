import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(208)
X = np.random.normal(400, 150, (480, 8)).astype("float32")
y = ((X[:, :1] - 400) / 150 + 0.5 * (X[:, 1:2] - 400) / 150).astype("float32")
model = keras.Sequential([
    keras.Input((8,)),
    layers.BatchNormalization(name="bn_in"),
    layers.Dense(32, name="d1"),
    layers.BatchNormalization(name="bn_1"),
    layers.Activation("relu", name="act"),
    layers.Dense(1, name="d2"),
])
model.compile(keras.optimizers.Adam(1e-2), "mse", metrics=["mae"])
model.fit(X, y, batch_size=32, epochs=8, verbose=2)
