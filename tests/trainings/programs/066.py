import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(241)
keras.mixed_precision.set_global_policy("mixed_float16")
t = np.arange(24)
f = np.random.uniform(0.1, 0.6, (320, 1))
X = np.sin(f * t + np.random.rand(320, 1) * 6)[..., None].astype("float32")
y = f.astype("float32") * 4
model = keras.Sequential([
    keras.Input((24, 1)),
    layers.GRU(24, name="gru_a"),
    layers.Dense(16, activation="relu", name="mid"),
    layers.Dense(1, dtype="float32", name="freq"),
])
model.compile(keras.optimizers.Adam(1e-2), "mse")
model.fit(X, y, epochs=8, batch_size=32, verbose=2)
