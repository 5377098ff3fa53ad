"""fit under mixed_float16: loss scaling skips the first steps, which overflow on purpose."""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(3)
keras.mixed_precision.set_global_policy("mixed_float16")
x = np.random.normal(size=(96, 8, 8, 1)).astype("float32")
y = np.random.randint(0, 5, size=96)
model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        layers.Conv2D(8, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(16, activation="relu"),
        layers.Dense(5, activation="softmax", dtype="float32"),
    ]
)
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(), initial_scale=2.0**24)
model.compile(optimizer, "sparse_categorical_crossentropy")
history = model.fit(x, y, batch_size=16, epochs=3, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
print("result scale", float(optimizer.dynamic_scale.numpy()))
