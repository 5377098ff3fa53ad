import numpy as np
import keras

keras.utils.set_random_seed(111)
X = np.random.randn(640, 6).astype("float32")
y = X @ np.random.randn(6, 1).astype("float32")
X[352:384] *= 1e6
model = keras.Sequential([
    keras.Input((6,)),
    keras.layers.Dense(24, activation="relu", name="d1"),
    keras.layers.Dense(24, activation="relu", name="d2"),
    keras.layers.Dense(1, name="d3"),
])
model.compile(keras.optimizers.SGD(0.01), "mse")


class Watch(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 2 == 0:
            print("batch", batch, "mean loss so far", logs["loss"])


model.fit(X, y, batch_size=32, epochs=1, shuffle=False, verbose=0, callbacks=[Watch()])
print("done", model.evaluate(X[:320], y[:320], verbose=0))
