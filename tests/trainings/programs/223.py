import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(223)
model = keras.Sequential([keras.Input((10,)), layers.Dense(32, activation="elu", name="wide"), layers.Dense(32, activation="elu", name="deep"), layers.Dense(1, name="price")])
model.compile(keras.optimizers.SGD(0.02, momentum=0.9), "mse")
x = np.random.randn(640, 10).astype("float32")
y = (x[:, :1] * x[:, 1:2] + 0.5 * x[:, 2:3]).astype("float32")
schedule = keras.callbacks.LearningRateScheduler(lambda epoch, rate: 0.02 if epoch < 3 else 2.0)
model.fit(x, y, batch_size=32, epochs=5, callbacks=[schedule], verbose=2)
