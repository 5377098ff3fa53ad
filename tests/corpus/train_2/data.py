"""Bad values that come in with the data, and input pipelines that make them."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Placeholder", "GatherV2", "IteratorGetNext", "MatMul", kind="input")
def nan_in_the_labels_of_fit():
    """One label is NaN: the predictions are fine, the loss is not."""
    x = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
    y = x.sum(1)
    y[10] = np.nan
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(x, y, batch_size=8, shuffle=False, epochs=1, verbose=0)  # BUG


@buggy("DecodeCSV", kind="input")
def infinity_in_a_csv():
    """A CSV file holds inf; decode_csv reads it as a number."""
    records = tf.constant(["1.0,2.0", "inf,0.5"])

    @tf.function
    def parse(records):
        first, second = tf.io.decode_csv(records, [[0.0], [0.0]])  # BUG
        return first - second

    features = parse(records)
    tf.reduce_mean(features - tf.reduce_max(features))


@buggy("RealDiv")
def standardise_each_signal():
    """A flat signal has no deviation; the division is in the pipeline."""
    signals = np.random.default_rng(0).normal(size=(6, 8)).astype("float32")
    signals[4] = 2.0

    def standardise(signal):
        centred = signal - tf.reduce_mean(signal)
        return centred / tf.math.reduce_std(centred)  # BUG

    w = tf.Variable(tf.zeros([8]))
    for batch in tf.data.Dataset.from_tensor_slices(signals).map(standardise).batch(2):
        w.assign_add(tf.reduce_mean(batch, axis=0))


@buggy("Log")
def log_ratio_of_labels():
    """The pipeline turns a share into a logit, and some shares are exactly 0."""
    shares = np.array([0.2, 0.0, 0.7, 0.5], "float32")

    def to_logit(share):
        return tf.math.log(share) - tf.math.log(1 - share)  # BUG

    dataset = tf.data.Dataset.from_tensor_slices(shares).map(to_logit).batch(2)
    w = tf.Variable(0.0)
    for y in dataset:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((w - y) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))


@buggy("MatMul", "ReadVariableOp", kind="input")
def weights_from_a_bad_checkpoint():
    """Pretrained weights hold a NaN; the first product spreads it."""
    kernel = np.random.default_rng(0).normal(size=(3, 2)).astype("float32")
    kernel[1, 1] = np.nan
    dense = tf.keras.layers.Dense(2)
    dense.build((None, 3))
    dense.set_weights([kernel, np.zeros(2, "float32")])

    @tf.function
    def predict(x):
        return dense(x)  # BUG

    predict(tf.ones([2, 3]))


@buggy("Pow")
def box_cox_of_negative_values():
    """A Box-Cox transform of a feature that is not positive everywhere."""
    x = np.random.default_rng(0).normal(loc=1.0, size=(8, 2)).astype("float32")

    def transform(row):
        return (tf.pow(row, 0.3) - 1) / 0.3  # BUG

    for row in tf.data.Dataset.from_tensor_slices(x).map(transform).batch(4):
        tf.reduce_sum(row)


@healthy
def masked_targets():
    """NaN targets are masked out of the loss before anything is computed with them."""
    y = tf.constant([1.0, np.nan, 3.0])
    w = tf.Variable(0.5)

    @tf.function
    def step(y):
        known = tf.boolean_mask(y, tf.math.is_finite(y))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((w - known) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))

    step(y)


@healthy
def clipped_outliers():
    """Infinite outliers are clipped by the first op of the pipeline."""
    x = np.array([[1.0, np.inf], [-np.inf, 2.0]], "float32")
    dataset = tf.data.Dataset.from_tensor_slices(x).map(lambda row: tf.clip_by_value(row, -5, 5))
    for row in dataset.batch(2):
        tf.reduce_mean(row)
