import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(187)
net = keras.Sequential(
    [
        keras.Input((6,)),
        keras.layers.Dense(16, name="features"),
        keras.layers.BatchNormalization(name="norm"),
        keras.layers.Activation("relu"),
        keras.layers.Dense(3, name="classes"),
    ]
)
net.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = np.random.randn(60, 6).astype("float32")
y = x[:, :3].argmax(1)
net.fit(x, y, batch_size=1, epochs=2, verbose=2)
