import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(167)
keras.mixed_precision.set_global_policy("mixed_float16")
user, item = keras.Input((1,), dtype="int32"), keras.Input((1,), dtype="int32")
u = layers.Flatten()(layers.Embedding(40, 32, name="users")(user))
v = layers.Flatten()(layers.Embedding(60, 32, name="items")(item))
u = layers.Dense(32, activation="relu", name="user_tower")(u)
score = layers.Dot(1, name="score")([u, v])
model = keras.Model([user, item], layers.Activation("linear", dtype="float32")(score))
model.compile(keras.optimizers.Adam(1e-2), "mse")
a, b = np.random.randint(0, 40, 2000), np.random.randint(0, 60, 2000)
model.fit([a, b], np.random.rand(2000) * 4 + 1, epochs=3, batch_size=100, verbose=2)
