import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(61)
X = np.random.rand(400, 8).astype("float32")
y = (X[:, 0] + X[:, 3] > 1).astype("int32")
model = keras.Sequential(
    [
        keras.Input((8,)),
        layers.Dense(32, activation="relu", name="hidden1"),
        layers.Dense(32, activation="relu", bias_initializer=keras.initializers.Constant(-10.0), name="hidden2"),
        layers.Dense(1, activation="sigmoid", name="prob"),
    ],
    name="clf",
)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(X, y, batch_size=50, epochs=10, verbose=2)
