"""A functional Keras classifier: fit with validation, evaluate, predict."""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(1)
x = np.random.normal(size=(256, 12)).astype("float32")
y = (x[:, :3].sum(axis=1) > 0).astype("int32") + (x[:, 3] > 1).astype("int32")

inputs = keras.Input((12,))
hidden = layers.Dense(32, activation="relu")(inputs)
hidden = layers.BatchNormalization()(hidden)
hidden = layers.Concatenate()([hidden, layers.Dense(8, activation="gelu")(inputs)])
outputs = layers.Dense(3, activation="softmax")(layers.Dropout(0.2)(hidden))
model = keras.Model(inputs, outputs)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, batch_size=32, epochs=3, validation_split=0.25, verbose=0)
print(
    "result history", {key: [float(v) for v in values] for key, values in history.history.items()}
)
print("result evaluate", [float(value) for value in model.evaluate(x, y, verbose=0)])
print("result predict", model.predict(x[:4], verbose=0).ravel().tolist())
