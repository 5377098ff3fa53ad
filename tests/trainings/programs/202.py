import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(202)
net = keras.Sequential(
    [
        keras.Input((6,)),
        keras.layers.Dense(16, use_bias=False),
        keras.layers.BatchNormalization(),
        keras.layers.Activation("relu"),
        keras.layers.Dense(3),
    ]
)
net.compile(keras.optimizers.SGD(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = np.random.randn(400, 6).astype("float32")
net.fit(x, x[:, :3].argmax(1), batch_size=4, epochs=2, verbose=2)
