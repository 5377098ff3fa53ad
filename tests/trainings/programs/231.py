import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(231)
words = keras.Input((12,), dtype="int32", name="words")
facts = keras.Input((5,), name="facts")
glove = np.random.randn(80, 16).astype("float32")  # vectors that are given
embed = layers.Embedding(80, 16, weights=[glove], trainable=False, mask_zero=True, name="glove")
deep = layers.GlobalAveragePooling1D()(embed(words))
deep = layers.Dense(16, activation="relu")(deep)
norm = layers.Normalization()
table = np.random.uniform(0, 5000, (640, 5)).astype("float32")
norm.adapt(table)
wide = layers.Dense(4)(norm(facts))
out = layers.Dense(1, activation="sigmoid")(layers.Concatenate()([deep, wide]))
model = keras.Model({"words": words, "facts": facts}, out)
model.compile(keras.optimizers.Ftrl(0.05), "binary_crossentropy")
text = np.random.randint(0, 80, (640, 12))
y = (table[:, 0] > 2500).astype("float32")
model.fit({"words": text, "facts": table}, y, batch_size=32, epochs=4, verbose=2)
