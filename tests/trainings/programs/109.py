import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(109)
inp = keras.Input((20,))
h = layers.Dense(32, activation="relu", kernel_initializer=keras.initializers.RandomUniform(0, 0.3), kernel_constraint="non_neg", use_bias=False, name="feat")(inp)
out = layers.Dense(2, activation="softmax", name="cls")(h)
model = keras.Model(inp, out)
p = np.random.dirichlet(np.ones(20), 480)
X = np.log(p + 1e-6).astype("float32")
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(X, p.argmax(1) % 2, epochs=4, batch_size=32, verbose=0)
