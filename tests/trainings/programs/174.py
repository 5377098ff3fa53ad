import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(174)
t = np.arange(2000) / 20
series = (np.sin(t) + 0.1 * np.random.randn(2000)).astype("float32")
X = np.stack([series[i:i + 32] for i in range(1900)])[..., None]
y = series[32:1932]
model = keras.Sequential([
    keras.Input((32, 1)),
    layers.Conv1D(16, 3, padding="causal", activation="relu", name="tcn1"),
    layers.Conv1D(16, 3, padding="causal", dilation_rate=2, activation="relu", name="tcn2"),
    layers.GlobalAveragePooling1D(),
    layers.Dense(1, name="next"),
])
rate = keras.optimizers.schedules.CosineDecay(0.0, 200, warmup_target=3e-3, warmup_steps=20)
model.compile(keras.optimizers.AdamW(rate, clipnorm=1.0), "huber")
model.fit(X, y, epochs=2, batch_size=64, verbose=2)
