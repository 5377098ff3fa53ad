import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
imgs = rng.integers(0, 256, (256, 16, 16, 1)).astype("float32")
# target: brightness of the upper half, 0..1
target = imgs[:, :8].mean((1, 2)) / 255.0


class Counter(keras.Model):
    def __init__(self):
        super().__init__(name="counter")
        self.c1 = layers.Conv2D(8, 3, activation="relu", name="c1")
        self.c2 = layers.Conv2D(16, 3, strides=2, activation="relu", name="c2")
        self.flat = layers.Flatten()
        self.out = layers.Dense(1, name="out")

    def call(self, x):
        x = self.c1(x)
        x = self.c2(x)
        return self.out(self.flat(x))


model = Counter()
model.compile(optimizer="sgd", loss="mse", metrics=["mae"])
for epoch in range(5):
    h = model.fit(imgs, target, batch_size=64, epochs=1, verbose=0)
    print("epoch", epoch, h.history)
