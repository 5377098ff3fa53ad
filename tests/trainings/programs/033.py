import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(81)
X = np.random.randn(384, 10).astype("float32")
y = (np.sum(X[:, :3] ** 2, 1) > 2.4).astype("float32")
model = keras.Sequential(name="deep_sigmoid")
model.add(keras.Input((10,)))
for i in range(14):
    model.add(layers.Dense(24, activation="sigmoid", name=f"deep_{i}"))
model.add(layers.Dense(1, activation="sigmoid", name="prob"))
model.compile(loss="binary_crossentropy", optimizer=keras.optimizers.SGD(0.1), metrics=["accuracy"])
model.fit(X, y, epochs=8, batch_size=32, verbose=2)
