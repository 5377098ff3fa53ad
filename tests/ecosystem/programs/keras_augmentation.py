"""Image augmentation: in the model and in the input pipeline."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(8)
tf.config.experimental.enable_op_determinism()
images = np.random.uniform(0, 255, size=(48, 16, 16, 3)).astype("float32")
labels = np.random.randint(0, 3, size=48)
augment = keras.Sequential(
    [layers.RandomFlip(seed=1), layers.RandomRotation(0.1, seed=2), layers.RandomZoom(0.1, seed=3)]
)
contrast = layers.RandomContrast(0.2, value_range=(0, 255), seed=4)
dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(16)
dataset = dataset.map(lambda image, label: (contrast(image, training=True), label))
model = keras.Sequential(
    [
        keras.Input((16, 16, 3)),
        layers.Rescaling(1 / 255),
        augment,
        layers.SeparableConv2D(8, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(3, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy")
history = model.fit(dataset, epochs=2, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
print("result predict", model.predict(images[:4], verbose=0).ravel().tolist())
