import numpy as np
import keras

keras.utils.set_random_seed(29)
walk = 5 + np.cumsum(np.random.randn(600) * 0.2).astype("float32")
W = 20
X = np.stack([walk[i:i + W] for i in range(500)])[..., None]
y = walk[W:W + 500][:, None]
model = keras.Sequential([
    keras.Input((W, 1)),
    keras.layers.LSTM(64, name="lstm"),
    keras.layers.Dense(1, name="forecast"),
])
model.compile(keras.optimizers.SGD(0.6, momentum=0.95), loss="mse")
losses = []
for it in range(45):
    j = np.random.randint(0, 500, 32)
    losses.append(float(model.train_on_batch(X[j], y[j])))
    model.reset_metrics()
    if it % 5 == 4:
        print(it, losses[-1])
