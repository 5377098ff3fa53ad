"""KerasRS: a two-tower retrieval model with sampled negatives and brute-force lookup."""

import keras
import keras_rs
import numpy as np
from keras import layers

keras.utils.set_random_seed(22)


class Retrieval(keras.Model):
    def __init__(self):
        super().__init__()
        self.users = keras.Sequential([layers.Embedding(30, 8), layers.Dense(8)])
        self.items = layers.Embedding(50, 8)
        self.lookup = keras_rs.layers.BruteForceRetrieval(k=5, return_scores=True)
        self.correct = keras_rs.layers.SamplingProbabilityCorrection()
        self.loss_of = keras.losses.CategoricalCrossentropy(from_logits=True)

    def call(self, inputs):
        return self.users(inputs["user"])

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        scores = keras.ops.matmul(y_pred, keras.ops.transpose(self.items(x["item"])))
        scores = self.correct(scores, x["probability"])
        return self.loss_of(keras.ops.eye(keras.ops.shape(scores)[0]), scores)


data = {
    "user": np.random.randint(0, 30, size=128),
    "item": np.random.randint(0, 50, size=128),
    "probability": np.full(128, 0.02, "float32"),
}
model = Retrieval()
model.compile(optimizer=keras.optimizers.Adagrad(0.1))
history = model.fit(data, batch_size=32, epochs=3, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
model.lookup.update_candidates(model.items.embeddings)
scores, found = model.lookup(model.users(np.array([3, 4])))
print("result found", np.array(found).tolist(), np.array(scores).tolist())
