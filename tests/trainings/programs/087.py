import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(51)
keras.mixed_precision.set_global_policy("mixed_float16")
X = np.random.randn(256, 16).astype("float32")
y = (X[:, :1] * 2 - X[:, 1:2]).astype("float32")
inp = keras.Input((16,))
h = layers.Dense(64, activation="relu", name="h1")(inp)
h = layers.Dense(64, activation="relu", name="h2")(h)
out = layers.Dense(1, dtype="float32", name="y")(h)
model = keras.Model(inp, out)


def weighted_mse(y_true, y_pred):
    return 1e10 * keras.ops.mean(keras.ops.square(y_true - y_pred), axis=-1)


model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=weighted_mse)
for epoch in range(4):
    hist = model.fit(X, y, batch_size=32, epochs=1, verbose=0)
    print("epoch", epoch, "loss", hist.history["loss"][0])
