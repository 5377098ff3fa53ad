"""Programs whose numbers point at an innocent op, and innocent twins of well-known bugs."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("RealDiv")
def five_zeros_and_five_nans():
    """The log of five zeros is masked well; the five NaN are a dead channel's correlations."""
    counts = tf.constant([[3.0, 0.0, 2.0, 0.0, 1.0], [0.0, 4.0, 0.0, 5.0, 0.0]])
    activity = tf.constant(np.random.default_rng(0).normal(size=(20, 3)), tf.float32)
    activity *= [1.0, 0.0, 1.0]

    @tf.function
    def report(counts, activity):
        share = counts / tf.reduce_sum(counts, axis=1, keepdims=True)
        entropy = -tf.reduce_sum(tf.math.multiply_no_nan(tf.math.log(share), share), axis=1)
        centred = activity - tf.reduce_mean(activity, axis=0)
        covariance = tf.matmul(centred, centred, transpose_a=True)
        spread = tf.sqrt(tf.linalg.diag_part(covariance))
        correlation = covariance / (spread[:, None] * spread[None, :])  # BUG
        return entropy, correlation

    print(report(counts, activity))


@buggy("Log")
def best_model_by_a_criterion():
    """The log of a negative variance estimate is NaN, and no comparison with NaN is ever true."""
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(6, 5)), tf.float32)
    y = tf.linalg.matvec(x, [1.0, 2.0, 3.0, 4.0, 5.0])
    best_score, best_size = -np.inf, None
    for size in (5, 4):
        used = x[:, :size]
        solution = tf.linalg.lstsq(used, y[:, None])
        residual = tf.reduce_sum(tf.square(tf.matmul(used, solution)[:, 0] - y))
        variance = residual / (6.0 - 2.0 * size)
        score = -3.0 * tf.math.log(variance) - size  # BUG
        if float(score) > best_score:
            best_score, best_size = float(score), size
    print(best_size, tf.constant(best_score))


@buggy("RealDiv")
def odds_of_a_certain_event():
    """p = 1 makes p/(1-p) infinite; the log keeps ∞, and the difference of two of them is NaN."""
    before = tf.constant([0.2, 0.5, 1.0, 0.9])
    after = tf.constant([0.3, 0.4, 1.0, 0.8])

    def log_odds(p):
        odds = p / (1.0 - p)  # BUG
        return tf.math.log(odds)

    @tf.function
    def effect(before, after):
        return tf.reduce_mean(log_odds(after) - log_odds(before))

    print(effect(before, after))


@buggy("Sum")
def log_sum_exp_by_hand():
    """Each exp(88) is finite, close to the largest float32; their sum is not."""
    logits = tf.Variable([[88.0, 88.2, 87.9, 88.1, 88.0], [1.0, 2.0, 3.0, 4.0, 5.0]])

    @tf.function
    def train_step(target):
        with tf.GradientTape() as tape:
            unnormalised = tf.exp(logits)
            evidence = tf.reduce_sum(unnormalised, axis=1)  # BUG
            loss = tf.math.log(evidence) - tf.gather(logits, target, batch_dims=1)
            loss = tf.reduce_mean(loss)
        logits.assign_sub(tape.gradient(loss, logits))
        return loss

    train_step(tf.constant([0, 2]))


@buggy("Sum")
def energy_in_half_precision():
    """5000 squares of about 20 are harmless in float16; their sum is above 65504."""
    signal = tf.constant(np.random.default_rng(0).normal(scale=4.5, size=(2, 5000)), tf.float16)

    @tf.function
    def normalise(signal):
        energy = tf.reduce_sum(signal * signal, axis=-1, keepdims=True)  # BUG
        return signal * tf.math.rsqrt(energy)

    print(tf.reduce_max(tf.abs(normalise(signal))))


@buggy("Log", "Reciprocal")
def certainty_rounded_in_bfloat16():
    """A probability of 0.9995 is 1 in bfloat16: the log of the rest is -∞."""
    weight = tf.Variable([[4.0], [3.6]])
    x = tf.constant([[1.0, 1.0], [0.2, 0.1], [-1.0, 0.5]])

    @tf.function
    def train_step(y):
        with tf.GradientTape() as tape:
            p = tf.sigmoid(tf.matmul(x, weight))
            p = tf.cast(p, tf.bfloat16)
            positive = y * tf.math.log(p + 1e-3)
            negative = (1.0 - y) * tf.math.log(1.0 - p)  # BUG
            loss = -tf.reduce_mean(tf.cast(positive + negative, tf.float32))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))  # ALSO

    train_step(tf.constant([[1.0], [0.0], [0.0]], tf.bfloat16))


