import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(228)
keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([
    keras.Input((14, 14, 1)),
    layers.Rescaling(1 / 255),
    layers.Conv2D(8, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(16, 3, activation="relu"),
    layers.Flatten(),
    layers.Dropout(0.5),
    layers.Dense(10, activation="softmax", dtype="float32"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
x = np.random.randint(0, 256, (960, 14, 14, 1)).astype("float32")
y = np.random.randint(0, 10, 960)
x[np.arange(960), y, :, :] = 255.0
model.fit(x, y, batch_size=32, epochs=2, validation_split=0.1, verbose=2)
