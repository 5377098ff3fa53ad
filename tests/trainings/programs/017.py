import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(206)
atoms = np.random.randn(32, 20)
codes = np.random.rand(600, 32) * (np.random.rand(600, 32) < 0.08)
X = (codes @ atoms).astype("float32")
inp = keras.Input((20,))
code = layers.Dense(96, activation="relu", activity_regularizer=keras.regularizers.L1(1e-2), name="code")(inp)
rec = layers.Dense(20, name="rec")(code)
sae = keras.Model(inp, rec, name="sae")
sae.compile(keras.optimizers.Adam(5e-3), "mse")
hist = sae.fit(X, X, epochs=8, batch_size=40, verbose=0)
print([round(float(v), 4) for v in hist.history["loss"]])
