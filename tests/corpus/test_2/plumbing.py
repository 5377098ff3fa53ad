"""Programs in which bad values, or values that only look bad, travel a long way."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("Log")
def filter_in_a_scan():
    """A belief that is multiplied by small likelihoods underflows to 0 in the body of a scan."""
    likelihoods = tf.constant(np.full((14, 2), [1e-5, 1e-4]), tf.float32)

    def surprise(belief):
        return -tf.math.log(belief)  # BUG

    @tf.function
    def update(belief, likelihood):
        return belief * likelihood

    @tf.function
    def run(likelihoods):
        def step(state, likelihood):
            belief = update(state[0], likelihood)
            return belief, surprise(belief)

        start = (tf.constant([0.5, 0.5]), tf.zeros([2]))
        return tf.reduce_mean(tf.scan(step, likelihoods, start)[1])

    print(run(likelihoods))


@buggy("RealDiv")
def statistics_read_some_steps_later():
    """A user without ratings gets the mean 0/0 in the first step; only the fifth batch reads it."""
    means = tf.Variable(tf.zeros([5]), trainable=False)
    bias = tf.Variable(tf.zeros([5]))

    @tf.function
    def fit_means(users, ratings):
        total = tf.math.unsorted_segment_sum(ratings, users, 5)
        count = tf.math.unsorted_segment_sum(tf.ones_like(ratings), users, 5)
        means.assign(total / count)  # BUG

    @tf.function
    def train_step(users, ratings):
        with tf.GradientTape() as tape:
            predicted = tf.gather(means, users) + tf.gather(bias, users)
            loss = tf.reduce_mean(tf.square(predicted - ratings))
        bias.assign_sub(0.1 * tf.convert_to_tensor(tape.gradient(loss, bias)))
        return loss

    fit_means(tf.constant([0, 1, 1, 2, 4]), tf.constant([3.0, 4.0, 5.0, 1.0, 2.0]))
    for users in ([0, 1], [2, 4], [1, 1], [0, 2], [3, 1]):
        train_step(tf.constant(users), tf.constant([3.0, 2.0]))


@buggy("Mul", kind="input")
def weights_computed_in_numpy():
    """The counts go to numpy, where log(n/0) is ∞, and the weights come back to TensorFlow."""
    documents = tf.constant([[2.0, 0.0, 1.0], [0.0, 0.0, 3.0], [1.0, 0.0, 0.0]])
    appears = tf.reduce_sum(tf.cast(documents > 0.0, tf.float32), axis=0).numpy()
    with np.errstate(divide="ignore"):
        rarity = np.log(3.0 / appears).astype("float32")  # ALSO
    weighted = documents * tf.constant(rarity)  # BUG
    model = tf.keras.Sequential([layers.Dense(2, activation="relu"), layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(weighted, np.ones((3, 1), "float32"), epochs=1, verbose=0)


@buggy("PyFunc", "EagerPyFunc")
def numpy_function_in_the_loss():
    """A numpy function inside of the graph divides by the standard deviation of equal values."""

    def z_scores(values):
        with np.errstate(invalid="ignore"):
            return (values - values.mean()) / values.std()  # ALSO

    weight = tf.Variable(1.0)

    @tf.function
    def train_step(x, reward):
        score = tf.numpy_function(z_scores, [reward], tf.float32)  # BUG
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(weight * x - score))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))
        return loss

    train_step(tf.constant([1.0, 2.0, 3.0]), tf.constant([0.0, 1.0, 5.0]))
    train_step(tf.constant([1.0, 2.0, 3.0]), tf.constant([2.0, 2.0, 2.0]))


@buggy("StringToNumber", kind="input")
def measurements_parsed_from_text():
    """One sensor wrote "nan" into the file, and the parser takes that for a number."""
    lines = tf.constant(["1.0;0.5;2", "2.5;1.5;3", "1.5;nan;4", "0.5;0.0;1"])
    weight = tf.Variable(tf.zeros([2, 1]))

    @tf.function
    def train_step(batch):
        fields = tf.strings.split(batch, ";").to_tensor()
        numbers = tf.strings.to_number(fields)  # BUG
        x, y = numbers[:, :2], numbers[:, 2:]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, weight) - y))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))

    for start in (0, 2, 0):
        train_step(lines[start : start + 2])


@buggy("RealDiv")
def normalised_in_the_input_pipeline():
    """The map of the data set divides each row by its largest value, and one row is all zeros."""
    rows = np.array([[1, 2, 4], [3, 1, 0], [0, 0, 0], [5, 5, 1]], "float32")

    def normalise(row):
        return row / tf.reduce_max(row)  # BUG

    data = tf.data.Dataset.from_tensor_slices(rows).map(normalise).batch(2)
    weight = tf.Variable(tf.ones([3, 1]))

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, weight) - 1.0))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))

    for x in data:  # ALSO
        train_step(x)


@buggy("RealDiv")
def custom_gradient_of_unit_length():
    """The custom gradient is scaled to length 1; where nothing flows back its length is 0."""

    @tf.custom_gradient
    def unit_gradient(x):
        def backward(upstream):
            length = tf.sqrt(tf.reduce_sum(tf.square(upstream), axis=-1, keepdims=True))
            return upstream / length  # BUG

        return tf.identity(x), backward

    weight = tf.Variable([[1.0, 0.5], [0.5, 1.0]])
    x = tf.constant([[1.0, 1.0], [2.0, -3.0], [-1.0, -1.0]])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            hidden = unit_gradient(tf.matmul(x, weight))
            loss = tf.reduce_sum(tf.nn.relu(hidden))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))  # ALSO

    train_step()


@buggy("Rsqrt")
def restored_from_a_checkpoint():
    """The whitening of a constant feature is 1/√0; it is saved, and restored by the scorer."""

    class Whitening(tf.Module):
        def __init__(self):
            super().__init__()
            self.mean = tf.Variable(tf.zeros([3]), trainable=False)
            self.factor = tf.Variable(tf.ones([3]), trainable=False)

        def fit(self, x):
            self.mean.assign(tf.reduce_mean(x, axis=0))
            self.factor.assign(tf.math.rsqrt(tf.math.reduce_variance(x, axis=0)))  # BUG

        @tf.function
        def __call__(self, x):
            return (x - self.mean) * self.factor

    fitted, scorer = Whitening(), Whitening()
    fitted.fit(tf.constant([[1.0, 7.0, 2.0], [2.0, 7.0, 0.0], [4.0, 7.0, 1.0]]))
    with tempfile.TemporaryDirectory() as directory:
        path = tf.train.Checkpoint(model=fitted).write(str(Path(directory) / "whitening"))
        tf.train.Checkpoint(model=scorer).read(path).assert_consumed()
    print(tf.reduce_mean(scorer(tf.constant([[1.0, 7.0, 1.0]]))))


@buggy("Pow")
def curvature_of_a_fractional_power():
    """The first derivative of x^1.5 is 0 at 0; the second is 0.75·x^-0.5 = ∞."""
    x = tf.Variable([1.0, 0.0, 4.0])

    @tf.function
    def newton_step():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = tf.reduce_sum(tf.pow(x, 1.5) + 0.1 * x)  # ALSO
            slope = inner.gradient(loss, x)  # ALSO
        curvature = outer.gradient(slope, x)  # BUG
        x.assign_sub(slope / (1.0 + curvature))
        return tf.reduce_max(curvature)

    print(newton_step())


@buggy("Mean")
def mean_word_vector_of_an_empty_line():
    """map_fn takes the mean of each line's vectors, and one line has no words."""
    vectors = tf.Variable(tf.random.normal([6, 2]))
    lines = tf.ragged.constant([[0, 3], [], [5, 1, 2]], dtype=tf.int32)

    def line_vector(words):
        return tf.reduce_mean(tf.gather(vectors, words), axis=0)  # BUG

    @tf.function
    def embed(lines):
        pooled = tf.map_fn(line_vector, lines, fn_output_signature=tf.float32)
        return tf.reduce_max(tf.nn.relu(pooled), axis=0)

    print(embed(lines))


