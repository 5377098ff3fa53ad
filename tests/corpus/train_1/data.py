"""Bad values that come in with the data, and input pipelines that make them."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Placeholder", "IteratorGetNext", kind="input")
def nan_in_the_data_set():
    """A missing value was left in the features; a custom loop over tf.data."""
    x = np.random.default_rng(0).normal(size=(12, 3)).astype("float32")
    x[7, 1] = np.nan
    dataset = tf.data.Dataset.from_tensor_slices((x, x.sum(1))).batch(4)
    w = tf.Variable(tf.ones([3]))

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))

    for x, y in dataset:  # BUG
        train_step(x, y)


@buggy("StringToNumber", kind="input")
def nan_from_a_text_file():
    """A CSV cell says nan, and parsing it is not an error."""
    lines = tf.data.Dataset.from_tensor_slices(["1.5,2.0", "nan,3.0", "4.0,1.0"])

    def parse(line):
        cells = tf.strings.split(line, ",")
        return tf.strings.to_number(cells)  # BUG

    w = tf.Variable([1.0, 1.0])
    for row in lines.map(parse):
        w.assign_add(0.1 * row)


@buggy("RealDiv")
def scale_each_image():
    """The map function divides each picture by its maximum, and one is black."""
    images = np.random.default_rng(0).integers(0, 255, size=(6, 4, 4, 1)).astype("uint8")
    images[3] = 0

    def scale(image):
        image = tf.cast(image, tf.float32)
        return image / tf.reduce_max(image)  # BUG

    for batch in tf.data.Dataset.from_tensor_slices(images).map(scale).batch(3):
        tf.reduce_mean(batch)


@buggy("Log")
def log_features_in_fit():
    """The pipeline takes the logarithm of counts, and some are 0; Keras' fit meets -∞."""
    counts = np.random.default_rng(0).poisson(1.0, size=(16, 3)).astype("float32")
    labels = counts.sum(1)

    def features(x, y):
        return tf.math.log(x), y  # BUG

    dataset = tf.data.Dataset.from_tensor_slices((counts, labels)).batch(8).map(features)
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(dataset, epochs=1, verbose=0)


@buggy("MatMul", kind="input")
def infinity_marks_missing_values():
    """∞ stands for a missing value in a constant that is used as it is; eager."""
    x = tf.constant([[1.0, 2.0], [np.inf, 0.5]])
    w = tf.Variable([[0.5], [0.0]])
    y = x @ w  # BUG
    tf.reduce_mean(y - tf.reduce_max(y))


@buggy("RealDiv")
def mean_of_ragged_rows():
    """The mean of an empty ragged row is 0 / 0."""
    ragged = tf.ragged.constant([[1.0, 2.0], [], [3.0]])

    @tf.function
    def features(ragged):
        total = tf.reduce_sum(ragged, axis=1)
        lengths = tf.cast(ragged.row_lengths(), tf.float32)
        return total / lengths  # BUG

    features(ragged)


@healthy
def missing_values_replaced():
    """NaN marks missing values, and tf.where replaces them at once."""
    x = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0]], "float32")

    def fill(row):
        return tf.where(tf.math.is_nan(row), tf.zeros_like(row), row)

    w = tf.Variable([1.0, 1.0])
    for row in tf.data.Dataset.from_tensor_slices(x).map(fill):
        w.assign_add(0.1 * row)


@healthy
def empty_last_batch():
    """A filter leaves an empty batch, and its sum is 0."""
    dataset = tf.data.Dataset.range(6).batch(3).map(lambda x: tf.boolean_mask(x, x < 3))

    @tf.function
    def total(x):
        return tf.reduce_sum(tf.cast(x, tf.float32))

    for x in dataset:
        total(x)
