"""Things that go round: RNN cells, while loops, scans, filters, iterations to a fixed point."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("RealDiv")
def newton_for_a_minimum_on_a_plateau():
    """Newton's x - f'/f'' in `while_loop`; the start of the second search is where f'' is 0."""

    def slopes(x):
        return 4.0 * x**3 - 6.0 * x, 12.0 * x**2 - 12.0 * tf.abs(x)

    @tf.function
    def search(start):
        def body(i, x):
            first, second = slopes(x)
            return i + 1, x - first / second  # BUG

        return tf.while_loop(lambda i, x: i < 6, body, (0, start))[1]

    found = [search(tf.constant(start)) for start in (2.0, 1.0)]
    print(float(tf.reduce_min(tf.stack(found))))


@buggy("RealDiv")
def recurrent_cell_that_normalises_an_empty_state():
    """The cell divides its state by its length; at the first step the state is all zeros."""

    class UnitCell(layers.Layer):
        state_size = 4
        output_size = 4

        def build(self, shape):
            self.u = self.add_weight(shape=(4, 4), initializer="orthogonal")
            self.w = self.add_weight(shape=(shape[-1], 4))

        def call(self, x, states):
            h = states[0]
            unit = h / tf.norm(h, axis=-1, keepdims=True)  # BUG
            h = tf.tanh(x @ self.w + unit @ self.u)
            return h, [h]

    model = tf.keras.Sequential([layers.RNN(UnitCell()), layers.Dense(1)])
    model.compile("adam", "mse")
    x = np.random.default_rng(0).normal(size=(8, 5, 3)).astype("float32")
    model.fit(x, x[:, 0, :1], batch_size=4, verbose=0)


@buggy("MatMul")
def linear_recurrence_with_a_spectral_radius_of_four():
    """h ← x + hU with U = 4·1 in `tf.while_loop`: after some 60 rounds the product is ∞."""
    kernel = tf.Variable(4.0 * tf.eye(3))

    @tf.function
    def unroll(x, rounds):
        h = tf.zeros([2, 3])
        for _ in tf.range(rounds):
            h = (  # ALSO
                x + tf.matmul(h, kernel)  # BUG
            )
        return tf.reduce_mean(h)

    x = tf.constant(np.random.default_rng(1).uniform(1.0, 2.0, [2, 3]).astype("float32"))
    for rounds in (5, 10, 80):
        print(float(unroll(x, tf.constant(rounds))))


@buggy("Softmax")
def attention_over_a_document_of_padding_only():
    """Padding gets -∞, which is fine, but one document has no word: softmax of nothing but -∞."""
    query = layers.Dense(4)

    @tf.function
    def pool(words, lengths):
        scores = tf.reduce_sum(query(words) * words, axis=-1)
        scores = tf.where(tf.sequence_mask(lengths, 5), scores, -np.inf)
        weights = tf.nn.softmax(scores, axis=-1)  # BUG
        return tf.einsum("bt,btd->bd", weights, words)

    words = tf.constant(np.random.default_rng(2).normal(size=(3, 5, 4)).astype("float32"))
    for lengths in ([5, 3, 2], [4, 0, 1]):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(pool(words, tf.constant(lengths))))
        query.kernel.assign_sub(0.1 * tape.gradient(loss, query.kernel))


@buggy("Mul")
def compound_interest_by_scan():
    """`tf.scan` multiplies growth factors given in percent (105 for 1.05): overflow."""

    @tf.function
    def grow(factors):
        return tf.scan(lambda wealth, factor: wealth * factor, factors, initializer=1.0)  # BUG

    wealth = grow(tf.constant([105.0, 98.0, 110.0] * 8))
    drawdown = 1.0 - wealth / tf.math.cumulative_logsumexp(wealth)
    print(float(tf.reduce_mean(drawdown)))


@buggy("Mean")
def mean_of_an_empty_segment_by_map_fn():
    """Per user mean by `boolean_mask`; the third user has no rating: the mean of nothing."""
    bias = tf.Variable([0.1, 0.2, 0.3, 0.4])

    @tf.function
    def user_means(ratings, owner):
        def one(user):
            mine = tf.boolean_mask(ratings, tf.equal(owner, user))
            return tf.reduce_mean(mine)  # BUG

        return tf.map_fn(one, tf.range(4), fn_output_signature=tf.float32)

    ratings = tf.constant([4.0, 3.0, 5.0, 1.0, 2.0])
    for owner in ([0, 1, 2, 3, 3], [0, 1, 1, 3, 3]):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(bias - user_means(ratings, tf.constant(owner))))
        bias.assign_sub(0.5 * tape.gradient(loss, bias))


@buggy("RealDiv")
def dropout_of_everything_in_a_branch():
    """`tf.cond` for training: kept units are scaled by 1/(1-rate), and rate rises to 1."""
    weights = tf.Variable(tf.ones([4, 2]))

    @tf.function
    def layer(x, rate, training):
        def dropped():
            keep = tf.cast(tf.random.uniform(tf.shape(x)) >= rate, x.dtype)
            return x * keep / (1.0 - rate)  # BUG

        return tf.cond(training, dropped, lambda: x) @ weights

    for rate in (0.0, 0.5, 1.0):
        for training in (True, False):
            y = layer(tf.ones([3, 4]), tf.constant(rate), tf.constant(training))
            weights.assign_sub(0.01 * tf.reduce_mean(y) * weights)


@buggy("RealDiv")
def kalman_filter_of_a_perfect_sensor():
    """Gain P/(P + R): with R = 0 the first update makes P = 0, the second divides 0 by 0."""

    @tf.function
    def update(mean, variance, measured, noise):
        gain = variance / (variance + noise)  # BUG
        return mean + gain * (measured - mean), (1.0 - gain) * variance

    @tf.function
    def track(measurements, noise):
        mean, variance = tf.constant(0.0), tf.constant(1.0)
        means = tf.TensorArray(tf.float32, size=4)
        for i in tf.range(4):
            mean, variance = update(mean, variance, noise=noise, measured=measurements[i])
            means = means.write(i, mean)
        return means.stack()

    for noise in (0.5, 0.0):
        print(track(tf.constant([1.0, 1.2, 0.8, 1.1]), tf.constant(noise)).numpy())


@buggy("Square")
def explicit_euler_with_too_long_a_step():
    """y' = -y² + t stepped by 3.0: |y| squares itself every round until it is beyond float32."""

    @tf.function
    def advance(t, y, dt):
        slope = t - tf.square(y)  # BUG
        return t + dt, y + dt * slope

    t, y = tf.constant(0.0), tf.constant([1.0, 0.5])
    for _ in range(12):
        t, y = advance(t, y, dt=tf.constant(3.0))
    print(y.numpy())


