import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(132)
text = "the quick brown fox jumps over the lazy dog and runs away from it. " * 30
chars = sorted(set(text))
ids = np.array([chars.index(c) for c in text])
X = np.stack([ids[i:i + 20] for i in range(0, 1900, 5)])
Y = np.stack([ids[i + 1:i + 21] for i in range(0, 1900, 5)])
m = keras.Sequential([keras.Input((20,), dtype="int32"), layers.Embedding(len(chars), 12, name="emb"), layers.LSTM(32, return_sequences=True, name="lstm"), layers.Dense(len(chars), name="logits")])
m.compile(keras.optimizers.RMSprop(5e-3, clipnorm=1.0), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
m.fit(X, Y, epochs=4, batch_size=32, verbose=0)
