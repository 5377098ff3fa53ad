"""Masks, sentinels and branches that are computed but not chosen."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Sub")
def stable_softmax_of_a_padded_sequence():
    """A softmax that subtracts the maximum; a sequence is nothing but padding: -∞ minus -∞."""

    class Pooling(tf.keras.layers.Layer):
        def build(self, shape):
            self.query = self.add_weight(shape=(shape[-1],), name="query")

        def call(self, x, lengths):
            scores = tf.linalg.matvec(x, self.query)
            valid = tf.sequence_mask(lengths, tf.shape(x)[1])
            scores = tf.where(valid, scores, -np.inf)
            shifted = scores - tf.reduce_max(scores, axis=1, keepdims=True)  # BUG
            e = tf.exp(shifted)
            weights = e / tf.reduce_sum(e, axis=1, keepdims=True)
            return tf.einsum("bt,btd->bd", weights, x)

    pool = Pooling()
    run = tf.function(pool)
    x = tf.random.normal([3, 4, 2])
    run(x, tf.constant([4, 2, 1]))
    run(x, tf.constant([3, 0, 4]))


@buggy("Mul")
def self_similarity_masked_by_eye():
    """InfoNCE: eye * -inf is NaN everywhere off the diagonal."""
    w = tf.Variable(tf.random.normal([8, 4], seed=3))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            z = tf.math.l2_normalize(x @ w, axis=1)
            sim = tf.matmul(z, z, transpose_b=True) / 0.1
            mask = tf.eye(6) * -np.inf  # BUG
            logits = sim + mask
            positives = tf.constant([3, 4, 5, 0, 1, 2])
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(positives, logits))
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    step(tf.random.normal([6, 8], seed=1))


@buggy("Mul")
def entropy_of_illegal_moves():
    """Illegal moves have a logit of -∞ and a log probability of -∞; times p = 0 it is NaN."""
    legal = tf.constant([[True, True, False], [True, False, False]])
    policy = tf.Variable(tf.zeros([2, 3]))

    @tf.function
    def update(advantage):
        with tf.GradientTape() as tape:
            logits = tf.where(legal, policy, -np.inf)
            p, log_p = tf.nn.softmax(logits), tf.nn.log_softmax(logits)
            entropy = -tf.reduce_sum(p * log_p, axis=1)  # BUG
            loss = -tf.reduce_mean(log_p[:, 0] * advantage + 0.01 * entropy)
        policy.assign_sub(0.1 * tape.gradient(loss, policy))

    update(tf.constant([1.0, -0.5]))


@healthy
def ray_misses_the_sphere():
    """where(disc > 0, sqrt(disc), 0): backward, SqrtGrad gives 0 for NaN times 0; XLA, NaN."""
    radius = tf.Variable(1.0)
    origins = tf.constant([[0.0, 0.2], [0.0, 0.9], [0.0, 1.4]])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            disc = radius**2 - origins[:, 1] ** 2
            half = tf.where(disc > 0, tf.sqrt(disc), 0.0)
            loss = tf.reduce_mean((2.0 * half - 1.0) ** 2)
        radius.assign_sub(0.1 * tape.gradient(loss, radius))
        return loss

    train_step()
    train_step()


@buggy("Pow")
def signed_power_with_where():
    """Companding with x ** 0.3 for positive x, the other branch hides NaN of negative x; fit."""

    class Compand(tf.keras.layers.Layer):
        def call(self, x):
            return tf.where(x > 0, tf.pow(x, 0.3), 0.1 * x)  # BUG

    rng = np.random.default_rng(10)
    x = rng.normal(size=(16, 3)).astype("float32")
    model = tf.keras.Sequential(
        [tf.keras.Input((3,)), tf.keras.layers.Dense(4), Compand(), tf.keras.layers.Dense(1)]
    )
    model.compile("sgd", "mse")
    model.fit(x, x[:, :1], batch_size=8, epochs=1, verbose=0)


@buggy("Mul")
def sentinel_times_mask():
    """Scores of unavailable items are set to -∞, and then weighted by a mask of zeros; eager."""
    scores = tf.constant([0.3, 0.9, 0.1, 0.5])
    stock = tf.constant([1.0, 0.0, 2.0, 0.0])
    available = tf.cast(stock > 0, tf.float32)
    ranked = tf.where(stock > 0, scores, tf.constant(float("-inf")))
    weighted = ranked * available  # BUG
    tf.argmax(weighted)
    tf.reduce_sum(weighted)


@buggy("RealDiv")
def inverted_dropout_that_keeps_nothing():
    """A dropout rate is annealed up to 1: the kept activations are divided by 1 - rate = 0."""
    w = tf.Variable(tf.ones([4, 4]) * 0.1)

    @tf.function
    def step(x, rate):
        with tf.GradientTape() as tape:
            h = tf.nn.relu(x @ w)
            keep = 1.0 - rate
            mask = tf.cast(tf.random.uniform(tf.shape(h)) < keep, tf.float32)
            h = h * mask / keep  # BUG
            loss = tf.reduce_mean((tf.reduce_sum(h, axis=1) - 1.0) ** 2)
        w.assign_sub(0.01 * tape.gradient(loss, w))

    for rate in (0.0, 0.25, 0.5, 0.75, 1.0):
        step(tf.ones([2, 4]), tf.constant(rate))


@healthy
def top_k_sampling():
    """All logits but the best three are -∞ before they are sampled."""
    logits = tf.random.normal([2, 10], seed=4)

    @tf.function
    def sample(logits):
        kth = tf.math.top_k(logits, 3).values[:, -1:]
        kept = tf.where(logits >= kth, logits, tf.fill(tf.shape(logits), -np.inf))
        return tf.nn.softmax(kept), tf.random.categorical(kept, 4)

    p, _ = sample(logits)
    np.testing.assert_allclose(tf.reduce_sum(p, axis=1), 1.0, rtol=1e-5)
    assert (tf.math.count_nonzero(p, axis=1).numpy() == 3).all()


@healthy
def nucleus_sampling():
    """Top-p: sorted probabilities beyond p get -∞, in an eager loop that decodes words."""
    table = tf.random.normal([8, 8], seed=5)
    word = tf.constant([2])
    for _ in range(3):
        logits = tf.gather(table, word)
        order = tf.argsort(logits, direction="DESCENDING")
        ranked = tf.gather(logits, order, batch_dims=1)
        before = tf.cumsum(tf.nn.softmax(ranked), axis=1, exclusive=True)
        kept = tf.where(before < 0.7, ranked, float("-inf"))
        pick = tf.random.categorical(kept, 1, dtype=tf.int32)
        word = tf.gather(order, pick, batch_dims=1)[:, 0]


@healthy
def attention_with_a_mask_in_fit():
    """Custom attention layer with -∞ for padding, in fit; each row has a word."""

    class Attend(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.q, self.k = tf.keras.layers.Dense(4), tf.keras.layers.Dense(4)

        def call(self, x):
            pad = tf.reduce_all(tf.equal(x, 0.0), axis=-1)
            bias = tf.where(pad, tf.constant(-np.inf), tf.constant(0.0))[:, None, :]
            scores = tf.matmul(self.q(x), self.k(x), transpose_b=True) / 2.0
            return tf.matmul(tf.nn.softmax(scores + bias), x)

    x = np.random.default_rng(3).normal(size=(12, 5, 3)).astype("float32")
    for i in range(12):
        x[i, 1 + i % 5 :] = 0.0
    pool = tf.keras.layers.GlobalAveragePooling1D()
    model = tf.keras.Sequential([Attend(), pool, tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    history = model.fit(x, x[:, 0, :1], batch_size=4, epochs=1, verbose=0)
    assert np.isfinite(history.history["loss"]).all()


@healthy
def blocks_with_a_running_maximum():
    """Attention block by block: the running maximum starts as -∞ and exp(-∞) drops the zeros."""
    q, k, v = tf.unstack(tf.random.normal([3, 6, 4], seed=7))

    @tf.function
    def attend(q, k, v):
        top = tf.fill([6, 1], -np.inf)
        total, out = tf.zeros([6, 1]), tf.zeros([6, 4])
        for start in tf.range(0, 6, 2):
            scores = tf.matmul(q, k[start : start + 2], transpose_b=True)
            new = tf.maximum(top, tf.reduce_max(scores, axis=1, keepdims=True))
            scale = tf.exp(top - new)
            e = tf.exp(scores - new)
            total = total * scale + tf.reduce_sum(e, axis=1, keepdims=True)
            out = out * scale + tf.matmul(e, v[start : start + 2])
            top = new
        return out / total

    expected = tf.nn.softmax(tf.matmul(q, k, transpose_b=True)) @ v
    np.testing.assert_allclose(attend(q, k, v), expected, rtol=1e-4, atol=1e-5)


@healthy
def logarithm_hidden_forward_only():
    """Decibels of a spectrum with silent bins; where() replaces -∞, and nobody differentiates."""
    power = tf.constant([[1.0, 0.0, 0.25], [0.0, 0.0, 4.0]])

    @tf.function
    def decibels(power):
        return tf.where(power > 0, 10.0 * tf.math.log(power) / np.log(10.0), -120.0)

    assert np.isfinite(decibels(power)).all()


@healthy
def thresholded_softplus_for_prediction():
    """where(x > 30, x, log(1 + exp(x))): exp overflows in the branch that is not taken."""
    x = tf.constant([-200.0, 0.0, 29.0, 200.0])
    softplus = tf.function(lambda x: tf.where(x > 30.0, x, tf.math.log(1.0 + tf.exp(x))))
    assert np.isfinite(softplus(x)).all()


@healthy
def untried_arms_first():
    """Upper confidence bounds: an arm without a pull has a bound of ∞, so argmax takes it."""
    means = tf.constant([0.3, 0.6, 0.5])
    pulls = tf.Variable([0.0, 0.0, 0.0])

    @tf.function
    def choose(t):
        bonus = tf.sqrt(2.0 * tf.math.log(t) / tf.maximum(pulls, 1.0))
        bound = tf.where(pulls > 0, means + bonus, np.inf)
        arm = tf.argmax(bound)
        pulls.scatter_nd_add([[arm]], [1.0])
        return arm

    arms = [int(choose(tf.constant(float(t)))) for t in range(2, 8)]
    assert arms[:3] == [0, 1, 2]
