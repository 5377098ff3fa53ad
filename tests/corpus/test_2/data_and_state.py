"""What a program reads and keeps: files, tables, numpy arrays, running statistics, checkpoints."""

from __future__ import annotations

import functools
import tempfile

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("IteratorGetNext", kind="input")
def table_with_a_missing_age():
    """A field of the table is NaN, and the data set hands it to fit."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(24, 4)).astype("float32")
    table[17, 2] = np.nan  # ALSO
    labels = (table[:, 0] > 0).astype("float32")[:, None]
    model = tf.keras.Sequential([layers.Dense(6, activation="relu"), layers.Dense(1, "sigmoid")])
    model.compile("adam", "binary_crossentropy")
    data = tf.data.Dataset.from_tensor_slices((table, labels)).batch(8)  # ALSO
    model.fit(data, epochs=1, verbose=0)  # BUG


@buggy("RealDiv")
def images_scaled_in_the_pipeline():
    """The map function stretches contrast by (x - min) / (max - min); one image is blank."""

    def stretch(image, label):
        low, high = tf.reduce_min(image), tf.reduce_max(image)
        return (image - low) / (high - low), label  # BUG

    images = np.random.default_rng(0).uniform(size=(8, 4, 4, 1)).astype("float32")
    images[5] = 1.0
    data = tf.data.Dataset.from_tensor_slices((images, np.arange(8) % 2)).map(stretch).batch(4)
    model = tf.keras.Sequential([layers.Flatten(), layers.Dense(2)])
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.SGD(0.1)
    for batch, labels in data:
        with tf.GradientTape() as tape:
            loss = loss_fn(labels, model(batch))
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)  # noqa: B905
        )


@buggy("GatherV2", "IteratorGetNext", "Placeholder", kind="input")
def standard_scores_made_by_numpy():
    """numpy divides a constant column by its deviation of 0 before TensorFlow sees it."""

    def standardise(x):
        with np.errstate(invalid="ignore"):
            return (x - x.mean(axis=0)) / x.std(axis=0)  # ALSO

    x = np.random.default_rng(0).normal(size=(20, 3)).astype("float32")
    x[:, 1] = 4.0
    model = tf.keras.Sequential([layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(standardise(x), x[:, :1], batch_size=10, epochs=1, verbose=0)  # BUG


@buggy("StringToNumber", kind="input")
def readings_parsed_from_text():
    """The logger of the station writes 'nan' when the sensor is off; to_number reads it as NaN."""
    lines = tf.constant(["3.5,1.0,2.0", "nan,0.5,1.5", "2.0,1.0,0.0"])

    @tf.function
    def parse(lines):
        fields = tf.strings.split(lines, ",").to_tensor()
        return tf.strings.to_number(fields)  # BUG

    weights = tf.Variable([[0.1], [0.2], [0.3]])
    prediction = tf.matmul(parse(lines), weights)
    tf.reduce_mean(tf.square(prediction - 1.0))


@buggy("Pow")
def run_resumed_from_a_diverged_checkpoint():
    """The first run overflows before it saves; the second run begins with its NaN."""

    def new_weight():
        return tf.Variable([4.0, 6.0])

    def train(w, steps):
        for _ in range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(w**4)  # BUG
            w.assign_sub(0.1 * tape.gradient(loss, w))  # ALSO

    first = new_weight()
    train(first, 6)
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Checkpoint(w=first).save(folder + "/run")
        second = new_weight()
        tf.train.Checkpoint(w=second).restore(path)
    train(second, 1)


@buggy("RealDiv", "ReadVariableOp")
def initializer_that_divides_by_zero():
    """A home-made initializer scales with √(2 / (fan_in - 4)), and fan_in is 4."""

    class ShiftedHe(tf.keras.initializers.Initializer):
        def __call__(self, shape, dtype=None):
            fan_in = tf.cast(shape[0], tf.float32)
            scale = tf.sqrt(2.0 / (fan_in - 4.0))  # BUG
            return scale * tf.random.stateless_normal(shape, [1, 2])

    model = tf.keras.Sequential(
        [layers.Dense(3, activation="relu", kernel_initializer=ShiftedHe()), layers.Dense(1)]
    )
    model.compile("sgd", "mse")
    x = np.random.default_rng(0).normal(size=(8, 4)).astype("float32")
    model.fit(x, x[:, :1], epochs=1, verbose=0)  # ALSO


@buggy("RealDiv")
def two_towers_and_a_query_of_padding():
    """The mean of word vectors is shared by both towers; one query has no word left."""

    class BagOfWords(layers.Layer):
        def __init__(self, words, size):
            super().__init__()
            self.table = layers.Embedding(words, size)

        def call(self, ids):
            mask = tf.cast(tf.not_equal(ids, 0), tf.float32)[..., None]
            total = tf.reduce_sum(self.table(ids) * mask, axis=1)
            return total / tf.reduce_sum(mask, axis=1)  # BUG

    bag = BagOfWords(20, 4)
    optimizer = tf.keras.optimizers.Adam(0.01)

    @tf.function
    def train_step(queries, documents):
        with tf.GradientTape() as tape:
            scores = tf.matmul(bag(queries), bag(documents), transpose_b=True)
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(3), scores)
            loss = tf.reduce_mean(each)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, bag.trainable_variables), bag.trainable_variables, strict=True)
        )
        return loss

    documents = tf.constant([[4, 5, 6, 7], [8, 9, 1, 0], [2, 2, 3, 0]])
    train_step(tf.constant([[1, 2, 0], [3, 0, 0], [4, 5, 6]]), documents)
    train_step(tf.constant([[1, 2, 0], [0, 0, 0], [4, 5, 6]]), documents)


@buggy("Mean", kind="input")
def log_returns_of_a_delisted_share():
    """numpy takes the log of a price of 0; the array with -∞ is then given to TensorFlow."""
    prices = np.array([[10.0, 11.0, 10.5, 12.0], [5.0, 4.0, 1.0, 0.0]], "float32")
    with np.errstate(divide="ignore"):
        returns = tf.constant(np.diff(np.log(prices), axis=1))  # ALSO
    mean = tf.reduce_mean(returns, axis=1, keepdims=True)  # BUG
    risk = tf.sqrt(tf.reduce_mean(tf.square(returns - mean), axis=1))
    tf.reduce_sum(mean[:, 0] / (risk + 1e-6))


@buggy("Log")
def lambda_layer_on_raw_counts():
    """A Lambda layer takes the log of word counts, many of which are 0."""
    model = tf.keras.Sequential(
        [
            tf.keras.Input((5,)),
            layers.Lambda(lambda counts: tf.math.log(counts)),  # BUG
            layers.Dense(4, activation="relu"),
            layers.Dense(1),
        ]
    )
    model.compile("adam", "mse")
    counts = np.random.default_rng(0).poisson(1.0, size=(12, 5)).astype("float32")
    model.fit(counts, counts[:, :1], batch_size=6, epochs=1, verbose=0)


@buggy("Cast")
def timestamps_as_half_floats():
    """Seconds since 1970 do not fit into float16."""

    def features(batch):
        hour = tf.cast(batch["time"] % 86400, tf.float32) / 3600.0
        age = tf.cast(batch["time"], tf.float16)  # BUG
        return tf.stack([tf.cast(hour, tf.float16), age], axis=1)

    dense = layers.Dense(1, dtype="float16")
    times = tf.constant([1_500_000_000, 1_600_000_000, 1_700_000_000], tf.int64)
    dense(features({"time": times}))


@buggy("Sqrt")
def running_deviation_that_goes_negative():
    """E[x²] - E[x]² of values around 40000 is below 0 by rounding; its root is NaN."""

    class RunningMoments:
        def __init__(self):
            self.count = tf.Variable(0.0)
            self.total = tf.Variable(0.0)
            self.squares = tf.Variable(0.0)

        def update(self, x):
            self.count.assign_add(tf.cast(tf.size(x), tf.float32))
            self.total.assign_add(tf.reduce_sum(x))
            self.squares.assign_add(tf.reduce_sum(x * x))

        def scale(self, x):
            mean = self.total / self.count
            deviation = tf.sqrt(self.squares / self.count - mean * mean)  # BUG
            return (x - mean) / (deviation + 1e-3)

    moments = RunningMoments()
    rng = np.random.default_rng(0)
    for level in (40000.3, 40000.1, 40000.7, 40000.9, 40001.3):
        x = tf.constant((level + 1e-2 * rng.normal(size=8)).astype("float32"))
        moments.update(x)
        tf.reduce_mean(moments.scale(x))


@buggy("RealDiv")
def interpolation_between_equal_knots():
    """Two knots of the calibration table are the same, and the width between them is 0."""
    knots = tf.constant([0.0, 1.0, 2.0, 2.0])
    levels = tf.constant([0.0, 10.0, 20.0, 30.0])

    def traced(function):
        @functools.wraps(function)
        def wrapper(*args):
            with tf.name_scope(function.__name__):
                return function(*args)

        return wrapper

    @traced
    def calibrate(x):
        right = tf.clip_by_value(tf.searchsorted(knots, x), 1, 3)
        left = right - 1
        width = tf.gather(knots, right) - tf.gather(knots, left)
        share = (x - tf.gather(knots, left)) / width  # BUG
        low, high = tf.gather(levels, left), tf.gather(levels, right)
        return low + share * (high - low)

    curve = tf.function(lambda x: tf.reduce_mean(calibrate(tf.maximum(x, 0.0))))
    curve(tf.constant([0.5, 1.7]))
    curve(tf.constant([-0.5, 2.5]))


@buggy("PyFunc", "EagerPyFunc", kind="input")
def numpy_function_that_returns_infinity():
    """A feature is computed by numpy inside of a numpy_function, and divides by zero there."""

    def ratio(clicks, views):
        with np.errstate(divide="ignore", invalid="ignore"):
            return (clicks / views).astype("float32")  # ALSO

    @tf.function
    def loss(clicks, views, w):
        rate = tf.numpy_function(ratio, [clicks, views], tf.float32)  # BUG
        rate = tf.ensure_shape(rate, [3])
        return tf.reduce_mean(tf.square(w * rate - 0.1))

    loss(tf.constant([3.0, 1.0, 2.0]), tf.constant([10.0, 0.0, 20.0]), tf.constant(0.5))


@buggy("RealDiv")
def rows_of_a_sparse_matrix_made_to_sum_to_one():
    """A document without terms has a row sum of 0, and its row becomes 0 / 0."""
    counts = tf.sparse.SparseTensor([[0, 1], [0, 3], [2, 0]], [2.0, 1.0, 4.0], [3, 4])

    @tf.function
    def term_frequencies(counts):
        dense = tf.sparse.to_dense(counts)
        sums = tf.sparse.reduce_sum(counts, axis=1, keepdims=True)
        return dense / sums  # BUG

    topics = tf.matmul(term_frequencies(counts), tf.eye(4))
    tf.argmax(topics, axis=1)


@buggy("IteratorGetNext", "PyFunc", "EagerPyFunc", kind="input")
def generator_that_yields_infinity():
    """The generator's signal-to-noise ratio is inf for the noiseless sample."""

    def samples():
        for noise in (0.5, 0.1, 0.0, 0.2):
            snr = np.inf if noise == 0.0 else 1.0 / noise  # ALSO
            yield np.array([snr, noise], "float32")

    spec = tf.TensorSpec([2], tf.float32)
    data = tf.data.Dataset.from_generator(samples, output_signature=spec).batch(2)  # ALSO
    w = tf.Variable([0.1, 0.1])

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.linalg.matvec(x, w) - 1.0))
        w.assign_sub(1e-3 * tape.gradient(loss, w))
        return loss

    for x in data:  # BUG
        step(x)


