import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(154)
t = np.arange(2000) / 20
series = (np.sin(t) + 0.1 * np.random.randn(2000)).astype("float32")
X = np.stack([series[i:i + 32] for i in range(1900)])[..., None]
y = series[32:1932]
model = keras.Sequential([
    keras.Input((32, 1)),
    layers.Conv1D(16, 3, padding="causal", activation="relu", name="tcn1"),
    layers.Conv1D(16, 3, padding="causal", dilation_rate=2, activation="relu", name="tcn2", kernel_initializer=keras.initializers.RandomUniform(-0.9, -0.1)),
    layers.GlobalAveragePooling1D(),
    layers.Dense(1, name="next"),
])
model.compile(keras.optimizers.Adam(1e-3), "mse")
model.fit(X, y, epochs=2, batch_size=64, verbose=2)
