import numpy as np
import keras

keras.utils.set_random_seed(5)
T, F = 60, 3
X = np.random.randn(320, T, F).astype("float32")
y = X[:, :, 0].mean(1, keepdims=True) * 4

inputs = keras.Input((T, F))
h = keras.layers.SimpleRNN(
    32,
    activation="relu",
    recurrent_initializer=keras.initializers.RandomNormal(stddev=0.3, seed=5),
    name="rnn",
)(inputs)
h = keras.layers.Dense(16, activation="relu", name="mix")(h)
outputs = keras.layers.Dense(1, name="pred")(h)
model = keras.Model(inputs, outputs)
model.compile(keras.optimizers.SGD(1e-3), "mse")

hist = model.fit(
    X, y, batch_size=32, epochs=4, verbose=0,
    callbacks=[keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda b, logs: print(f"  batch {b}: {logs['loss']}"))],
)
print([float(v) for v in hist.history["loss"]])
