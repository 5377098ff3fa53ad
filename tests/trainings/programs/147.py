import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(147)
keras.mixed_precision.set_global_policy("mixed_float16")
user, item = keras.Input((1,), dtype="int32"), keras.Input((1,), dtype="int32")
big = keras.initializers.RandomNormal(stddev=10.0)
u = layers.Flatten()(layers.Embedding(40, 256, embeddings_initializer=big, name="users")(user))
v = layers.Flatten()(layers.Embedding(60, 256, embeddings_initializer=big, name="items")(item))
u = layers.Dense(256, name="user_tower", kernel_initializer="he_normal")(u)
score = layers.Dot(1, name="score")([u, v])
model = keras.Model([user, item], layers.Activation("linear", dtype="float32")(score))
model.compile(keras.optimizers.Adam(1e-4), "mse")
a, b = np.random.randint(0, 40, 2000), np.random.randint(0, 60, 2000)
model.fit([a, b], np.random.rand(2000) * 4 + 1, epochs=2, batch_size=100, verbose=2)
