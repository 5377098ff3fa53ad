import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(197)
VOCAB, LENGTH = 20, 12
source = keras.Input((LENGTH,), dtype="int32")
given = keras.Input((LENGTH,), dtype="int32")
_, state = keras.layers.GRU(32, return_state=True)(keras.layers.Embedding(VOCAB, 16, mask_zero=True)(source))
out = keras.layers.GRU(32, return_sequences=True)(keras.layers.Embedding(VOCAB, 16)(given), initial_state=state)
model = keras.Model([source, given], keras.layers.Dense(VOCAB)(out))
model.compile(keras.optimizers.Adam(3e-3, global_clipnorm=1.0), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = np.random.randint(1, VOCAB, (640, LENGTH)).astype("int32")
x[np.arange(LENGTH)[None] >= np.random.randint(4, LENGTH + 1, (640, 1))] = 0
y = x[:, ::-1].copy()
model.fit([x, np.concatenate([np.zeros((640, 1), "int32"), y[:, :-1]], 1)], y, batch_size=32, epochs=3, verbose=2)
