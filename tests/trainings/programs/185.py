import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(185)
model = keras.Sequential(
    [keras.Input((28, 28, 1)), keras.layers.Conv2D(4, 5, strides=3, activation="relu", name="see"), keras.layers.Flatten(), keras.layers.Dense(10, name="digit")]
)
model.compile(keras.optimizers.Lamb(5.0), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = np.random.rand(512, 28, 28, 1).astype("float32")
y = (x[:, :7, :7].mean((1, 2, 3)) * 10).astype("int32").clip(0, 9)
model.fit(x, y, batch_size=16, epochs=3, verbose=2)