@buggy("Sqrt")
def spread_from_two_running_sums():
    """E[x²] - E[x]² of values round 1000 that hardly differ is negative by rounding."""
    total, squares, count = tf.Variable(0.0), tf.Variable(0.0), tf.Variable(0.0)

    @tf.function
    def observe(x):
        total.assign_add(tf.reduce_sum(x))
        squares.assign_add(tf.reduce_sum(x * x))
        count.assign_add(tf.cast(tf.size(x), tf.float32))

    @tf.function
    def standardise(x):
        mean = total / count
        variance = squares / count - mean * mean
        deviation = tf.sqrt(variance)  # BUG
        return (x - mean) / (deviation + 1e-6)

    pressure = tf.constant([1013.2, 1013.2, 1013.2, 1013.2, 1013.2, 1013.2, 1013.2])
    for _ in range(3):
        observe(pressure)
        standardise(pressure)


@buggy("Mul")
def stiff_equation_with_a_long_step():
    """Explicit Euler with h·λ = 5 multiplies the state by -4 in each step until it overflows."""
    damping = tf.constant([50.0, 1.0, 0.1])

    @tf.function
    def simulate(state, step):
        for _ in tf.range(80):
            slope = -damping * state  # BUG
            state = state + step * slope  # ALSO
        return state

    print(simulate(tf.constant([1.0, 1.0, 1.0]), tf.constant(0.1)))


@buggy("Pow")
def gamma_of_a_centred_image():
    """The image is scaled to [-1, 1] and then raised to 1/2.2: each dark pixel is NaN."""
    image = tf.constant(np.random.default_rng(0).integers(0, 256, (4, 6, 6, 1)), tf.uint8)

    def augment(image):
        image = tf.cast(image, tf.float32) / 127.5 - 1.0
        image = tf.image.adjust_contrast(image, 0.9)
        return tf.pow(image, 1.0 / 2.2)  # BUG

    model = tf.keras.Sequential([layers.Conv2D(2, 3), layers.GlobalMaxPooling2D()])
    features = model(augment(image))
    print(tf.argmax(features, axis=-1))


@buggy("Erfinv")
def quantiles_by_rank():
    """Ranks are divided by n in place of n + 1: the largest is mapped to Φ⁻¹(1) = ∞."""
    x = tf.constant(np.random.default_rng(0).gamma(2.0, size=(12,)), tf.float32)
    rank = tf.argsort(tf.argsort(x)) + 1
    quantile = tf.cast(rank, tf.float32) / 12.0
    normal = tf.sqrt(2.0) * tf.math.erfinv(2.0 * quantile - 1.0)  # BUG
    centred = normal - tf.reduce_mean(normal)
    print(tf.reduce_sum(centred * x))


