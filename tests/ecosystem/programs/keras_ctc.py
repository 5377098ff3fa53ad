"""Reading text from images: a convolution, a recurrent layer and the CTC loss of Keras."""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(16)
images = np.random.uniform(size=(16, 24, 8)).astype("float32")
labels = np.random.randint(1, 8, size=(16, 4))
model = keras.Sequential(
    [
        keras.Input((24, 8)),
        layers.Conv1D(16, 3, padding="same", activation="relu"),
        layers.Bidirectional(layers.LSTM(8, return_sequences=True)),
        layers.Dense(9),
    ]
)
model.compile("adam", keras.losses.CTC())
history = model.fit(images, labels, batch_size=8, epochs=2, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
print("result predict", model.predict(images[:1], verbose=0).ravel()[:9].tolist())
