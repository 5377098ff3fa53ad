import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(216)
keras.mixed_precision.set_global_policy("mixed_float16")
tokens = keras.Input((20,), dtype="int32")
x = layers.Embedding(100, 16, name="words")(tokens)
x = layers.Conv1D(16, 5, activation="relu", name="ngrams")(x)
x = layers.GlobalMaxPooling1D()(x)
model = keras.Model(tokens, layers.Dense(1, dtype="float32", name="sentiment")(x))
inner = keras.optimizers.RMSprop(1e-3)
model.compile(
    keras.mixed_precision.LossScaleOptimizer(inner, initial_scale=2.0**24, dynamic_growth_steps=1),
    keras.losses.BinaryCrossentropy(from_logits=True),
)
text = np.random.randint(0, 100, (960, 20))
label = (text[:, 0] < 50).astype("float32")
model.fit(text, label, batch_size=16, epochs=1, verbose=2)
