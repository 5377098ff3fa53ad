import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(212)
PATCH, DIM = 4, 24


class Patches(layers.Layer):
    def call(self, images):
        parts = ops.image.extract_patches(images, size=PATCH)
        return ops.reshape(parts, (ops.shape(images)[0], -1, PATCH * PATCH))


class Position(layers.Layer):
    def __init__(self, count, **kw):
        super().__init__(**kw)
        self.count = count
        self.embed = layers.Embedding(count, DIM)

    def call(self, x):
        return x + self.embed(ops.arange(self.count))


inputs = keras.Input((16, 16, 1))
x = Position(16, name="position")(layers.Dense(DIM, name="project")(Patches(name="patches")(inputs)))
for i in range(2):
    y = layers.LayerNormalization()(x)
    x = layers.Add()([x, layers.MultiHeadAttention(2, DIM, name=f"attention_{i}")(y, y)])
    y = layers.LayerNormalization()(x)
    y = layers.Dense(2 * DIM, activation="gelu")(y)
    x = layers.Add()([x, layers.Dense(DIM)(y)])
x = layers.Flatten()(x)
model = keras.Model(inputs, layers.Dense(3, name="head")(x))
model.compile(keras.optimizers.SGD(8.0, momentum=0.9), "mse")
images = np.random.rand(320, 16, 16, 1).astype("float32")
targets = 10 * images.mean((1, 2)).repeat(3, 1)
model.fit(images, targets, batch_size=16, epochs=2, verbose=2)
