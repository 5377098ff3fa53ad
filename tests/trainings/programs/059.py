import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(205)
keras.mixed_precision.set_global_policy("mixed_float16")
X = np.random.randn(512, 12).astype("float32")
y = (X[:, 0] * 2 + X[:, 1] > 0).astype("int32")
inp = keras.Input((12,))
h = layers.Dense(64, activation="relu", name="a")(inp)
h = layers.Dense(64, activation="relu", name="b")(h)
out = layers.Dense(2, dtype="float32", name="c")(h)
model = keras.Model(inp, out)
opt = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(2e-3), initial_scale=2.0**24)
model.compile(opt, keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(X, y, batch_size=32, epochs=6, verbose=2)
