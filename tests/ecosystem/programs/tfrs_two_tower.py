"""TensorFlow Recommenders: two towers, the retrieval task, factorised top-K and a ranking head."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tensorflow_recommenders as tfrs
import tf_keras

tf_keras.utils.set_random_seed(80)
users = np.random.choice(["ann", "bob", "cem", "dia"], size=96)
films = np.random.choice([f"film {n}" for n in range(12)], size=96)
stars = np.random.randint(1, 6, size=96).astype("float32")
catalogue = tf.data.Dataset.from_tensor_slices(np.unique(films))


def tower(names):
    lookup = tf_keras.layers.StringLookup(vocabulary=np.unique(names), mask_token=None)
    return tf_keras.Sequential([lookup, tf_keras.layers.Embedding(len(np.unique(names)) + 1, 8)])


class Recommender(tfrs.Model):
    def __init__(self):
        super().__init__()
        self.users, self.films = tower(users), tower(films)
        self.head = tf_keras.Sequential(
            [tf_keras.layers.Dense(8, "relu"), tf_keras.layers.Dense(1)]
        )
        metrics = tfrs.metrics.FactorizedTopK(catalogue.batch(6).map(self.films), ks=(1, 5))
        self.retrieval = tfrs.tasks.Retrieval(metrics=metrics)
        self.ranking = tfrs.tasks.Ranking(tf_keras.losses.MeanSquaredError())

    def compute_loss(self, inputs, training=False):
        user, film = self.users(inputs["user"]), self.films(inputs["film"])
        rating = self.head(tf.concat([user, film], axis=1))
        found = self.retrieval(user, film, compute_metrics=not training)
        return found + self.ranking(labels=inputs["stars"][:, None], predictions=rating)


model = Recommender()
model.compile(tf_keras.optimizers.legacy.Adagrad(0.1))
dataset = tf.data.Dataset.from_tensor_slices({"user": users, "film": films, "stars": stars})
history = model.fit(dataset.batch(32), epochs=2, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
measured = model.evaluate(dataset.batch(32), return_dict=True, verbose=0)
print("result measured", {key: float(value) for key, value in measured.items()})
index = tfrs.layers.factorized_top_k.BruteForce(model.users, k=3)
index.index_from_dataset(catalogue.batch(6).map(lambda names: (names, model.films(names))))
scores, names = index(tf.constant(["ann"]))
print("result top", scores.numpy().tolist(), names.numpy().tolist())
