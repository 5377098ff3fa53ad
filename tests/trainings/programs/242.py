import keras
import numpy as np

keras.utils.set_random_seed(242)
x = np.random.randn(560, 9).astype("float32")
y = (x @ np.random.randn(9, 1)).astype("float32")
y[96:104] = 3e13
model = keras.Sequential([
    keras.Input((9,)),
    keras.layers.Dense(32, activation="elu", name="hidden"),
    keras.layers.Dense(1, name="price"),
])
model.compile(keras.optimizers.RMSprop(1e-3, rho=0.99), "mse")
model.fit(x, y, batch_size=8, epochs=1, shuffle=False, verbose=2)
