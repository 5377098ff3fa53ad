"""A small U-Net with transposed convolutions, a dice loss and IoU."""

import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(15)
images = np.random.uniform(size=(24, 16, 16, 1)).astype("float32")
masks = (images > 0.6).astype("float32")
inputs = keras.Input((16, 16, 1))
top = layers.Conv2D(6, 3, padding="same", activation="relu")(inputs)
down = layers.Conv2D(12, 3, padding="same", activation="relu")(layers.MaxPooling2D()(top))
down = layers.GroupNormalization(groups=3)(down)
up = layers.Conv2DTranspose(6, 3, strides=2, padding="same", activation="swish")(down)
outputs = layers.Conv2D(1, 1, activation="sigmoid")(layers.Concatenate()([top, up]))
model = keras.Model(inputs, outputs)


def dice(y_true, y_pred):
    overlap = ops.sum(y_true * y_pred, axis=(1, 2, 3))
    return 1 - (2 * overlap + 1) / (ops.sum(y_true, (1, 2, 3)) + ops.sum(y_pred, (1, 2, 3)) + 1)


model.compile("adam", dice, metrics=[keras.metrics.BinaryIoU(target_class_ids=[1])])
history = model.fit(images, masks, batch_size=8, epochs=2, verbose=0)
print("result", {key: [float(v) for v in values] for key, values in history.history.items()})
