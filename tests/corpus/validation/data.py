"""What comes in from files and pipelines, and how it is prepared."""

from __future__ import annotations

import io

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("ReadVariableOp", "AssignVariableOp", "Const", kind="input")
def normalisation_adapted_to_missing_values():
    """An empty cell is NaN, so are the mean and the variance that the layer adapts to."""
    text = "1.0,20.0\n2.0,\n3.0,25.0\n4.0,31.0\n"
    x = np.genfromtxt(io.StringIO(text), delimiter=",", dtype="float32")
    normalise = tf.keras.layers.Normalization()
    normalise.adapt(x)  # BUG
    x = np.nan_to_num(x)
    model = tf.keras.Sequential([normalise, tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    model.fit(x, x[:, :1], batch_size=2, epochs=1, verbose=0)  # ALSO


@buggy("RealDiv")
def returns_of_a_price_of_zero():
    """A holiday has a price of 0: the ratio to the day before is 0, the one after is ∞."""
    prices = np.array([100, 101, 99, 102, 104, 103, 0, 105, 107, 106], "float32")
    w = tf.Variable([0.1, 0.1, 0.1])
    windows = tf.keras.utils.timeseries_dataset_from_array(
        prices, None, sequence_length=5, batch_size=2
    )

    @tf.function
    def train_step(window):
        ratio = window[:, 1:] / window[:, :-1]  # BUG
        returns = tf.math.log(tf.maximum(ratio, 1e-3))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(returns[:, :3], w) - returns[:, 3]) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))

    for window in windows:
        train_step(window)


@buggy("RealDiv")
def saturation_of_black_pixels():
    """(max - min) / max of a black pixel is 0 / 0, in the map of a pipeline; third picture."""
    pictures = np.random.default_rng(2).integers(1, 255, size=(6, 4, 4, 3)).astype("uint8")
    pictures[2, 1:3, 1:3] = 0

    def features(picture):
        picture = tf.cast(picture, tf.float32) / 255.0
        largest, smallest = tf.reduce_max(picture, axis=2), tf.reduce_min(picture, axis=2)
        saturation = (largest - smallest) / largest  # BUG
        return tf.stack([saturation, largest], axis=2)

    dataset = tf.data.Dataset.from_tensor_slices(pictures).map(features).batch(2)
    model = tf.keras.Sequential(
        [tf.keras.Input((4, 4, 2)), tf.keras.layers.Conv2D(2, 3), tf.keras.layers.Flatten()]
    )
    for batch in dataset:
        tf.reduce_mean(model(batch))


@buggy("IteratorGetNext", "Placeholder", kind="input")
def padding_of_nan_without_a_mask():
    """Sequences of different length are padded with NaN; the mean over time takes them all."""
    lengths = [4, 4, 4, 2]
    dataset = tf.data.Dataset.from_generator(
        lambda: (np.arange(n, dtype="float32") for n in lengths),
        output_signature=tf.TensorSpec([None], tf.float32),
    )
    dataset = dataset.padded_batch(2, padding_values=np.float32("nan"))
    w = tf.Variable(1.0)

    @tf.function
    def train_step(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.reduce_mean(batch, axis=1) * w - 1.0) ** 2)
        w.assign_sub(0.01 * tape.gradient(loss, w))

    for batch in dataset:  # BUG
        train_step(batch)


@buggy("Ndtri")
def ranks_to_a_normal_distribution():
    """Ranks are scaled to [0, 1] with both ends, where the inverse normal cdf is infinite."""
    x = tf.random.normal([9, 2])

    @tf.function
    def gaussian_ranks(x):
        ranks = tf.argsort(tf.argsort(x, axis=0), axis=0)
        share = tf.cast(ranks, tf.float32) / tf.cast(tf.shape(x)[0] - 1, tf.float32)
        return tf.math.ndtri(share)  # BUG

    features = gaussian_ranks(x)
    tf.matmul(features, features, transpose_a=True)


@healthy
def statistics_that_ignore_nan():
    """NaN marks a missing value; means and deviations count the others only."""
    x = np.random.default_rng(3).normal(5.0, 2.0, size=(12, 3)).astype("float32")
    x[[0, 3, 7], [1, 2, 1]] = np.nan
    x[:, 2] = np.nan

    @tf.function
    def standardise(x):
        present = tf.logical_not(tf.math.is_nan(x))
        filled = tf.where(present, x, 0.0)
        count = tf.reduce_sum(tf.cast(present, tf.float32), axis=0)
        mean = tf.math.divide_no_nan(tf.reduce_sum(filled, axis=0), count)
        centred = tf.where(present, filled - mean, 0.0)
        variance = tf.math.divide_no_nan(tf.reduce_sum(centred**2, axis=0), count)
        return centred * tf.math.rsqrt(variance + 1e-6)

    assert np.isfinite(standardise(tf.constant(x))).all()


@healthy
def padding_of_nan_with_a_mask():
    """Batches are padded with NaN so that no value can be mistaken for it, then masked."""
    dataset = tf.data.Dataset.from_generator(
        lambda: (np.arange(n, dtype="float32") for n in (3, 1, 2)),
        output_signature=tf.TensorSpec([None], tf.float32),
    )
    for batch in dataset.padded_batch(3, padding_values=np.float32("nan")):
        valid = tf.math.is_finite(batch)
        ragged = tf.RaggedTensor.from_row_lengths(
            tf.boolean_mask(batch, valid), tf.reduce_sum(tf.cast(valid, tf.int64), axis=1)
        )
        assert np.isfinite(tf.reduce_mean(ragged, axis=1)).all()
