import keras
import numpy as np

keras.utils.set_random_seed(240)
x = np.random.randn(1200, 12).astype("float32")
y = np.sin(x[:, :1]).astype("float32")
small = keras.initializers.RandomNormal(stddev=0.05)
model = keras.Sequential([keras.Input((12,))])
for depth in range(9):
    model.add(keras.layers.Dense(20, activation="sigmoid", kernel_initializer=small, name=f"s{depth}"))
model.add(keras.layers.Dense(1, name="readout"))
model.compile(keras.optimizers.SGD(0.05), "mse")
model.fit(x, y, batch_size=8, epochs=1, verbose=2)
