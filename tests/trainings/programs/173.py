import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(173)
x = np.random.rand(96, 16, 16, 1).astype("float32")
y = (x > 0.5).astype("float32")
inp = keras.Input((16, 16, 1))
d1 = layers.Conv2D(8, 3, padding="same", name="down1")(inp)
d1 = layers.ReLU()(layers.BatchNormalization()(d1))
d2 = layers.Conv2D(16, 3, strides=2, padding="same", name="down2")(d1)
d2 = layers.ReLU()(layers.BatchNormalization()(d2))
up = layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu", name="up")(d2)
out = layers.Conv2D(1, 1, activation="sigmoid", name="mask")(layers.Concatenate()([d1, up]))
model = keras.Model(inp, out)
model.compile("adam", "binary_crossentropy")
model.fit(x, y, epochs=5, batch_size=16, verbose=2)
