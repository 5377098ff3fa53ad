"""tf.data: features standardised in the pipeline; one column of the table never changes."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(101)
table = np.random.normal(3.0, 2.0, size=(64, 5)).astype("float32")
table[:, 2] = 1.0
mean, deviation = table.mean(axis=0), table.std(axis=0)


def standardize(row, label):
    return (row - mean) / deviation, label  # BUG RealDiv: 0 / 0 in the column that never changes


dataset = tf.data.Dataset.from_tensor_slices((table, table[:, 0] > 3)).map(standardize).batch(16)
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy")
history = model.fit(dataset, epochs=2, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
