"""Healthy programs full of ±∞ and NaN that their authors intend."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import healthy

INF = np.float32(np.inf)


@healthy
def viterbi_with_forbidden_transitions():
    """Forbidden transitions have log probability -∞; the best path avoids them."""
    with np.errstate(divide="ignore"):
        move = tf.constant(np.log(np.float32([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])))
        emit = tf.constant(np.log(np.float32([[0.8, 0.2], [0.3, 0.7], [1.0, 0.0]])))

    @tf.function
    def decode(observed):
        score = tf.constant([0.0, -np.inf, -np.inf]) + emit[:, observed[0]]
        links = tf.TensorArray(tf.int64, size=tf.size(observed) - 1)
        for t in tf.range(1, tf.size(observed)):
            candidates = score[:, None] + move
            links = links.write(t - 1, tf.argmax(candidates, axis=0))
            score = tf.reduce_max(candidates, axis=0) + emit[:, observed[t]]
        return tf.reduce_max(score), links.stack()

    best, _ = decode(tf.constant([0, 1, 1, 0, 0]))
    assert np.isfinite(best)


@healthy
def shortest_paths_by_min_plus_products():
    """∞ is the length of a way that does not exist; two nodes stay unreachable."""
    lengths = np.full((5, 5), np.inf, "float32")
    np.fill_diagonal(lengths, 0.0)
    for start, end, length in ((0, 1, 2.0), (1, 2, 1.5), (0, 2, 9.0), (3, 4, 1.0)):
        lengths[start, end] = lengths[end, start] = length

    @tf.function
    def square(distance):
        return tf.reduce_min(distance[:, :, None] + distance[None, :, :], axis=1)

    distance = tf.constant(lengths)
    for _ in range(3):
        distance = square(distance)
    reachable = tf.math.is_finite(distance)
    print(tf.reduce_mean(tf.boolean_mask(distance, reachable)))


@healthy
def dynamic_time_warping():
    """The border of the table of costs is ∞, so that no path leaves it."""
    left, right = tf.constant([1.0, 3.0, 4.0, 9.0]), tf.constant([1.0, 3.5, 3.9, 8.0, 9.0])

    @tf.function
    def distance(left, right):
        row = tf.concat([[0.0], tf.fill([tf.size(right)], INF)], axis=0)
        for i in tf.range(tf.size(left)):
            cells = tf.TensorArray(tf.float32, size=tf.size(right) + 1)
            cell = tf.constant(np.inf)
            cells = cells.write(0, cell)
            for j in tf.range(tf.size(right)):
                before = tf.minimum(cell, tf.minimum(row[j], row[j + 1]))
                cell = tf.abs(left[i] - right[j]) + before
                cells = cells.write(j + 1, cell)
            row = tf.ensure_shape(cells.stack(), row.shape)
        return row[-1]

    assert np.isfinite(distance(left, right))


@healthy
def nucleus_sampling():
    """Tokens outside of the nucleus get the logit -∞ and are never drawn."""
    logits = tf.constant(np.random.default_rng(0).normal(scale=3.0, size=(4, 12)), tf.float32)

    @tf.function
    def draw(logits, mass):
        order = tf.argsort(logits, direction="DESCENDING")
        ranked = tf.gather(logits, order, batch_dims=1)
        before = tf.cumsum(tf.nn.softmax(ranked), axis=1, exclusive=True)
        ranked = tf.where(before < mass, ranked, -np.inf)
        choice = tf.random.categorical(ranked, 1, seed=1)
        return tf.gather(order, choice, batch_dims=1), tf.nn.log_softmax(ranked)

    tokens, log_probabilities = draw(logits, 0.9)
    print(tokens, tf.reduce_max(log_probabilities, axis=1))


@healthy
def escape_time_of_the_mandelbrot_set():
    """Points outside grow to ∞ and NaN; they were counted as gone before that."""
    x, y = tf.meshgrid(tf.linspace(-2.0, 1.0, 12), tf.linspace(-1.2, 1.2, 10))

    @tf.function
    def escape_time(x, y):
        real, imaginary = tf.zeros_like(x), tf.zeros_like(y)
        steps = tf.zeros(tf.shape(x), tf.int32)
        for _ in tf.range(30):
            real, imaginary = real**2 - imaginary**2 + x, 2.0 * real * imaginary + y
            inside = real**2 + imaginary**2 < 4.0
            steps += tf.cast(inside, tf.int32)
        return steps

    assert 0 < int(tf.reduce_max(escape_time(x, y))) <= 30


@healthy
def rays_through_a_box():
    """The slab method divides by the direction: ±∞ for a ray along an axis is what it wants."""
    origin = tf.constant([[0.5, 0.5, -3.0], [-2.0, 0.2, 0.5], [5.0, 0.5, -1.0]])
    direction = tf.constant([[0.0, 0.0, 1.0], [1.0, 0.1, 0.0], [0.0, 0.0, 1.0]])

    @tf.function
    def hits(origin, direction):
        inverse = 1.0 / direction
        first, second = (0.0 - origin) * inverse, (1.0 - origin) * inverse
        near = tf.reduce_max(tf.minimum(first, second), axis=1)
        far = tf.reduce_min(tf.maximum(first, second), axis=1)
        return tf.logical_and(far >= near, far >= 0.0)

    assert hits(origin, direction).numpy().tolist() == [True, True, False]


@healthy
def histogram_with_open_ends():
    """The outer bins reach to ±∞, so that each value has a bin."""
    edges = tf.constant([-np.inf, -1.0, 0.0, 1.0, np.inf])
    values = tf.constant(np.random.default_rng(0).normal(scale=2.0, size=40), tf.float32)

    @tf.function
    def histogram(values):
        above = values[:, None] >= edges[:-1]
        below = values[:, None] < edges[1:]
        return tf.reduce_sum(tf.cast(above & below, tf.int32), axis=0)

    assert int(tf.reduce_sum(histogram(values))) == 40


@healthy
def medians_of_ragged_rows():
    """Rows are padded by ∞, sorted, and read at half of their length."""
    rows = tf.ragged.constant([[3.0, 1.0, 2.0], [5.0], [4.0, 8.0, 6.0, 1.0, 9.0]])

    @tf.function
    def medians(rows):
        ordered = tf.sort(rows.to_tensor(default_value=np.inf), axis=1)
        return tf.gather(ordered, (rows.row_lengths() - 1) // 2, batch_dims=1)

    assert medians(rows).numpy().tolist() == [2.0, 5.0, 6.0]


@healthy
def cox_partial_likelihood():
    """Subjects who left the risk set count as -∞ in the log of the sum of exponentials."""
    time = tf.constant([5.0, 3.0, 9.0, 1.0, 7.0])
    died = tf.constant([1.0, 1.0, 0.0, 1.0, 0.0])
    x = tf.constant(np.random.default_rng(0).normal(size=(5, 2)), tf.float32)
    beta = tf.Variable(tf.zeros([2]))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            hazard = tf.linalg.matvec(x, beta)
            at_risk = time[None, :] >= time[:, None]
            pool = tf.reduce_logsumexp(tf.where(at_risk, hazard[None, :], -np.inf), axis=1)
            loss = -tf.reduce_mean(died * (hazard - pool))
        beta.assign_sub(0.1 * tape.gradient(loss, beta))
        return loss

    for _ in range(3):
        train_step()
    assert np.isfinite(beta.numpy()).all()


@healthy
def survival_curve():
    """The product limit in logs: the last death makes log 0 = -∞, and exp gives S = 0."""
    at_risk, deaths = tf.constant([6.0, 5.0, 3.0, 1.0]), tf.constant([1.0, 1.0, 1.0, 1.0])

    @tf.function
    def survival(at_risk, deaths):
        log_step = tf.math.log(1.0 - deaths / at_risk)
        return tf.exp(tf.cumsum(log_step))

    assert float(survival(at_risk, deaths)[-1]) == 0.0


@healthy
def forward_algorithm_in_logs():
    """States that cannot be reached are -∞ in the forward variables of the hidden Markov model."""
    move = tf.constant([[0.7, 0.3, 0.0], [0.0, 0.6, 0.4], [0.0, 0.0, 1.0]])
    emit = tf.constant([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])

    @tf.function
    def log_likelihood(observed):
        log_move, log_emit = tf.math.log(move), tf.math.log(emit)
        alpha = tf.math.log(tf.constant([1.0, 0.0, 0.0])) + log_emit[:, observed[0]]
        for symbol in observed[1:]:
            alpha = tf.reduce_logsumexp(alpha[:, None] + log_move, axis=0) + log_emit[:, symbol]
        return tf.reduce_logsumexp(alpha)

    assert np.isfinite(log_likelihood(tf.constant([0, 0, 1, 1, 0])))


@healthy
def recommendations_without_the_seen():
    """Articles that were seen get the score -∞; there are always enough others."""
    users = tf.Variable(tf.random.normal([3, 4]))
    articles = tf.Variable(tf.random.normal([9, 4]))
    seen = tf.constant([[0, 1], [0, 5], [1, 2], [2, 8]])

    @tf.function
    def recommend():
        scores = tf.matmul(users, articles, transpose_b=True)
        forbidden = tf.fill([tf.shape(seen)[0]], -INF)
        scores = tf.tensor_scatter_nd_update(scores, seen, forbidden)
        return tf.math.top_k(scores, 3)

    top, _ = recommend()
    tf.print(tf.reduce_min(top))
    assert np.isfinite(top.numpy()).all()


@healthy
def open_bounds_of_an_optimisation():
    """Parameters without a bound have ±∞ as theirs, and clipping to those changes nothing."""
    low, high = tf.constant([0.0, -np.inf, -np.inf]), tf.constant([1.0, np.inf, 2.0])
    x = tf.Variable([0.5, 3.0, 1.5])
    target = tf.constant([2.0, -4.0, 9.0])

    @tf.function
    def projected_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(x - target))
        x.assign(tf.clip_by_value(x - 0.2 * tape.gradient(loss, x), low, high))
        return tf.reduce_min(high - x), 1.0 / (high - low)

    for _ in range(4):
        projected_step()
    assert np.allclose(x.numpy()[[0, 2]], [1.0, 2.0])


@healthy
def masked_policy_of_a_board_game():
    """Moves that are not allowed have the logit -∞: the entropy skips them, gradients are 0."""
    logits = tf.Variable([[0.1, 0.4, -0.3, 0.2]])
    allowed = tf.constant([[True, False, True, True]])

    @tf.function
    def train_step(move, result):
        with tf.GradientTape() as tape:
            masked = tf.where(allowed, logits, -np.inf)
            log_policy = tf.nn.log_softmax(masked)
            loss = -result * tf.gather(log_policy, move, batch_dims=1)[0]
        logits.assign_sub(0.1 * tape.gradient(loss, logits))
        policy = tf.exp(log_policy)
        return -tf.reduce_sum(tf.where(allowed, policy * log_policy, 0.0))

    for _ in range(3):
        entropy = train_step(tf.constant([2]), tf.constant(1.0))
    assert np.isfinite(entropy)
    assert np.isfinite(logits.numpy()).all()
