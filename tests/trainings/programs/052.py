import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(71)
X = np.random.uniform(-900, 900, (400, 9)).astype("float32")
y = ((X[:, 0] * X[:, 1]) > 0).astype("int32")
inputs = keras.Input((9,), name="raw")
h = layers.Dense(20, activation="sigmoid", name="gates")(inputs)
h = layers.Dense(16, activation="relu", name="post")(h)
outputs = layers.Dense(2, name="logits")(h)
model = keras.Model(inputs, outputs, name="xor")
model.compile(optimizer=keras.optimizers.Adam(1e-3),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(X, y, epochs=8, batch_size=40, verbose=2)
