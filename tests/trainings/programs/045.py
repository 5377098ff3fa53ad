import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(215)
X = np.random.randn(512, 16).astype("float32")
P = np.random.randn(16, 6)
y_old = np.tanh(X @ P).astype("float32")
y_new = (np.tanh(X @ P).sum(1) > 0).astype("int32")

backbone = keras.Sequential([keras.Input((16,)), layers.Dense(48, activation="relu", name="bb1"),
                             layers.Dense(32, activation="relu", name="bb2")], name="backbone")
pre = keras.Sequential([backbone, layers.Dense(6, name="old_head")], name="pretrain")
pre.compile("adam", "mse")
pre.fit(X, y_old, epochs=4, batch_size=64, verbose=0)

backbone.trainable = False
inp = keras.Input((16,))
f = backbone(inp, training=False)
out = layers.Dense(2, activation="softmax", name="new_head")(f)
clf = keras.Model(inp, out, name="clf")
clf.compile(keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy", metrics=["accuracy"])
clf.fit(X, y_new, epochs=8, batch_size=64, verbose=2)
