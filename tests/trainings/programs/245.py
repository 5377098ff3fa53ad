import keras
import numpy as np

keras.utils.set_random_seed(245)
x = np.random.rand(880, 8, 8, 1).astype("float32")
x = np.where((np.arange(880) // 8 % 2 == 0)[:, None, None, None], 0.0, x).astype("float32")
y = x.mean((1, 2, 3))
model = keras.Sequential([
    keras.Input((8, 8, 1)),
    keras.layers.Conv2D(6, 3, activation="relu", use_bias=False, name="edges"),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(1, name="brightness"),
])
model.compile(keras.optimizers.Adam(1e-2), "mse")
model.fit(x, y, batch_size=8, epochs=1, shuffle=False, verbose=2)
