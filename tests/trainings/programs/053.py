import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
n = 512
area = rng.uniform(30, 250, n)
year = rng.integers(1900, 2020, n)
rooms = rng.integers(1, 8, n)
X = np.stack([area, year, rooms], 1).astype("float32")
y = (area * 3.0 + (year - 1900) * 0.5 + rooms * 10).astype("float32")[:, None]

model = keras.Sequential(
    [
        keras.Input((3,)),
        layers.Dense(32, activation="relu", name="fc1"),
        layers.Dense(32, activation="relu", name="fc2"),
        layers.Dense(1, name="price"),
    ]
)
model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")


class Report(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 4 == 0:
            print("batch", batch, "loss", logs["loss"])


model.fit(X, y, batch_size=32, epochs=3, verbose=0, callbacks=[Report()])
print("final loss", model.evaluate(X, y, verbose=0))
