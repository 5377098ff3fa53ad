"""A Transformer block on padded text: MultiHeadAttention with padding and causal masks."""

import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(6)
tokens = np.random.randint(1, 40, size=(48, 12))
tokens[::3, 7:] = 0
y = tokens[:, 0] % 3


class Positions(layers.Layer):
    def __init__(self):
        super().__init__()
        self.tokens = layers.Embedding(40, 16, mask_zero=True)
        self.places = layers.Embedding(12, 16)

    def call(self, inputs):
        return self.tokens(inputs) + self.places(ops.arange(12))

    def compute_mask(self, inputs, mask=None):
        return self.tokens.compute_mask(inputs)


inputs = keras.Input((12,), dtype="int32")
hidden = Positions()(inputs)
attended = layers.MultiHeadAttention(2, 8)(hidden, hidden, use_causal_mask=True)
hidden = layers.LayerNormalization()(hidden + attended)
hidden = layers.LayerNormalization()(hidden + layers.Dense(16, activation="relu")(hidden))
outputs = layers.Dense(3, activation="softmax")(layers.GlobalAveragePooling1D()(hidden))
model = keras.Model(inputs, outputs)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(tokens, y, batch_size=12, epochs=3, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
print("result predict", model.predict(tokens[:4], verbose=0).ravel().tolist())
