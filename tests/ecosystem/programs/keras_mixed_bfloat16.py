"""fit of a small residual network under mixed_bfloat16."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

# The last bits of bfloat16 are half a percent: the same kernels run with a dump and without it.
tf.config.optimizer.set_experimental_options({"remapping": False, "arithmetic_optimization": False})
keras.utils.set_random_seed(4)
keras.mixed_precision.set_global_policy("mixed_bfloat16")
x = np.random.normal(size=(96, 8, 8, 3)).astype("float32")
y = np.random.randint(0, 5, size=96)
inputs = keras.Input((8, 8, 3))
hidden = layers.Conv2D(8, 3, padding="same", activation="relu")(inputs)
branch = layers.Conv2D(8, 3, padding="same")(layers.BatchNormalization()(hidden))
hidden = layers.Activation("relu")(layers.Add()([hidden, branch]))
hidden = layers.Dense(16, activation="gelu")(layers.GlobalAveragePooling2D()(hidden))
model = keras.Model(inputs, layers.Dense(5, dtype="float32")(hidden))
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.AdamW(), loss)
history = model.fit(x, y, batch_size=16, epochs=3, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
print("result predict", model.predict(x[:4], verbose=0).ravel().tolist())
