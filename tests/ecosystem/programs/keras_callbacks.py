"""Callbacks and schedules: early stopping, plateaus, checkpoints, CSV, a cosine schedule."""

import csv

import keras
import numpy as np
from keras import callbacks, layers

keras.utils.set_random_seed(9)
x = np.random.normal(size=(128, 6)).astype("float32")
y = x @ np.array([1.0, -2.0, 0.5, 0.0, 3.0, 1.0], "float32")
model = keras.Sequential([keras.Input((6,)), layers.Dense(8, "tanh"), layers.Dense(1)])
model.compile(keras.optimizers.Adam(0.02, clipnorm=1.0), "huber", metrics=["mae"])
seen = []
history = model.fit(
    x,
    y,
    batch_size=16,
    epochs=8,
    validation_split=0.2,
    verbose=0,
    callbacks=[
        callbacks.EarlyStopping(patience=3, restore_best_weights=True),
        callbacks.ReduceLROnPlateau(patience=1, factor=0.3),
        callbacks.ModelCheckpoint("best.weights.h5", save_best_only=True, save_weights_only=True),
        callbacks.TerminateOnNaN(),
        callbacks.CSVLogger("log.csv"),
        callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(logs["mae"])),
    ],
)
print("result val_loss", [float(value) for value in history.history["val_loss"]])
print("result mae", [float(value) for value in seen])
model.load_weights("best.weights.h5")
print("result best", float(model.evaluate(x, y, verbose=0)[0]))
with open("log.csv") as log:
    print("result epochs", len(list(csv.DictReader(log))))
schedule = keras.optimizers.schedules.CosineDecay(0.1, 20, warmup_target=0.2, warmup_steps=5)
model.compile(keras.optimizers.SGD(schedule, momentum=0.9, nesterov=True), "mse")
history = model.fit(x, y, batch_size=16, epochs=2, verbose=0)
print("result scheduled", [float(value) for value in history.history["loss"]])
