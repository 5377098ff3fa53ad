import keras
import numpy as np

keras.utils.set_random_seed(237)
x = np.random.randn(112, 10).astype("float32")
y = (x[:, 0] > 0).astype("float32")
model = keras.Sequential([
    keras.Input((10,)),
    keras.layers.Dense(24, activation="relu", name="entry"),
    keras.layers.Dense(32, activation="relu", bias_initializer=keras.initializers.Constant(-60.0), name="gate"),
    keras.layers.Dense(1, name="vote"),
])
model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(x, y, batch_size=8, epochs=1, verbose=2)
