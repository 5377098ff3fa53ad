import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(218)
inputs = keras.Input((16, 4))
x = layers.Bidirectional(layers.LSTM(12, return_sequences=True), name="bilstm")(inputs)
x = layers.TimeDistributed(layers.Dense(5), name="tags")(x)
model = keras.Model(inputs, x)
model.compile(keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
data = np.random.normal(0, 4000, (320, 16, 4)).astype("float32")  # raw samples of 16 bits
tags = (np.abs(data[..., 0]) // 2000).clip(0, 4).astype("int32")
model.fit(data, tags, batch_size=16, epochs=3, verbose=2)
