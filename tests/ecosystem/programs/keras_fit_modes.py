"""One model, fitted in each of the ways that Keras has: compiled, eager, several steps a call."""

import keras
import numpy as np
from keras import callbacks, layers


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        x = rng.normal(size=(16, 4)).astype("float32")
        return x, x[:, :1] * 2


def fit(name, data, fit_options=None, **compile_options):
    keras.utils.set_random_seed(17)
    model = keras.Sequential([keras.Input((4,)), layers.Dense(8, "tanh"), layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.01, use_ema=True), "mse", **compile_options)
    history = model.fit(*data, epochs=2, verbose=0, shuffle=False, **(fit_options or {}))
    print("result", name, [float(value) for value in history.history["loss"]])


x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
data = (x, x[:, :1] * 2)
fit("plain", data)
fit("eager", data, run_eagerly=True)
fit("steps", data, steps_per_execution=2)
fit("compiled", data, jit_compile=True)
fit("accumulated", data, weighted_metrics=["mae"], loss_weights=[0.5])
fit("dataset", (Batches(workers=2),))
fit("boards", data, {"callbacks": [callbacks.TensorBoard("logs", histogram_freq=1)]})
fit("backup", data, {"callbacks": [callbacks.BackupAndRestore("backup")]})
