import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(66)
N = 360
a = np.random.randn(N, 6).astype("float32")
b = np.random.uniform(900, 1100, (N, 4)).astype("float32")
y = (a[:, :1] + 0.01 * (b[:, :1] - 1000)).astype("float32")


def branch(dim, name, **kw):
    i = keras.Input((dim,))
    z = layers.Dense(16, activation="relu", name="relu_" + name, **kw)(i)
    return keras.Model(i, z, name="branch_" + name)


ia, ib = keras.Input((6,), name="a"), keras.Input((4,), name="b")
shifted = layers.Rescaling(0.01, offset=-20.0, name="norm_b")(ib)
za = branch(6, "a")(ia)
zb = branch(4, "b", kernel_initializer=keras.initializers.RandomUniform(0.0, 0.4, seed=66))(shifted)
o = layers.Dense(1, name="out")(layers.Concatenate(name="cat")([za, zb]))
m = keras.Model([ia, ib], o)
m.compile(keras.optimizers.Adam(5e-3), "mse")
for ep in range(6):
    print("epoch", ep, m.fit([a, b], y, verbose=0, batch_size=36, epochs=1).history["loss"][0])
