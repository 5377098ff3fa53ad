import numpy as np
import keras

keras.utils.set_random_seed(6)
X = np.random.randn(320, 12).astype("float32")
w = np.random.randn(12, 3)
y = np.argmax(X @ w, 1)

model = keras.Sequential([
    keras.Input((12,)),
    keras.layers.Dense(48, activation="relu", name="l1"),
    keras.layers.Dense(48, activation="relu", name="l2"),
    keras.layers.Dense(3, name="logits"),
])
model.compile(
    keras.optimizers.SGD(0.05, momentum=0.9),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)


def schedule(epoch, lr):
    return lr * 1.6 if epoch else lr


model.fit(X, y, batch_size=32, epochs=12, verbose=2,
          callbacks=[keras.callbacks.LearningRateScheduler(schedule)])
