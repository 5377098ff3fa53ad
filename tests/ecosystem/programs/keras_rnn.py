"""Recurrent Keras layers on masked sequences: LSTM, bidirectional GRU, a stacked cell."""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(5)
lengths = np.random.randint(2, 10, size=64)
tokens = np.random.randint(1, 50, size=(64, 10)) * (np.arange(10) < lengths[:, None])
y = (tokens.sum(axis=1) > 100).astype("float32")
inputs = keras.Input((10,), dtype="int32")
hidden = layers.Embedding(50, 8, mask_zero=True)(inputs)
hidden = layers.Bidirectional(layers.GRU(8, return_sequences=True, recurrent_dropout=0.1))(hidden)
hidden = layers.LSTM(8, return_sequences=True)(hidden)
hidden = layers.RNN([layers.GRUCell(6), layers.LSTMCell(6)])(hidden)
model = keras.Model(inputs, layers.Dense(1)(hidden))
model.compile("rmsprop", keras.losses.BinaryCrossentropy(from_logits=True))
history = model.fit(tokens, y, batch_size=16, epochs=2, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
print("result predict", model.predict(tokens[:4], verbose=0).ravel().tolist())
