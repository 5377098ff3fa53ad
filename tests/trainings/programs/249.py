import keras
import numpy as np

keras.utils.set_random_seed(249)
x = np.random.randn(1000, 10).astype("float32")
y = (np.abs(x).sum(1) > 8).astype("float32")
model = keras.Sequential([
    keras.Input((10,)),
    keras.layers.Dense(40, activation="relu", name="first"),
    keras.layers.Dense(20, activation="relu", name="second"),
    keras.layers.Dense(1, activation="sigmoid", name="yes"),
])


class Cyclic(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        phase = keras.ops.cast(step % 40, "float32") / 40.0
        return 0.01 + 0.3 * (1.0 - keras.ops.abs(2.0 * phase - 1.0))


model.compile(keras.optimizers.SGD(Cyclic(), momentum=0.9), "binary_crossentropy")
model.fit(x, y, batch_size=8, epochs=1, verbose=2)
