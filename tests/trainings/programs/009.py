import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(214)
X = np.random.randn(300, 20).astype("float32")
y = (X[:, 0] + 0.8 * np.random.randn(300) > 0).astype("float32")
m = keras.Sequential([keras.Input((20,)), layers.Dense(64, activation="relu", name="a"),
                      layers.Dense(64, activation="relu", name="b"), layers.Dense(1, activation="sigmoid", name="p")])
m.compile(keras.optimizers.Adam(3e-3), "binary_crossentropy")
stop = keras.callbacks.EarlyStopping(patience=4, restore_best_weights=True)
h = m.fit(X[:200], y[:200], validation_data=(X[200:], y[200:]), epochs=25, batch_size=25, callbacks=[stop], verbose=0)
for i, (a, b) in enumerate(zip(h.history["loss"], h.history["val_loss"])):
    print(f"epoch {i} train {a:.4f} val {b:.4f}")