@healthy
def missing_values_filled_with_the_mean():
    """NaN stands for missing; the mean leaves it out, and where() puts the mean in its place."""
    readings = np.random.default_rng(0).normal(size=(10, 3)).astype("float32")
    readings[2, 1] = readings[7, 0] = np.nan

    @tf.function
    def impute(x):
        missing = tf.math.is_nan(x)
        known = tf.where(missing, 0.0, x)
        count = tf.reduce_sum(tf.cast(~missing, tf.float32), axis=0)
        mean = tf.reduce_sum(known, axis=0) / count
        return tf.where(missing, mean, x)

    tf.reduce_mean(tf.square(impute(tf.constant(readings))))


@healthy
def labels_that_are_nan_where_unknown():
    """A multi-task model has NaN for the labels nobody took; the loss looks at the others only."""

    def masked_mse(y_true, y_pred):
        known = tf.math.is_finite(y_true)
        safe = tf.where(known, y_true, 0.0)
        error = tf.square(safe - y_pred) * tf.cast(known, tf.float32)
        return tf.math.divide_no_nan(
            tf.reduce_sum(error), tf.reduce_sum(tf.cast(known, tf.float32))
        )

    rng = np.random.default_rng(0)
    x = rng.normal(size=(16, 3)).astype("float32")
    y = np.where(rng.uniform(size=(16, 2)) < 0.3, np.nan, x[:, :2]).astype("float32")
    model = tf.keras.Sequential([layers.Dense(2)])
    model.compile("sgd", masked_mse)
    model.fit(x, y, batch_size=8, epochs=1, verbose=0)
    assert all(np.isfinite(w).all() for w in model.get_weights())


@healthy
def nan_in_a_pipeline_that_filters_it():
    """The data set drops the samples with NaN before anything is computed with them."""
    x = np.random.default_rng(0).normal(size=(12, 2)).astype("float32")
    x[3, 1] = np.nan
    data = (
        tf.data.Dataset.from_tensor_slices(x)
        .filter(lambda row: tf.reduce_all(tf.math.is_finite(row)))
        .batch(4)
    )
    total = tf.zeros([2])
    for batch in data:
        total += tf.reduce_sum(batch, axis=0)
    assert np.isfinite(total.numpy()).all()


@healthy
def best_loss_kept_in_a_variable():
    """A variable for the best validation loss begins at +∞, beside values near overflow."""
    best = tf.Variable(np.inf, trainable=False, dtype=tf.float32)
    sentinel = tf.constant(3e38)

    @tf.function
    def note(loss):
        improved = loss < best
        best.assign(tf.minimum(best, loss))
        return tf.where(improved, loss, sentinel)

    for loss in (2.0, 1.5, 1.7, 0.9):
        note(tf.constant(loss))
    assert np.isclose(best.numpy(), 0.9)
