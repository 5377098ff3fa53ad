import os
import tempfile
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(219)
X = np.random.randn(384, 10).astype("float32")
y = (X[:, 0] * X[:, 1] > 0).astype("int32")
inp = keras.Input((10,), name="x")
h = layers.Dense(48, activation="relu", name="h1")(inp)
h = layers.Dropout(0.1, name="drop")(h)
h = layers.Dense(48, activation="relu", name="h2")(h)
m = keras.Model(inp, layers.Dense(2, name="o")(h))
m.compile(keras.optimizers.Adam(5e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
with tempfile.TemporaryDirectory() as d:
    cb = [
        keras.callbacks.ModelCheckpoint(os.path.join(d, "best.weights.h5"), monitor="loss", save_best_only=True, save_weights_only=True),
        keras.callbacks.CSVLogger(os.path.join(d, "log.csv")),
    ]
    m.fit(X, y, epochs=12, batch_size=32, verbose=2, callbacks=cb)
    m.load_weights(os.path.join(d, "best.weights.h5"))
print("best", m.evaluate(X, y, verbose=0))
