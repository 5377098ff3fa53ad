import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(179)
base = keras.Sequential([keras.Input((20,)), layers.Dense(32, activation="relu", name="b1"), layers.BatchNormalization(name="bn"), layers.Dense(32, activation="relu", name="b2")], name="base")
base.trainable = False
x, y = np.random.randn(300, 20).astype("float32"), np.random.randint(0, 3, 300)
inp = keras.Input((20,))
model = keras.Model(inp, layers.Dense(3, name="head")(layers.Dropout(0.2)(base(inp, training=False))))
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.Adam(1e-2), loss)
model.fit(x, y, epochs=3, batch_size=20, verbose=2)
base.trainable = True
model.compile(keras.optimizers.Adam(1e-4), loss)
model.fit(x, y, epochs=2, batch_size=20, verbose=2)
