"""Data: files, tf.data, rows that nobody looked at."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Placeholder", "IteratorGetNext", "ConcatV2", kind="input")
def missing_income_in_a_table():
    """A dictionary of columns from a data frame; an empty cell of one column is NaN; fit."""
    rng = np.random.default_rng(0)
    age = rng.uniform(18, 80, size=(32, 1)).astype("float32")
    income = rng.uniform(1, 5, size=(32, 1)).astype("float32")
    income[17] = np.nan
    bought = (income > 3).astype("float32")
    dataset = tf.data.Dataset.from_tensor_slices(({"age": age, "income": income}, bought))
    inputs = {name: tf.keras.Input((1,), name=name) for name in ("age", "income")}
    scaled = tf.keras.layers.Rescaling(1 / 100.0)(inputs["age"])
    both = tf.keras.layers.Concatenate()([scaled, inputs["income"]])
    hidden = tf.keras.layers.Dense(4, "relu")(both)
    outputs = tf.keras.layers.Dense(1, "sigmoid")(hidden)
    model = tf.keras.Model(inputs, outputs)
    model.compile("adam", "binary_crossentropy")
    model.fit(dataset.batch(8), epochs=1, verbose=0)  # BUG


@buggy("IteratorGetNext", "Placeholder", kind="input")
def standardised_by_numpy():
    """numpy has divided a constant column by its deviation of 0 before TensorFlow saw it."""
    raw = np.random.default_rng(1).normal(size=(20, 3)).astype("float32")
    raw[:, 1] = 4.0
    with np.errstate(invalid="ignore"):
        x = (raw - raw.mean(0)) / raw.std(0)
    dataset = tf.data.Dataset.from_tensor_slices((x, raw[:, 0])).batch(5)
    w = tf.Variable(tf.zeros([3]))

    @tf.function
    def train(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.linalg.matvec(x, w) - y))
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    for x_batch, y_batch in dataset:  # BUG
        train(x_batch, y_batch)


@buggy("Mean")
def empty_line_of_text():
    """The mean vector of the words of a line, in a map; one line has no words."""
    lines = ["the cat sat", "on the mat", "", "the end"]
    table = tf.random.normal([10, 3], seed=2)

    def encode(line):
        words = tf.strings.split(line)
        ids = tf.strings.to_hash_bucket_fast(words, 10)
        return tf.reduce_mean(tf.gather(table, ids), axis=0)  # BUG

    dataset = tf.data.Dataset.from_tensor_slices(lines).map(encode).batch(2)
    dense = tf.keras.layers.Dense(1)
    for batch in dataset:
        dense(batch)


@buggy("RealDiv")
def noise_mixed_at_a_given_ratio():
    """Augmentation scales noise to a signal to noise ratio; a noise clip is silent."""
    rng = np.random.default_rng(3)
    speech = rng.normal(size=(12, 16)).astype("float32")
    noise = rng.normal(size=(12, 16)).astype("float32")
    noise[7] = 0.0

    def mix(clean, noise):
        p_clean = tf.reduce_mean(clean**2)
        p_noise = tf.reduce_mean(noise**2)
        gain = tf.sqrt(p_clean / (p_noise * 10.0))  # BUG
        return clean + gain * noise, clean

    dataset = tf.data.Dataset.from_tensor_slices((speech, noise)).map(mix).batch(4)
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(16)])
    model.compile("adam", "mae")
    model.fit(dataset, epochs=1, verbose=0)


@buggy("DecodeRaw", kind="input")
def wrong_type_of_raw_bytes():
    """int16 samples are decoded as float32: two of them next to each other look like NaN."""
    samples = np.array([5, 300, -1, -2, 77, 1000, -32, -64], "<i2").tobytes()

    @tf.function
    def level(record):
        wave = tf.io.decode_raw(record, tf.float32)  # BUG
        return tf.sqrt(tf.reduce_mean(wave**2))

    level(tf.constant(samples))


@buggy("ParseSingleExample", "ParseExampleV2", "Const", kind="input")
def default_of_an_absent_feature():
    """The default of a missing feature in a tf.Example is NaN."""

    def example(**features):
        feature = {
            key: tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
            for key, value in features.items()
        }
        return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()

    spec = {
        "height": tf.io.FixedLenFeature([], tf.float32),
        "weight": tf.io.FixedLenFeature([], tf.float32, default_value=float("nan")),
    }
    records = tf.constant([example(height=1.8, weight=80.0), example(height=1.7)])

    @tf.function
    def body_mass_index(records):
        row = tf.io.parse_example(records, spec)  # BUG
        return tf.reduce_max(row["weight"] / row["height"] ** 2)

    body_mass_index(records)


@buggy("Placeholder", "GatherV2", "Const", kind="input")
def class_weights_of_an_absent_class():
    """n / (k · count) was computed by numpy with a count of 0; the weight of class 3 is ∞."""
    counts = np.array([10, 6, 4, 0])
    with np.errstate(divide="ignore"):
        balanced = (counts.sum() / (4 * counts)).astype("float32")
    weights = tf.constant(balanced)
    logits = tf.Variable(tf.zeros([4]))

    @tf.function
    def step(labels, class_weights):
        with tf.GradientTape() as tape:
            tiled = tf.tile(logits[None], [tf.size(labels), 1])
            ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tiled)
            loss = tf.reduce_mean(ce * tf.gather(class_weights, labels))  # BUG
        logits.assign_sub(0.1 * tape.gradient(loss, logits))

    step(tf.constant([0, 1, 2]), weights)  # ALSO
    step(tf.constant([0, 3, 1]), weights)  # ALSO


@buggy("RealDiv")
def accuracy_of_each_class():
    """Integers are cast and divided: a class that is not in the last batch has 0 / 0."""

    @tf.function
    def per_class(labels, predicted):
        matrix = tf.math.confusion_matrix(labels, predicted, num_classes=3)
        hits = tf.linalg.diag_part(matrix)
        return hits / tf.reduce_sum(matrix, axis=1)  # BUG

    batches = [([0, 1, 2, 1], [0, 1, 1, 1]), ([2, 0, 2, 0], [2, 0, 1, 0])]
    for labels, predicted in batches:
        per_class(tf.constant(labels), tf.constant(predicted))


@buggy("RealDiv")
def mutual_information_of_words():
    """log(p(x, y) / (p(x) p(y))), and a word of the vocabulary does not occur: 0 / 0; eager."""
    counts = tf.constant([[4.0, 1.0, 0.0], [1.0, 6.0, 0.0], [0.0, 0.0, 0.0]])
    joint = counts / tf.reduce_sum(counts)
    px = tf.reduce_sum(joint, axis=1, keepdims=True)
    py = tf.reduce_sum(joint, axis=0, keepdims=True)
    ratio = joint / (px * py)  # BUG
    pmi = tf.nn.relu(tf.math.log(ratio))
    tf.linalg.svd(tf.where(tf.math.is_nan(pmi), 0.0, pmi) + tf.reduce_sum(pmi) * 0.0)


@healthy
def imputed_by_a_layer():
    """The model itself replaces NaN by a learnt value and adds a flag; fit."""

    class Impute(tf.keras.layers.Layer):
        def build(self, shape):
            self.value = self.add_weight(shape=(shape[-1],), initializer="zeros", name="value")

        def call(self, x):
            missing = tf.math.is_nan(x)
            filled = tf.where(missing, tf.broadcast_to(self.value, tf.shape(x)), x)
            return tf.concat([filled, tf.cast(missing, tf.float32)], axis=1)

    x = np.random.default_rng(5).normal(size=(24, 3)).astype("float32")
    y = x.sum(1)
    x[::5, 1] = np.nan
    model = tf.keras.Sequential([tf.keras.Input((3,)), Impute(), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    history = model.fit(x, y, batch_size=8, epochs=1, verbose=0)
    assert np.isfinite(history.history["loss"]).all()


@healthy
def missing_values_by_multiply_no_nan():
    """tf.math.multiply_no_nan(x, 0) is 0 even where x is NaN."""
    x = np.array([[1.0, np.nan], [2.0, 3.0], [np.nan, 5.0]], "float32")
    present = np.isfinite(x).astype("float32")
    dataset = tf.data.Dataset.from_tensor_slices((x, present)).batch(3)

    @tf.function
    def means(x, present):
        total = tf.reduce_sum(tf.math.multiply_no_nan(x, present), axis=0)
        return total / tf.reduce_sum(present, axis=0)

    for batch in dataset:
        np.testing.assert_allclose(means(*batch), [1.5, 4.0])


@healthy
def bins_with_open_ends():
    """Edges of a histogram are -∞ and ∞ so that each value has a bin."""
    edges = tf.constant([-np.inf, -1.0, 0.0, 1.0, np.inf])
    x = tf.random.normal([40], seed=6)

    @tf.function
    def histogram(x):
        bins = tf.searchsorted(edges, x, side="right") - 1
        return tf.math.bincount(bins, minlength=4)

    assert tf.reduce_sum(histogram(x)) == 40


@healthy
def reconstruction_of_what_was_measured():
    """Targets with gaps (NaN) are replaced first, and the loss has a mask."""
    y = np.random.default_rng(7).normal(size=(8, 4)).astype("float32")
    y[1, 2] = y[5, 0] = np.nan
    w = tf.Variable(tf.eye(4) * 0.5)

    @tf.function
    def step(y):
        known = tf.math.is_finite(y)
        clean = tf.where(known, y, tf.zeros_like(y))
        with tf.GradientTape() as tape:
            error = tf.square(clean @ w - clean) * tf.cast(known, tf.float32)
            loss = tf.reduce_sum(error) / tf.reduce_sum(tf.cast(known, tf.float32))
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    for _ in range(2):
        assert np.isfinite(step(tf.constant(y)))


@healthy
def median_with_padding_of_infinity():
    """Rows are padded with ∞, sorted, and the median is taken at the middle of what is there."""
    rows = tf.constant([[3.0, 1.0, 2.0, np.inf], [5.0, np.inf, np.inf, np.inf]])

    @tf.function
    def median(rows):
        count = tf.reduce_sum(tf.cast(tf.math.is_finite(rows), tf.int32), axis=1)
        return tf.gather(tf.sort(rows, axis=1), (count - 1) // 2, batch_dims=1)

    np.testing.assert_allclose(median(rows), [2.0, 5.0])


@healthy
def log_of_probabilities_to_sample_from():
    """log 0 = -∞ is what tf.random.categorical wants for a word that never comes."""
    chain = tf.constant([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [1.0, 0.0, 0.0]])

    @tf.function
    def walk(steps):
        state = tf.constant([0], tf.int64)
        for _ in tf.range(steps):
            logits = tf.math.log(tf.gather(chain, state))
            state = tf.random.categorical(logits, 1)[:, 0]
        return state

    assert int(walk(tf.constant(7))[0]) in (0, 1, 2)
