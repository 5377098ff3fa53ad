import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(232)
text = ("to be or not to be that is the question " * 40)[:1290]
letters = sorted(set(text))
ids = np.array([letters.index(c) for c in text])
model = keras.Sequential([
    keras.Input(batch_shape=(8, 16), dtype="int32"),
    layers.Embedding(len(letters), 16),
    layers.LSTM(32, return_sequences=True, stateful=True, name="memory"),
    layers.Dense(len(letters)),
])
optimizer = keras.optimizers.Adam(5e-3)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    grads, norm = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


rows = ids[: 8 * 160].reshape(8, 160)
for epoch in range(6):
    model.layers[1].reset_states()
    for t in range(0, 144, 16):
        loss = train(rows[:, t : t + 16], rows[:, t + 1 : t + 17])
print(float(loss))
