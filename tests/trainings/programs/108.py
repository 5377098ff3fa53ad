import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(108)
model = keras.Sequential([
    keras.Input((12, 12, 1)),
    layers.Conv2D(8, 3, activation="relu", name="c1"),
    layers.Conv2D(8, 3, activation="relu", name="c2", bias_initializer=keras.initializers.Constant(-2.0)),
    layers.GlobalAveragePooling2D(name="gap"),
    layers.Dense(1, name="out", kernel_initializer="ones"),
])
X = np.random.rand(200, 12, 12, 1).astype("float32")
y = np.full((200, 1), -50.0, "float32")
model.compile(keras.optimizers.Adam(3.0), "mse")
model.fit(X, y, epochs=10, batch_size=40, verbose=0)
