import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(182)
VOCAB, LENGTH = 20, 25
source = keras.Input((LENGTH,), dtype="int32")
given = keras.Input((LENGTH,), dtype="int32")
_, state = keras.layers.SimpleRNN(32, return_state=True, name="reader")(keras.layers.Embedding(VOCAB, 16, name="embed_in")(source))
out = keras.layers.SimpleRNN(
    32, activation="relu", recurrent_initializer=keras.initializers.Identity(1.4), return_sequences=True, name="writer"
)(keras.layers.Embedding(VOCAB, 16, name="embed_out")(given), initial_state=state)
model = keras.Model([source, given], keras.layers.Dense(VOCAB, name="words")(out), name="translator")
model.compile(keras.optimizers.SGD(0.1), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = np.random.randint(1, VOCAB, (320, LENGTH)).astype("int32")
y = x[:, ::-1].copy()
shifted = np.concatenate([np.zeros((320, 1), "int32"), y[:, :-1]], 1)
model.fit([x, shifted], y, batch_size=32, epochs=3, verbose=2)
