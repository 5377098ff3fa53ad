"""Keras: nested models, added losses, keras.ops, deep stacks, batches by hand."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Log")
def loss_added_by_a_layer():
    """A layer adds a loss that rewards activity by its logarithm; some of its units are dead."""

    class Active(tf.keras.layers.Layer):
        def call(self, x):
            usage = tf.reduce_mean(x, axis=0)
            self.add_loss(-1e-3 * tf.reduce_mean(tf.math.log(usage)))  # BUG
            return x

    inputs = tf.keras.Input((3,))
    hidden = tf.keras.layers.Dense(32, "relu")(inputs)
    outputs = tf.keras.layers.Dense(1)(Active()(hidden))
    model = tf.keras.Model(inputs, outputs)
    model.compile("adam", "mse")
    x = np.random.default_rng(0).normal(size=(12, 3)).astype("float32")
    model.fit(x, x[:, 0], batch_size=4, epochs=1, verbose=0)


@buggy("RealDiv")
def head_of_a_nested_model():
    """Three models inside of each other; the innermost divides by a sum of ReLU outputs."""

    class Head(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(3, "relu", kernel_initializer="ones", use_bias=False)

        def call(self, x):
            amounts = self.dense(x)
            return amounts / tf.reduce_sum(amounts, axis=1, keepdims=True)  # BUG

    class Body(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense, self.head = keras.layers.Dense(4, "tanh"), Head()

        def call(self, x):
            return self.head(self.dense(x))

    class Outer(keras.Model):
        def __init__(self):
            super().__init__()
            self.norm, self.body = keras.layers.LayerNormalization(), Body()

        def call(self, x):
            return self.body(self.norm(x)) / 2.0

    model = Outer()
    model.compile("sgd", "mae", jit_compile=False)
    x = np.random.default_rng(1).normal(size=(16, 4)).astype("float32")
    model.fit(x, np.full((16, 3), 0.3), batch_size=4, epochs=1, verbose=0)


@buggy("Log")
def logarithm_by_keras_ops():
    """keras.ops.log in a functional model; it is used for prediction only."""
    inputs = keras.Input((2,))
    hidden = keras.layers.Dense(4, "relu", kernel_initializer="ones")(inputs)
    outputs = keras.layers.Dense(1)(keras.ops.log(hidden))
    model = keras.Model(inputs, outputs)
    x = np.array([[1.0, 2.0], [0.5, 0.1], [-2.0, 0.5], [3.0, 1.0]], "float32")
    model.predict(x, batch_size=2, verbose=0)  # BUG


@buggy("MatMul")
def many_layers_without_normalisation():
    """Kernels of a deviation of 16: each layer makes its input some forty times as large."""
    large = keras.initializers.RandomNormal(stddev=16.0, seed=1)
    layers = [keras.layers.Dense(12, "relu", kernel_initializer=large) for _ in range(27)]
    model = keras.Sequential([keras.Input((4,)), *layers, keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    x = np.random.default_rng(2).normal(size=(8, 4)).astype("float32")
    model.train_on_batch(x, x[:, :1])  # BUG


@buggy("RealDiv")
def normalised_weights_in_batches_by_hand():
    """train_on_batch in a loop; a layer by keras.ops divides by a norm that becomes 0."""

    class Directions(keras.layers.Layer):
        def build(self, shape):
            self.kernel = self.add_weight(shape=(shape[-1], 2), initializer="ones")

        def call(self, x):
            length = keras.ops.sqrt(keras.ops.sum(keras.ops.square(x), axis=1, keepdims=True))
            unit = keras.ops.divide(x, length)  # BUG
            return keras.ops.matmul(unit, self.kernel)

    model = keras.Sequential([keras.Input((3,)), Directions(), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    rng = np.random.default_rng(3)
    for step in range(4):
        x = rng.normal(size=(4, 3)).astype("float32")
        if step == 2:
            x[1] = 0.0
        model.train_on_batch(x, x[:, :1])


@buggy("Pow")
def class_weights_in_a_loss_object():
    """A loss object weighs classes by frequency ** -0.5, and one class never occurs."""

    class Weighted(keras.losses.Loss):
        def __init__(self, counts):
            super().__init__()
            self.counts = tf.constant(counts)

        def call(self, y_true, y_pred):
            weights = tf.pow(self.counts / tf.reduce_sum(self.counts), -0.5)  # BUG
            weights = weights / tf.reduce_sum(weights)
            labels = tf.cast(tf.squeeze(y_true, 1), tf.int32)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, y_pred)
            return losses * tf.gather(weights, labels)

    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(12, 3)).astype("float32"), rng.integers(0, 3, size=(12, 1))
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4)])
    model.compile("sgd", Weighted([4.0, 5.0, 3.0, 0.0]), jit_compile=False)
    model.fit(x, y, batch_size=6, epochs=1, verbose=0)


@healthy
def transformer_on_images():
    """Patches, attention, layer normalisation, dropout and weight decay, in fit."""
    pictures = np.random.default_rng(5).uniform(size=(8, 8, 8, 1)).astype("float32")
    pictures[2] = 0.0
    inputs = keras.Input((8, 8, 1))
    patches = keras.layers.Reshape((4, 6))(keras.layers.Conv2D(6, 4, 4)(inputs))
    hidden = keras.layers.LayerNormalization()(patches)
    hidden = patches + keras.layers.MultiHeadAttention(2, 3, dropout=0.1)(hidden, hidden)
    outputs = keras.layers.Dense(3)(keras.layers.GlobalAveragePooling1D()(hidden))
    model = keras.Model(inputs, outputs)
    model.compile(
        keras.optimizers.AdamW(1e-3, weight_decay=1e-4),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    history = model.fit(pictures, np.arange(8) % 3, batch_size=4, epochs=1, verbose=0)
    assert np.isfinite(history.history["loss"]).all()


@healthy
def regression_with_censored_targets():
    """An upper bound of ∞ means that a target is not censored; the loss compares with it."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(16, 2)).astype("float32")
    y = x.sum(1, keepdims=True)
    bound = np.where(rng.uniform(size=(16, 1)) > 0.5, np.inf, y + 0.5).astype("float32")

    def censored(y_true, y_pred):
        target, bound = y_true[:, :1], y_true[:, 1:]
        clipped = tf.minimum(y_pred, bound)
        return tf.reduce_mean(tf.abs(target - clipped))

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("adam", censored)
    targets = np.concatenate([y, bound], axis=1)
    history = model.fit(x, targets, batch_size=4, epochs=2, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