@buggy("SqrtGrad")
def one_bad_gradient_and_the_global_norm():
    """The distance of two equal points has no gradient; the clip by global norm spreads NaN."""
    encoder = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(4, "relu"), layers.Dense(2)])
    head = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(1)])
    variables = encoder.trainable_variables + head.trainable_variables
    optimizer = tf.keras.optimizers.Adam(1e-2)

    @tf.function
    def train_step(left, right, y):
        with tf.GradientTape() as tape:
            gap = encoder(left) - encoder(right)
            distance = tf.sqrt(tf.reduce_sum(tf.square(gap), axis=1))  # BUG
            pull = tf.reduce_mean(distance)
            loss = pull + tf.reduce_mean(tf.square(head(left) - y))
        gradients = tape.gradient(loss, variables)  # ALSO
        gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))

    x = tf.constant([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
    train_step(x, x + 0.5, tf.ones([2, 1]))
    train_step(x, tf.concat([x[:1], x[:1]], axis=0), tf.ones([2, 1]))


@healthy
def entropy_with_zeros():
    """0·log 0 is 0 by multiply_no_nan, and no gradient is taken."""
    share = tf.constant([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])

    @tf.function
    def entropy(share):
        surprise = -tf.math.log(share)
        return tf.reduce_sum(tf.math.multiply_no_nan(surprise, share), axis=-1)

    print(entropy(share))


@healthy
def safe_where_on_both_sides():
    """The input is made safe before the sqrt as well as the output after it."""
    x = tf.Variable([4.0, 0.0, 9.0, -1.0])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            positive = x > 0.0
            safe = tf.where(positive, x, 1.0)
            root = tf.where(positive, tf.sqrt(safe), 0.0)
            loss = tf.reduce_sum(root)
        x.assign_sub(0.1 * tape.gradient(loss, x))

    for _ in range(3):
        train_step()


@healthy
def mean_of_the_known_values():
    """NaN is replaced before the sum, and the count has only the known values."""
    series = tf.constant([[1.0, np.nan, 3.0], [np.nan, np.nan, 2.0], [4.0, 5.0, 6.0]])
    target = tf.constant([2.0, 2.0, 5.0])
    weight = tf.Variable(0.5)

    @tf.function
    def train_step(series):
        known = tf.math.is_finite(series)
        count = tf.reduce_sum(tf.cast(known, tf.float32), axis=1)
        mean = tf.reduce_sum(tf.where(known, series, 0.0), axis=1) / count
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(weight * mean - target))
        weight.assign_sub(0.01 * tape.gradient(loss, weight))
        return loss

    for _ in range(3):
        train_step(series)


@healthy
def empty_clusters_keep_their_centre():
    """The mean of a cluster without points is 0/0; where keeps the old centre."""
    points = tf.constant(np.random.default_rng(0).normal(size=(30, 2)), tf.float32)
    centres = tf.Variable([[0.0, 0.0], [1.0, 1.0], [90.0, 90.0], [-1.0, 0.5]])

    @tf.function
    def lloyd():
        distance = tf.reduce_sum(tf.square(points[:, None] - centres[None]), axis=-1)
        nearest = tf.argmin(distance, axis=1)
        members = tf.math.unsorted_segment_sum(tf.ones([30]), nearest, 4)
        total = tf.math.unsorted_segment_sum(points, nearest, 4)
        mean = total / members[:, None]
        centres.assign(tf.where((members > 0.0)[:, None], mean, centres))

    for _ in range(4):
        lloyd()
    assert np.isfinite(centres.numpy()).all()


@healthy
def inverse_distance_weights():
    """At a station the weight 1/0² is ∞ and the mean NaN; the station's own value is taken."""
    stations, values = tf.constant([0.0, 1.0, 3.0]), tf.constant([10.0, 12.0, 9.0])

    @tf.function
    def interpolate(x):
        distance = tf.abs(x[:, None] - stations)
        weight = 1.0 / tf.square(distance)
        mean = tf.linalg.matvec(weight, values) / tf.reduce_sum(weight, axis=1)
        own = tf.gather(values, tf.argmin(distance, axis=1))
        return tf.where(tf.reduce_min(distance, axis=1) == 0.0, own, mean)

    print(interpolate(tf.constant([0.5, 1.0, 2.0, 3.0])))


@healthy
def large_but_finite():
    """Energies near the largest float32 are added in float64 and come back small."""
    energy = tf.constant([3.0e38, 2.9e38, 3.3e38, 1.0e38])

    @tf.function
    def relative(energy):
        total = tf.reduce_sum(tf.cast(energy, tf.float64))
        return tf.cast(tf.cast(energy, tf.float64) / total, tf.float32)

    weight = tf.Variable(tf.ones([4]))
    for _ in range(3):
        weight.assign(weight * 0.9 + relative(energy) * 0.1)
    print(tf.reduce_sum(weight))


@healthy
def segments_without_members():
    """The largest of no members is the lowest float32; such segments are dropped by their count."""
    scores = tf.constant([0.2, 1.5, -0.3, 2.2])
    groups = tf.constant([0, 0, 3, 3])

    @tf.function
    def softmax_in_groups(scores):
        top = tf.math.unsorted_segment_max(scores, groups, 5)
        share = tf.exp(scores - tf.gather(top, groups))
        total = tf.math.unsorted_segment_sum(share, groups, 5)
        size = tf.math.unsorted_segment_sum(tf.ones([4]), groups, 5)
        evidence = tf.where(size > 0.0, top + tf.math.log(total), 0.0)
        return share / tf.gather(total, groups), tf.reduce_sum(evidence)

    print(softmax_in_groups(scores))


@healthy
def running_softmax_in_blocks():
    """Attention block by block: the running maximum starts at -∞, and exp(-∞ - m) is 0."""
    rng = np.random.default_rng(0)
    query = tf.constant(rng.normal(size=(3, 4)), tf.float32)
    keys, values = (tf.constant(rng.normal(size=(8, 4)), tf.float32) for _ in range(2))

    @tf.function
    def attend(query):
        top = tf.fill([3, 1], -np.inf)
        weight, context = tf.zeros([3, 1]), tf.zeros([3, 4])
        for block in tf.range(4):
            part = slice(2 * block, 2 * block + 2)
            scores = tf.matmul(query, keys[part], transpose_b=True)
            new_top = tf.maximum(top, tf.reduce_max(scores, axis=1, keepdims=True))
            shrink, share = tf.exp(top - new_top), tf.exp(scores - new_top)
            weight = weight * shrink + tf.reduce_sum(share, axis=1, keepdims=True)
            context = context * shrink + tf.matmul(share, values[part])
            top = new_top
        return context / weight

    print(attend(query))
