import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(136)
X = np.random.randn(400, 14).astype("float32")
y = (X[:, 0] + 0.3 * np.random.randn(400) > 1).astype("int32")
m = keras.Sequential([keras.Input((14,)), layers.Dense(32, activation="relu", name="h"), layers.Dropout(0.5), layers.Dense(1, activation="sigmoid", name="p")])
m.compile(keras.optimizers.Adam(5e-3), "binary_crossentropy")
m.fit(X, y, epochs=6, batch_size=32, verbose=0, validation_split=0.2, class_weight={0: 1.0, 1: 4.0}, callbacks=[keras.callbacks.ReduceLROnPlateau(patience=1), keras.callbacks.EarlyStopping(patience=3)])
