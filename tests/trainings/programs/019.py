import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(228)
X = np.random.randn(800, 10).astype("float32")
y = (X[:, 0] + X[:, 1] > 1.8).astype("float32")[:, None]
print("positives", y.mean())
model = keras.Sequential([
    keras.Input((10,)),
    layers.Dense(32, activation="relu", name="h"),
    layers.Dense(1, activation="sigmoid", bias_initializer=keras.initializers.Constant(-2.2), name="p"),
])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.BinaryFocalCrossentropy(apply_class_balancing=True, gamma=2.0),
              metrics=[keras.metrics.AUC(name="auc")])
model.fit(X, y, epochs=8, batch_size=50, verbose=2)
