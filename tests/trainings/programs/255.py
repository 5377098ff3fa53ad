import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(255)
rng = np.random.default_rng(255)


def sequences():
    for _ in range(320):
        length = int(rng.integers(3, 20))
        x = rng.normal(size=(length, 2)).astype("float32")
        yield x, np.float32(x[:, 0].mean() > 0)


spec = tf.TensorSpec([None, 2]), tf.TensorSpec([])
data = tf.data.Dataset.from_generator(sequences, output_signature=spec)
data = data.map(lambda x, y: (x / (1e-3 + tf.math.reduce_std(x)), y)).padded_batch(8, padding_values=(-99.0, 0.0))
model = keras.Sequential([
    keras.Input((None, 2)),
    keras.layers.Masking(-99.0),
    keras.layers.GRU(12, name="reader"),
    keras.layers.Dense(1, name="verdict"),
])
model.compile(keras.optimizers.Adam(5e-3), keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(data, epochs=1, verbose=2)
