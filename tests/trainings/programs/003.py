import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(94)
shared_proj = layers.Dense(16, activation="relu", name="shared_proj")
shared_proj.build((None, 10))


def project(t):
    return shared_proj(t)


a = keras.Input((10,), name="left")
b = keras.Input((10,), name="right")
pa = layers.Lambda(project, output_shape=(16,), name="proj_left")(a)
pb = layers.Lambda(project, output_shape=(16,), name="proj_right")(b)
diff = layers.Subtract(name="diff")([pa, pb])
h = layers.Dense(16, activation="relu", name="cmp")(diff)
out = layers.Dense(1, activation="sigmoid", name="same")(h)
model = keras.Model([a, b], out)

rng = np.random.default_rng(94)
A = rng.normal(size=(320, 10)).astype("float32")
B = rng.normal(size=(320, 10)).astype("float32")
y = (A[:, 0] > B[:, 0]).astype("float32")
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
for e in range(6):
    h = model.fit([A, B], y, batch_size=32, epochs=1, verbose=0)
    print("epoch", e, {k: round(v[0], 4) for k, v in h.history.items()})
