"""Distances, angles and similarities between embeddings."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Sqrt")
def pairwise_distances_by_expansion():
    """|a|² + |b|² - 2ab of a point and itself is a little below 0, then the square root."""
    x = 30.0 + np.random.default_rng(2).normal(size=(40, 12)).astype("float32")

    @tf.function
    def pdist(x):
        sq = tf.reduce_sum(x * x, axis=1)
        d2 = sq[:, None] + sq[None, :] - 2.0 * tf.matmul(x, x, transpose_b=True)
        return tf.sqrt(d2)  # BUG

    d = pdist(tf.constant(x))
    tf.nn.top_k(-d, 3)


@buggy("SqrtGrad")
def siamese_network_with_identical_pair():
    """A siamese model with a Euclidean Lambda layer; one pair has the same picture twice."""
    rng = np.random.default_rng(4)
    left = rng.normal(size=(16, 5)).astype("float32")
    right = rng.normal(size=(16, 5)).astype("float32")
    right[10] = left[10]
    same = np.zeros((16, 1), "float32")
    same[10] = 1.0

    def euclidean(pair):
        a, b = pair
        return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1, keepdims=True))  # ALSO

    def contrastive(y, d):
        return y * tf.square(d) + (1.0 - y) * tf.square(tf.maximum(1.0 - d, 0.0)) + 0.1 * d

    a, b = tf.keras.Input((5,)), tf.keras.Input((5,))
    base = tf.keras.Sequential([tf.keras.layers.Dense(6, "relu"), tf.keras.layers.Dense(3)])
    distance = tf.keras.layers.Lambda(euclidean, output_shape=(1,))([base(a), base(b)])
    model = tf.keras.Model([a, b], distance)
    model.compile("adam", contrastive)
    model.fit([left, right], same, batch_size=8, shuffle=False, verbose=0)  # BUG


@buggy("RealDiv")
def cosine_similarity_with_unknown_word():
    """Nested functions: cosine is called from score, score in map_fn; a word vector is zeros."""
    vectors = np.random.default_rng(6).normal(size=(6, 4)).astype("float32")
    vectors[0] = 0.0  # <unk>
    table = tf.constant(vectors)

    @tf.function
    def cosine(a, b):
        dot = tf.reduce_sum(a * b)
        return dot / (tf.norm(a) * tf.norm(b))  # BUG

    @tf.function
    def score(pair):
        return cosine(tf.gather(table, pair[0]), tf.gather(table, pair[1]))

    @tf.function
    def scores(pairs):
        return tf.map_fn(score, pairs, fn_output_signature=tf.float32)

    scores(tf.constant([[1, 2], [3, 4]]))
    scores(tf.constant([[5, 1], [2, 0], [4, 4]]))


@buggy("Acos")
def angle_between_equal_directions():
    """The dot product of two unit vectors is 1.0000001, outside of the domain of acos."""
    rng = np.random.default_rng(9)
    a = rng.normal(size=(50, 3)).astype("float32")
    a /= np.linalg.norm(a, axis=1, keepdims=True)

    @tf.function
    def angles(a, b):
        cos = tf.reduce_sum(a * b, axis=1)
        return tf.acos(cos) * 180.0 / np.pi  # BUG

    error = angles(tf.constant(a), tf.constant(a) * 1.0000002)
    tf.reduce_mean(error)


@buggy("Reciprocal")
def angular_margin_of_an_exact_match():
    """ArcFace: acos(1) is 0, but its slope is infinite; an embedding equals its class centre."""
    centres = tf.Variable([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])

    @tf.function
    def step(features, labels):
        with tf.GradientTape() as tape:
            w = tf.nn.l2_normalize(centres, axis=1)
            cos = tf.matmul(tf.nn.l2_normalize(features, axis=1), w, transpose_b=True)
            theta = tf.acos(cos)  # ALSO
            onehot = tf.one_hot(labels, 3)
            logits = 8.0 * tf.cos(theta + 0.3 * onehot)
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(onehot, logits))
        grad = tape.gradient(loss, centres)  # BUG
        centres.assign_sub(0.1 * grad)

    step(tf.constant([[2.0, 0.0], [0.5, 0.4]]), tf.constant([0, 1]))


@buggy("Acosh")
def lorentz_distance_to_itself():
    """-<x, x> of a point on the hyperboloid is 0.99999 in float32; acosh needs at least 1."""
    rng = np.random.default_rng(8)
    v = tf.constant(rng.normal(size=(60, 4)) * 3.0, tf.float32)

    def lift(v):
        return tf.concat([tf.sqrt(1.0 + tf.reduce_sum(v * v, 1, keepdims=True)), v], axis=1)

    def distance(x, y):
        inner = tf.reduce_sum(x[:, 1:] * y[:, 1:], axis=1) - x[:, 0] * y[:, 0]
        return tf.acosh(-inner)  # BUG

    points = lift(v)
    distance(points, tf.roll(points, 1, axis=0))
    distance(points, points)


@buggy("Atanh")
def fisher_z_of_perfect_correlation():
    """The Fisher transform atanh(r) of two columns that are the same: r is 1."""

    @tf.function
    def fisher(a, b):
        a = a - tf.reduce_mean(a)
        b = b - tf.reduce_mean(b)
        r = tf.reduce_sum(a * b) / tf.sqrt(tf.reduce_sum(a * a) * tf.reduce_sum(b * b))
        return tf.math.atanh(r)  # BUG

    a = tf.constant([1.0, 2.0, 3.0, 6.0])
    for b in ([2.0, 1.0, 4.0, 5.0], [0.0, 1.0, 0.0, 1.0], [1.0, 2.0, 3.0, 6.0]):
        fisher(a, tf.constant(b))


@buggy("Asin")
def pitch_of_unnormalised_quaternion():
    """asin(2(wy - zx)) for a quaternion that has drifted away from unit length; eager."""
    q = tf.Variable([0.8, 0.1, 0.55, 0.1])
    for _ in range(6):
        w, x, y, z = tf.unstack(q)
        pitch = tf.asin(2.0 * (w * y - z * x))  # BUG
        q.assign_add(0.05 * q + 0.001 * pitch)


@buggy("SqrtGrad")
def group_lasso_of_pruned_groups():
    """The sum of tf.norm over groups, one of which is pruned; gradient outside of a function."""
    groups = tf.Variable([[0.3, -0.2, 0.1], [0.0, 0.0, 0.0], [1.0, 0.5, 0.2]])
    with tf.GradientTape() as tape:
        penalty = tf.reduce_sum(tf.norm(groups, axis=1))  # ALSO
    grad = tape.gradient(penalty, groups)  # BUG
    groups.assign_sub(0.1 * grad)


@buggy("RealDiv")
def library_normalize_of_a_zero_row():
    """tf.linalg.normalize has no epsilon, unlike tf.math.l2_normalize."""
    w = tf.Variable([[1.0, 2.0], [0.0, 0.0]])

    @tf.function
    def project():
        unit, _ = tf.linalg.normalize(w, axis=1)  # BUG
        return unit

    project()


@healthy
def unit_vectors_with_a_floor():
    """x / max(|x|, eps) with tf.norm inside: value and gradient of a zero row are finite."""
    x = tf.Variable([[0.0, 0.0], [3.0, 4.0]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            norm = tf.norm(x, axis=1, keepdims=True)
            unit = x / tf.maximum(norm, 1e-6)
            loss = tf.reduce_sum(unit[:, 0])
        return tape.gradient(loss, x)

    assert np.isfinite(step()).all()


@healthy
def maximum_norm():
    """ord=np.inf asks for the maximum norm: the ∞ is an argument, no value."""
    x = tf.Variable([[1.0, -5.0], [0.0, 0.0]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.norm(x, ord=np.inf, axis=1))
        return loss, tape.gradient(loss, x)

    loss, grad = step()
    assert loss == 5.0
    assert np.isfinite(grad).all()


@healthy
def nearest_other_point():
    """The diagonal of a distance matrix is set to ∞ so that no point is its own neighbour."""
    x = tf.constant(np.random.default_rng(11).normal(size=(7, 2)), tf.float32)

    @tf.function
    def neighbour(x):
        d = tf.reduce_sum((x[:, None] - x[None]) ** 2, axis=-1)
        d = tf.linalg.set_diag(d, tf.fill([7], np.float32(np.inf)))
        return tf.argmin(d, axis=1), tf.sqrt(tf.reduce_min(d, axis=1))

    index, distance = neighbour(x)
    assert np.isfinite(distance).all()
    assert (index.numpy() != np.arange(7)).all()


@healthy
def angle_kept_inside_of_the_domain():
    """The cosine is clipped to ±(1 - 1e-6) before acos: value and gradient are finite."""
    a = tf.Variable([[1.0, 0.0], [0.6, 0.8]])
    b = tf.constant([[1.0, 0.0], [-0.6, -0.8]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            cos = tf.reduce_sum(tf.math.l2_normalize(a, axis=1) * b, axis=1)
            loss = tf.reduce_sum(tf.acos(tf.clip_by_value(cos, -1 + 1e-6, 1 - 1e-6)))
        return tape.gradient(loss, a)

    assert np.isfinite(step()).all()
