"""A Keras model with its own train_step and a cross-entropy written by hand."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(2)


class Classifier(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(32, activation="relu")
        self.head = keras.layers.Dense(4, activation="softmax")
        self.tracker = keras.metrics.Mean(name="loss")

    def call(self, inputs):
        return self.head(self.hidden(inputs))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            probabilities = self(x, training=True)
            likelihood = tf.math.log(probabilities)  # BUG Log: a saturated softmax holds zeros
            loss = -tf.reduce_mean(tf.reduce_sum(tf.one_hot(y, 4) * likelihood, axis=-1))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


x = np.random.normal(size=(128, 16)).astype("float32")
x[40] *= 400.0  # one sensor reading in another unit
y = np.random.randint(0, 4, size=128)
model = Classifier()
model.compile(optimizer=keras.optimizers.SGD(0.05))
history = model.fit(x, y, batch_size=16, epochs=2, shuffle=False, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