@buggy("LookupTableFindV2", "Const", kind="input")
def prices_from_a_lookup_table():
    """Articles that are not in the table have the price NaN, and one of them is sold."""
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["bread", "milk", "salt"], [2.5, 1.2, 0.4]),
        default_value=float("nan"),  # ALSO
    )
    income = tf.Variable(0.0)

    @tf.function
    def sell(articles, amounts):
        prices = table.lookup(articles)  # BUG
        income.assign_add(tf.reduce_sum(prices * amounts))
        return income.read_value()

    sell(tf.constant(["milk", "salt"]), tf.constant([2.0, 1.0]))
    sell(tf.constant(["bread", "sugar"]), tf.constant([1.0, 1.0]))
    print(sell(tf.constant(["salt"]), tf.constant([3.0])))


@buggy("RealDiv", "QueueDequeueV2")
def features_from_a_worker_thread():
    """A thread normalises the samples and puts them into a queue; one sample is flat."""
    queue = tf.queue.FIFOQueue(8, [tf.float32], shapes=[(4,)])

    def produce():
        for row in ([1.0, 2.0, 3.0, 4.0], [5.0, 5.0, 5.0, 5.0], [0.0, 1.0, 0.0, 1.0]):
            x = tf.constant(row)
            low, high = tf.reduce_min(x), tf.reduce_max(x)
            queue.enqueue((x - low) / (high - low))  # BUG

    worker = threading.Thread(target=produce)
    worker.start()
    worker.join()
    model = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(1)])
    for _ in range(3):
        sample = queue.dequeue()  # ALSO
        model(sample[None])