@buggy("RealDiv")
def pagerank_with_a_dangling_page():
    """Columns are divided by their sums once, before the iteration; a page has no links."""
    links = np.array([[0, 1, 0, 1], [1, 0, 0, 0], [1, 1, 0, 1], [0, 1, 0, 0]], np.float32)

    def transition(adjacency):
        return adjacency / tf.reduce_sum(adjacency, axis=0, keepdims=True)  # BUG

    @tf.function
    def rank(matrix):
        r = tf.fill([4, 1], 0.25)
        return tf.while_loop(
            lambda i, r: i < 10,
            lambda i, r: (i + 1, 0.85 * matrix @ r + 0.0375),
            (0, r),
        )[1]

    print(rank(transition(tf.constant(links))).numpy())


@buggy("RealDiv")
def k_means_that_loses_a_cluster():
    """Lloyd's rounds; at the first assignment nothing is closest to the far centre: 0/0."""
    points = tf.constant(np.random.default_rng(3).normal(size=(30, 2)).astype("float32"))
    centres = tf.Variable([[0.0, 1.0], [0.5, -1.0], [40.0, 40.0]])

    @tf.function
    def lloyd():
        distance = tf.reduce_sum((points[:, None] - centres[None]) ** 2, axis=-1)
        nearest = tf.argmin(distance, axis=1)
        totals = tf.math.unsorted_segment_sum(points, nearest, 3)
        sizes = tf.math.unsorted_segment_sum(tf.ones([30]), nearest, 3)
        centres.assign(totals / sizes[:, None])  # BUG

    for _ in range(4):
        lloyd()


@buggy("Log")
def hidden_markov_forward_without_scaling():
    """Forward probabilities of 120 symbols underflow to 0 quietly; the likelihood is log 0."""
    move = tf.constant([[0.9, 0.1], [0.2, 0.8]])
    emit = tf.constant([[0.1, 0.2, 0.7], [0.3, 0.4, 0.3]])

    @tf.function
    def likelihood(symbols):
        alpha = tf.constant([0.5, 0.5])
        for symbol in symbols:
            alpha = tf.linalg.matvec(move, alpha, transpose_a=True) * emit[:, symbol]
        return tf.math.log(tf.reduce_sum(alpha))  # BUG

    for length in (10, 40, 120):
        symbols = np.random.default_rng(4).integers(0, 2, size=length)
        print(float(likelihood(tf.constant(symbols))))


@healthy
def viterbi_with_forbidden_moves():
    """log of forbidden moves is -∞ on purpose; the maximum always takes an allowed one."""
    move = tf.constant([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])
    scores = tf.random.normal([8, 3])

    @tf.function
    def viterbi(log_move):
        best = tf.zeros([3])
        for t in tf.range(8):
            best = tf.reduce_max(best[:, None] + log_move, axis=0) + scores[t]
        return tf.reduce_max(best)

    print(float(viterbi(tf.math.log(move))))


@healthy
def beam_search_with_one_live_beam():
    """All beams but the first start at -∞, so that the first step picks from one; then finite."""
    table = tf.nn.log_softmax(tf.random.normal([6, 6]))

    @tf.function
    def search():
        scores = tf.constant([0.0, -np.inf, -np.inf])
        last = tf.zeros([3], tf.int32)
        for _ in tf.range(4):
            every = tf.reshape(scores[:, None] + tf.gather(table, last), [-1])
            scores, flat = tf.math.top_k(every, 3)
            last = flat % 6
        return scores

    print(search().numpy())


@healthy
def running_minimum_from_infinity():
    """`tf.scan` for a running minimum starts at ∞; every result is a number of the series."""
    series = tf.constant([3.0, 5.0, 1.0, 2.0])
    lowest = tf.scan(tf.minimum, series, initializer=tf.constant(np.inf))
    print(float(tf.reduce_mean(series - lowest)))


@healthy
def causal_transformer_block_on_padded_text():
    """Keras attention with a causal mask and padding, three epochs of an ordinary fit."""
    inputs = tf.keras.Input((6,))
    x = layers.Embedding(10, 8, mask_zero=True)(inputs)
    y = layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)
    x = layers.LayerNormalization()(x + y)
    x = layers.Dense(10)(layers.LSTM(6)(layers.Dense(8, "gelu")(x)))
    model = tf.keras.Model(inputs, x)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(0.1, clipnorm=1.0), loss)
    tokens = np.random.default_rng(5).integers(1, 10, size=(12, 6))
    tokens[:4, 3:] = 0
    model.fit(tokens, tokens[:, 0], batch_size=4, epochs=3, verbose=0)
