"""A search over hyperparameters with KerasTuner."""

import keras
import keras_tuner
import numpy as np
from keras import layers

keras.utils.set_random_seed(10)
x = np.random.normal(size=(96, 5)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("float32")


def build(choices):
    model = keras.Sequential([keras.Input((5,))])
    model.add(
        layers.Dense(choices.Int("units", 4, 16, step=4), choices.Choice("how", ["relu", "tanh"]))
    )
    model.add(layers.Dense(1, activation="sigmoid"))
    rate = choices.Float("rate", 1e-3, 1e-1, sampling="log")
    model.compile(keras.optimizers.Adam(rate), "binary_crossentropy")
    return model


tuner = keras_tuner.RandomSearch(
    build, objective="val_loss", max_trials=4, seed=1, directory="search", overwrite=True
)
tuner.search(x[:64], y[:64], validation_data=(x[64:], y[64:]), epochs=2, verbose=0)
print("result best", tuner.get_best_hyperparameters()[0].values)
for trial in tuner.oracle.get_best_trials(4):
    print("result trial", trial.trial_id, float(trial.score))
