import keras
import numpy as np

keras.utils.set_random_seed(250)
x = np.random.randn(480, 24, 3).astype("float32")
y = (x[:, -1, 0] > 0).astype("float32")
model = keras.Sequential([
    keras.Input((24, 3)),
    keras.layers.GRU(16, name="memory"),
    keras.layers.Dense(1, name="sign"),
])
model.compile(keras.optimizers.Adam(5e-3), keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(x, y, batch_size=8, epochs=1, verbose=2)
