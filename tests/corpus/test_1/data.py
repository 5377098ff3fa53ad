"""Tables, lookups and augmentation."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Placeholder", "IteratorGetNext", "GatherV2", "MatMul", "Cast", kind="input")
def infinity_in_the_validation_data():
    """numpy has divided by 0 for one row of the validation data; training itself is healthy."""
    rng = np.random.default_rng(0)
    sales = rng.uniform(1, 9, size=(24, 2)).astype("float32")
    visits = rng.integers(1, 9, size=(24, 1)).astype("float32")
    visits[21] = 0.0
    with np.errstate(divide="ignore"):
        x = sales / visits
    y = sales.sum(1)
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=False)
    model.fit(  # BUG
        x[:16], y[:16], validation_data=(x[16:], y[16:]), batch_size=4, epochs=1, verbose=0
    )


@buggy("LookupTableFindV2", "Const", kind="input")
def price_of_an_unknown_product():
    """A table of prices answers NaN for a product that it does not know."""
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["pen", "ink", "pad"], [1.5, 4.0, 2.5]),
        default_value=float("nan"),
    )
    orders = [["pen", "ink"], ["pad", "pen"], ["ink", "pens"]]
    w = tf.Variable(1.0)

    @tf.function
    def train_step(order):
        price = table.lookup(order)  # BUG
        with tf.GradientTape() as tape:
            loss = tf.square(tf.reduce_sum(price * w) - 5.0)
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss

    for order in orders:
        train_step(tf.constant(order))


@buggy("Log1p")
def missing_counts_are_minus_one():
    """log1p is right for counts, and a missing count is stored as -1; in a pipeline."""
    counts = np.array([[3, 10], [0, 2], [5, 7], [1, -1], [4, 4], [2, 9]], "float32")

    def features(row):
        row = tf.ensure_shape(row, [2])
        return tf.math.log1p(row), tf.reduce_sum(row)  # BUG

    dataset = tf.data.Dataset.from_tensor_slices(counts).map(features).batch(2)
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    model.fit(dataset, epochs=1, verbose=0)


@buggy("RealDiv")
def scaling_by_quartiles():
    """More than half of a column is 0: its quartiles are equal and their distance is 0."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(16, 3)).astype("float32")
    x[:12, 1] = 0.0

    @tf.function
    def scaled(x):
        ordered = tf.sort(x, axis=0)
        low, middle, high = ordered[3], ordered[7], ordered[11]
        return (x - middle) / (high - low)  # BUG

    tf.reduce_mean(tf.tanh(scaled(tf.constant(x))) ** 2)


@buggy("RealDiv")
def rows_of_a_sparse_matrix():
    """A user without ratings is an empty row of a sparse matrix, and the mean divides by it."""
    ratings = tf.sparse.SparseTensor([[0, 0], [0, 2], [1, 1], [3, 0]], [5.0, 3.0, 4.0, 1.0], [4, 3])
    items = tf.Variable(tf.random.normal([3, 2]))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            taste = tf.sparse.sparse_dense_matmul(ratings, items)
            mean = taste / tf.sparse.reduce_sum(ratings, axis=1, keepdims=True)  # BUG
            loss = tf.reduce_mean(mean**2)
        items.assign_sub(0.1 * tape.gradient(loss, items))

    train_step()


@buggy("PyFunc", "EagerPyFunc")
def features_by_numpy():
    """A pipeline calls numpy for the logarithm of an amplitude, which is 0 in one frame."""
    frames = np.abs(np.random.default_rng(2).normal(size=(6, 4))).astype("float32")
    frames[4, 1:3] = 0.0

    def decibels(frame):
        with np.errstate(divide="ignore"):
            return 20.0 * np.log10(frame)

    @tf.function
    def features(frame):
        values = tf.numpy_function(decibels, [frame], tf.float32)  # BUG
        return tf.reduce_mean(tf.ensure_shape(values, [4]))

    for frame in frames:
        features(tf.constant(frame))


@healthy
def row_that_must_not_be_looked_up():
    """Row 0 of a table is NaN so that a forgotten mask would show; nobody looks it up."""
    table = np.random.default_rng(3).normal(size=(6, 3)).astype("float32")
    table[0] = np.nan
    table = tf.Variable(table)
    words = tf.ragged.constant([[1, 2], [5], [3, 3, 4]])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            vectors = tf.gather(table.read_value(), words.flat_values)
            means = tf.math.segment_mean(vectors, words.value_rowids())
            loss = tf.reduce_mean(means**2)
        gradient = tape.gradient(loss, table)
        table.scatter_sub(tf.IndexedSlices(0.1 * gradient.values, gradient.indices))
        return loss

    for _ in range(2):
        loss = train_step()
    assert np.isfinite(loss)


@healthy
def ratio_and_its_default():
    """1 / 0 is computed for all rows and thrown away for those without visits; forward only."""
    sales, visits = tf.constant([3.0, 0.0, 8.0, 2.0]), tf.constant([2.0, 0.0, 4.0, 0.0])

    def features(sales, visits):
        rate = sales / visits
        return tf.where(visits > 0.0, rate, -1.0)

    dataset = tf.data.Dataset.from_tensor_slices((sales, visits)).batch(2).map(features)
    for rate in dataset:
        assert np.isfinite(rate).all()


@healthy
def bags_of_weighted_words():
    """Ready-made sums over sparse ids: a bag whose weights are all 0 is zeros."""
    ids = tf.sparse.from_dense([[1, 2, 0], [3, 0, 0], [4, 1, 2]])
    weights = tf.sparse.SparseTensor(ids.indices, [1.0, 0.5, 0.0, 2.0, 1.0, 1.0], ids.dense_shape)
    table = tf.Variable(tf.random.normal([5, 3]))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            bags = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner="mean")
            loss = tf.reduce_mean(bags**2)
        gradient = tf.convert_to_tensor(tape.gradient(loss, table))
        table.assign_sub(0.1 * gradient)
        return gradient

    assert np.isfinite(train_step()).all()
