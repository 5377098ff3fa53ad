import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(236)


def residual(x, filters):
    y = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    y = layers.ReLU()(layers.BatchNormalization()(y))
    y = layers.Conv2D(filters, 3, padding="same", use_bias=False)(y)
    y = layers.BatchNormalization(gamma_initializer="zeros")(y)  # the branch begins with 0
    return layers.ReLU()(layers.Add()([x, y]))


inputs = keras.Input((10, 10, 3))
x = layers.Conv2D(12, 3, padding="same", activation="relu")(inputs)
x = residual(residual(x, 12), 12)
model = keras.Model(inputs, layers.Dense(5)(layers.GlobalAveragePooling2D()(x)))
rate = keras.optimizers.schedules.CosineDecayRestarts(0.1, 20)
model.compile(keras.optimizers.SGD(rate, momentum=0.9, nesterov=True), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
images = np.random.rand(480, 10, 10, 3).astype("float32")
y = np.random.randint(0, 5, 480)
images[np.arange(480), y] += 1.0
model.fit(images, y, batch_size=16, epochs=2, verbose=2)
