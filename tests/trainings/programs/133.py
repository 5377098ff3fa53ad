import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(133)
i = keras.Input((16, 16, 1))
c1 = layers.ReLU()(layers.BatchNormalization(name="bn1")(layers.Conv2D(8, 3, padding="same", name="d1")(i)))
c2 = layers.ReLU()(layers.BatchNormalization(name="bn2")(layers.Conv2D(16, 3, padding="same", strides=2, name="d2")(c1)))
u = layers.Conv2DTranspose(8, 2, strides=2, name="up")(c2)
o = layers.Conv2D(1, 1, activation="sigmoid", name="mask")(layers.Concatenate()([u, c1]))
m = keras.Model(i, o)
X = np.random.rand(160, 16, 16, 1).astype("float32")
m.compile("adam", "binary_crossentropy")
m.fit(X, (X > 0.5).astype("float32"), epochs=4, batch_size=16, verbose=0)
