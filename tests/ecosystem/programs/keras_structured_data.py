"""Structured data: lookups, buckets, crossings and normalisation as Keras layers."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(14)
ages = np.random.randint(18, 80, size=96).astype("float32")
towns = np.random.choice(["Ulm", "Aachen", "Köln", ""], size=96)
rooms = np.random.randint(1, 6, size=96)
y = (ages > 40).astype("float32")
lookup = layers.StringLookup(output_mode="one_hot")
lookup.adapt(towns)
buckets = layers.Discretization(num_bins=4, output_mode="one_hot")
buckets.adapt(ages[:, None])
scale = layers.Normalization()
scale.adapt(ages[:, None])
words = layers.TextVectorization(max_tokens=20, output_mode="tf_idf")
words.adapt(["near the river", "quiet street", "near the station", "river view"])
texts = np.random.choice(["near the river", "quiet", "station street"], size=96)
columns = {"age": ages[:, None], "town": towns[:, None], "rooms": rooms[:, None], "text": texts}


def prepare(row, label):
    parts = [scale(row["age"]), tf.cast(buckets(row["age"]), tf.float32)]
    parts += [tf.cast(lookup(row["town"]), tf.float32)]
    parts += [words(row["text"]), tf.one_hot(row["rooms"][:, 0], 6)]
    return tf.concat(parts, axis=-1), label


dataset = tf.data.Dataset.from_tensor_slices((columns, y)).batch(16).map(prepare).cache()
width = next(iter(dataset))[0].shape[-1]
model = keras.Sequential(
    [keras.Input((width,)), layers.Dense(8, "relu"), layers.Dense(1, "sigmoid")]
)
model.compile("adam", "binary_crossentropy", metrics=["AUC", "precision", "recall"])
history = model.fit(dataset, epochs=3, verbose=0)
print("result", {key: [float(v) for v in values] for key, values in history.history.items()})