@healthy
def missing_values_through_a_keras_fit():
    """NaN marks a missing target; a loss with a mask on both sides never lets it through."""

    def masked_mse(y, predicted):
        known = tf.logical_not(tf.math.is_nan(y))
        error = tf.where(known, y, 0.0) - tf.where(known, predicted, 0.0)
        return tf.reduce_sum(tf.square(error)) / tf.reduce_sum(tf.cast(known, tf.float32))

    x = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
    y = x[:, :2].copy()
    y[::3, 0], y[1::4, 1] = np.nan, np.nan
    model = tf.keras.Sequential([layers.Dense(4, activation="tanh"), layers.Dense(2)])
    model.compile(tf.keras.optimizers.Adam(1e-2), loss=masked_mse)
    model.fit(x, y, epochs=2, batch_size=4, verbose=0)


@healthy
def padded_with_nan_and_unpadded():
    """Series of several lengths are padded by NaN in the pipeline, and the pads are masked out."""
    series = [[1.0, 2.0, 3.0], [4.0], [5.0, 6.0]]
    data = tf.data.Dataset.from_generator(
        lambda: iter(series), output_signature=tf.TensorSpec([None], tf.float32)
    ).padded_batch(2, padding_values=np.float32(np.nan))
    total, count = tf.Variable(0.0), tf.Variable(0.0)

    @tf.function(reduce_retracing=True)
    def observe(batch):
        values = tf.boolean_mask(batch, tf.logical_not(tf.math.is_nan(batch)))
        total.assign_add(tf.reduce_sum(values))
        count.assign_add(tf.cast(tf.size(values), tf.float32))

    for batch in data:
        observe(batch)
    assert float(total / count) == 3.5


@healthy
def running_range_of_a_layer():
    """The observed minimum starts at ∞ and the maximum at -∞; both are replaced at once."""

    class Range(layers.Layer):
        def build(self, shape):
            start = tf.keras.initializers.Constant
            self.low = self.add_weight(shape=shape[-1:], initializer=start(np.inf), trainable=False)
            self.high = self.add_weight(
                shape=shape[-1:], initializer=start(-np.inf), trainable=False
            )

        def call(self, x):
            self.low.assign(tf.minimum(self.low, tf.reduce_min(x, axis=0)))
            self.high.assign(tf.maximum(self.high, tf.reduce_max(x, axis=0)))
            return (x - self.low) / (self.high - self.low + 1e-3)

    x = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
    model = tf.keras.Sequential([Range(), layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(x, np.ones((8, 1), "float32"), batch_size=4, epochs=1, verbose=0)


@healthy
def bad_gradients_dropped_before_the_average():
    """The gradient of a broken sample is replaced by zeros, and only the good ones are counted."""
    weight = tf.Variable([1.0, 1.0])

    @tf.function
    def train_step(samples, targets):
        def gradient_of(sample):
            x, y = sample
            with tf.GradientTape() as tape:
                loss = tf.square(tf.reduce_sum(weight * x) - y)
            return tape.gradient(loss, weight)

        gradients = tf.map_fn(gradient_of, (samples, targets), fn_output_signature=tf.float32)
        good = tf.reduce_all(tf.math.is_finite(gradients), axis=1)
        clean = tf.where(good[:, None], gradients, 0.0)
        share = tf.math.divide_no_nan(1.0, tf.reduce_sum(tf.cast(good, tf.float32)))
        weight.assign_sub(0.1 * share * tf.reduce_sum(clean, axis=0))

    samples = tf.constant([[1.0, 2.0], [3e38, 3e38], [0.5, 0.1]])
    for _ in range(3):
        train_step(samples, tf.constant([1.0, 1.0, 1.0]))


@healthy
def rejected_draws():
    """The polar method: draws outside of the disc are NaN by √ of a negative number, and lost."""

    @tf.function
    def gaussian(count):
        kept = tf.zeros([0])
        while tf.size(kept) < count:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(kept, tf.TensorShape([None]))]
            )
            u = tf.random.uniform([16, 2], -1.0, 1.0)
            radius = tf.reduce_sum(u * u, axis=1)
            draw = u[:, 0] * tf.sqrt(-2.0 * tf.math.log(radius) / radius)
            kept = tf.concat([kept, tf.boolean_mask(draw, radius < 1.0)], axis=0)
        return kept[:count]

    print(tf.reduce_mean(gaussian(40)))
