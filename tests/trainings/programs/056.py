import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(211)
keras.mixed_precision.set_global_policy("mixed_bfloat16")
L, V = 12, 10
inp = keras.Input((L,), dtype="int32")
x = layers.Embedding(V, 32, name="emb")(inp)
a = layers.MultiHeadAttention(2, 16, name="causal")(x, x, use_causal_mask=True)
x = layers.LayerNormalization(name="ln1")(x + a)
f = layers.Dense(32, name="ff_b")(layers.Dense(64, activation="relu", name="ff_a")(x))
x = layers.LayerNormalization(name="ln2")(x + f)
out = layers.Dense(V, dtype="float32", name="next")(x)
lm = keras.Model(inp, out)
start = np.random.randint(0, V, (256, 1))
seq = (start + 3 * np.arange(L + 1)) % V
lm.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
lm.optimizer.learning_rate = 5e-3
lm.fit(seq[:, :-1], seq[:, 1:], epochs=8, batch_size=32, verbose=2)
