import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(202)
n = 320
y = np.random.randint(0, 3, n)
X = np.random.rand(n, 12, 12, 1).astype("float32") * 0.4
for c in range(3):
    X[y == c, 4 * c:4 * c + 4] += 0.6
model = keras.Sequential([
    keras.Input((12, 12, 1)),
    layers.Conv2D(8, 3, activation="relu", name="conv_1"),
    layers.MaxPooling2D(name="pool"),
    layers.Conv2D(16, 3, activation="relu", name="conv_2"),
    layers.Flatten(name="flat"),
    layers.Dense(3, activation="softmax", name="cls"),
])
sched = keras.optimizers.schedules.CosineDecay(0.05, decay_steps=80)
model.compile(keras.optimizers.SGD(sched, momentum=0.9), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(X, y, batch_size=32, epochs=8, verbose=2)
