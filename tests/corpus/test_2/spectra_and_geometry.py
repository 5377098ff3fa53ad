"""Signals, rotations, matrices, graphs: where zeros and ones are values like any other."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("Log")
def log_mel_features_of_padded_audio():
    """The clips are padded with silence, whose mel energies are 0."""
    mel = tf.signal.linear_to_mel_weight_matrix(8, 33, 8000, 100.0, 3800.0)

    @tf.function
    def log_mel(audio):
        spectrum = tf.abs(tf.signal.stft(audio, frame_length=64, frame_step=32, fft_length=64))
        energies = tf.matmul(tf.square(spectrum), mel)
        features = tf.math.log(energies)  # BUG
        return (features - tf.reduce_mean(features)) / tf.math.reduce_std(features)

    audio = np.random.default_rng(0).normal(size=(2, 320)).astype("float32")
    audio[1, 128:] = 0.0
    log_mel(tf.constant(audio))


@buggy("RealDiv")
def phase_loss_at_a_silent_bin():
    """The gradient of atan2(0, 0) divides by 0² + 0²."""
    gain = tf.Variable([1.0, 0.5, 0.0, 2.0])
    real, imaginary = tf.constant([0.3, 1.0, 0.7, -1.0]), tf.constant([0.1, -1.0, 0.2, 0.4])
    target = tf.constant([0.5, -0.2, 0.1, 1.0])
    with tf.GradientTape() as tape:
        phase = tf.atan2(gain * imaginary, gain * real)  # BUG
        loss = tf.reduce_mean(1.0 - tf.cos(phase - target))
    gain.assign_sub(0.1 * tape.gradient(loss, gain))  # ALSO
    tf.reduce_sum(gain)


@buggy("SqrtGrad")
def spectral_loss_of_a_silent_start():
    """√(re² + im²) of an all-zero signal is harmless forwards, and divides by 0 backwards."""
    wave = tf.Variable(tf.zeros([32]))
    target = tf.constant(np.sin(np.arange(32) / 3).astype("float32"))

    def magnitude(signal):
        spectrum = tf.signal.rfft(signal)
        return tf.sqrt(tf.math.real(spectrum) ** 2 + tf.math.imag(spectrum) ** 2)  # BUG

    @tf.function
    def fit_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(magnitude(wave) - magnitude(target)))
        gradient = tape.gradient(loss, wave)  # ALSO
        wave.assign_sub(0.1 * gradient)
        return loss

    for _ in range(2):
        fit_step()


@buggy("Acos")
def angle_between_unit_vectors_that_are_slightly_longer():
    """The cosine of a vector with itself is 1.0000001 in float32; acos of that is NaN."""
    rng = np.random.default_rng(7)
    raw = rng.normal(size=(64, 3)).astype("float32")
    unit = raw / np.sqrt((raw**2).sum(axis=1, keepdims=True)) * np.float32(1.000001)

    def pairwise_angles(vectors):
        cosines = tf.einsum("id,jd->ij", vectors, vectors)
        return tf.acos(cosines)  # BUG

    @tf.function
    def spread(vectors):
        angles = pairwise_angles(vectors)
        return tf.reduce_mean(angles), tf.reduce_max(angles)

    spread(tf.constant(unit))


@buggy("Reciprocal", "Inv")
def geodesic_loss_of_the_right_rotation():
    """acos at exactly 1 is 0, but its slope is infinite: one target is met on the nose."""
    quaternions = tf.Variable([[1.0, 0.0, 0.0, 0.0], [0.6, 0.8, 0.0, 0.0]])
    targets = tf.constant([[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    optimizer = tf.keras.optimizers.SGD(0.01)

    def geodesic(p, q):
        return 2.0 * tf.acos(tf.abs(tf.reduce_sum(p * q, axis=-1)))  # BUG

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(geodesic(quaternions, targets))
        optimizer.apply_gradients([(tape.gradient(loss, quaternions), quaternions)])  # ALSO
        return loss

    train()
    train()


@buggy("Log")
def log_of_a_determinant_that_underflows():
    """The determinant of a 60 × 60 kernel with small scale is 0 in float32."""

    class GaussianProcess:
        def __init__(self, x, y):
            self.x, self.y = tf.constant(x), tf.constant(y)
            self.scale = tf.Variable(0.1)

        def kernel(self):
            apart = tf.square(self.x[:, None] - self.x[None, :])
            return self.scale * (tf.exp(-0.5 * apart) + 0.01 * tf.eye(len(self.x)))

        def nll(self):
            k = self.kernel()
            fit = tf.reduce_sum(self.y * tf.linalg.solve(k, self.y[:, None])[:, 0])
            return 0.5 * (
                fit
                + tf.math.log(tf.linalg.det(k))  # BUG
                + len(self.x) * np.log(2 * np.pi)
            )

    x = np.linspace(0, 6, 60, dtype="float32")
    process = GaussianProcess(x, np.sin(x))
    losses = [process.nll()]
    tf.stack(losses)


@buggy("Sqrt")
def whitening_with_a_negative_eigenvalue():
    """The covariance was shrunk by hand and is no longer positive: the root of λ < 0."""

    def inverse_root(matrix):
        values, vectors = tf.linalg.eigh(matrix)
        scaled = vectors / tf.sqrt(values)  # BUG
        return tf.matmul(scaled, vectors, transpose_b=True)

    @tf.function
    def whiten(x):
        x = x - tf.reduce_mean(x, axis=0)
        covariance = tf.matmul(x, x, transpose_a=True) / tf.cast(tf.shape(x)[0], x.dtype)
        return tf.matmul(x, inverse_root(covariance - 0.05 * tf.eye(3)))

    x = np.random.default_rng(0).normal(size=(30, 3)).astype("float32")
    x[:, 2] *= 0.1
    whiten(tf.constant(x))


@buggy("RealDiv")
def pseudo_inverse_by_hand():
    """Two columns are zero, so that singular values are exactly 0, by which 1 is divided."""
    design = np.zeros((5, 3), "float32")
    design[:, 0] = [1, 2, 3, 4, 5]

    def pinv(a):
        s, u, v = tf.linalg.svd(a)
        return tf.matmul(v * (1.0 / s), u, transpose_b=True)  # BUG

    @tf.function
    def least_squares(a, b):
        return tf.linalg.matvec(pinv(a), b)

    least_squares(tf.constant(design), tf.constant([1.0, 2.0, 2.9, 4.1, 5.0]))


@buggy("RealDiv")
def sinkhorn_with_a_small_regularisation():
    """exp(-cost / 0.001) is 0 for a whole row, and the marginal is divided by that row's sum."""

    @tf.function
    def transport(cost, a, b, epsilon):
        kernel = tf.exp(-cost / epsilon)
        v = tf.ones_like(b)
        u = tf.ones_like(a)
        for _ in tf.range(5):
            u = a / tf.linalg.matvec(kernel, v)  # BUG
            v = b / tf.linalg.matvec(kernel, u, transpose_a=True)  # ALSO
        return tf.reduce_sum(u[:, None] * kernel * v[None, :] * cost)

    cost = tf.constant([[0.0, 0.1, 0.2], [0.5, 0.4, 0.6], [0.01, 0.02, 0.03]])
    third = tf.fill([3], 1.0 / 3.0)
    for epsilon in (1.0, 0.1, 0.001):
        transport(cost, third, third, tf.constant(epsilon))


@buggy("RealDiv")
def prototype_of_a_class_without_examples():
    """Class 2 does not occur in the support set: its mean is 0 / 0."""

    def prototypes(embeddings, labels, classes):
        sums = tf.math.unsorted_segment_sum(embeddings, labels, classes)
        counts = tf.math.unsorted_segment_sum(tf.ones_like(labels, tf.float32), labels, classes)
        return sums / counts[:, None]  # BUG

    @tf.function
    def scores(support, labels, queries):
        centres = prototypes(support, labels, 4)
        apart = tf.reduce_sum(tf.square(queries[:, None] - centres[None]), axis=-1)
        return tf.nn.softmax(-apart)

    rng = np.random.default_rng(0)
    support = tf.constant(rng.normal(size=(6, 5)).astype("float32"))
    queries = tf.constant(rng.normal(size=(3, 5)).astype("float32"))
    scores(support, tf.constant([0, 1, 3, 0, 1, 3]), queries)


@buggy("Rsqrt")
def graph_convolution_with_a_lonely_node():
    """D^-1/2 of a node without edges is ∞, and ∞ times its empty row is NaN."""

    class GraphConvolution(layers.Layer):
        def __init__(self, units):
            super().__init__()
            self.dense = layers.Dense(units, use_bias=False)

        def call(self, features, adjacency):
            degree = tf.reduce_sum(adjacency, axis=1)
            d = tf.math.rsqrt(degree)  # BUG
            normalised = d[:, None] * adjacency * d[None, :]
            return tf.nn.relu(tf.matmul(normalised, self.dense(features)))

    adjacency = np.zeros((5, 5), "float32")
    for i, j in ((0, 1), (1, 2), (2, 3)):
        adjacency[i, j] = adjacency[j, i] = 1.0
    first, second = GraphConvolution(4), GraphConvolution(2)

    @tf.function
    def forward(features):
        return second(first(features, tf.constant(adjacency)), tf.constant(adjacency))

    forward(tf.eye(5))


@buggy("RealDiv")
def mean_over_a_ragged_row_that_is_empty():
    """One user has bought nothing; the mean over the empty row is 0 / 0."""
    prices = tf.ragged.constant([[3.0, 5.0], [], [1.5, 2.5, 9.0]])
    averages = tf.reduce_mean(prices, axis=1)  # BUG
    centred = averages - tf.reduce_mean(averages)
    tf.reduce_max(centred)


@buggy("RealDiv")
def custom_gradient_of_a_norm():
    """The hand-made gradient x / |x| of the norm is 0 / 0 for the residual that is zero."""

    @tf.custom_gradient
    def length(x):
        y = tf.sqrt(tf.reduce_sum(x * x, axis=-1, keepdims=True))

        def grad(upstream):
            return upstream * x / y  # BUG

        return y, grad

    w = tf.Variable([[1.0, 0.0], [0.0, 1.0]])
    inputs = tf.constant([[1.0, 2.0], [0.0, 0.0], [3.0, -1.0]])
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(length(tf.matmul(inputs, w)))
        w.assign_sub(0.1 * tape.gradient(loss, w))  # ALSO


@buggy("RealDiv")
def projection_guarded_by_one_where():
    """where() drops the ∞ of x / 0 forwards; the gradient of the division is still 0 · ∞."""
    depth = tf.Variable([2.0, 0.0, 4.0])
    x = tf.constant([1.0, 1.0, -2.0])

    @tf.function
    def reprojection_error(observed):
        with tf.GradientTape() as tape:
            u = tf.where(depth > 0.0, x / depth, 0.0)  # BUG
            error = tf.reduce_sum(tf.square(u - observed))
        gradient = tape.gradient(error, depth)  # ALSO
        depth.assign_sub(0.01 * gradient)
        return error

    for _ in range(3):
        reprojection_error(tf.constant([0.4, 0.0, -0.6]))


@buggy("Pow")
def fractional_power_of_a_clipped_value():
    """relu(x) ** 0.7 has an infinite slope at 0, where the clipped values are."""

    def gamma_correct(image, gamma):
        return tf.pow(tf.nn.relu(image), gamma)  # BUG

    kernel = tf.Variable(tf.random.stateless_normal([3, 3, 1, 1], [1, 2]))
    image = tf.random.stateless_normal([1, 6, 6, 1], [3, 4])
    with tf.GradientTape() as tape:
        filtered = tf.nn.conv2d(image, kernel, strides=1, padding="SAME")
        loss = tf.reduce_mean(gamma_correct(filtered, 0.7))
    gradient = tape.gradient(loss, kernel)  # ALSO
    kernel.assign_sub(0.1 * gradient)


@healthy
def decibels_with_a_floor():
    """The log of silence is -∞, and the floor of 80 dB below the loudest replaces it."""

    @tf.function
    def decibels(power):
        level = 10.0 * tf.math.log(power) / np.log(10.0)
        level = tf.maximum(level, tf.reduce_max(level) - 80.0)
        return (level - tf.reduce_mean(level)) / (tf.math.reduce_std(level) + 1e-6)

    power = np.random.default_rng(0).uniform(size=(4, 9)).astype("float32")
    power[2] = 0.0
    decibels(tf.constant(power))


@healthy
def norm_with_both_wheres():
    """The argument of the root is made 1 where the vector is 0, and the result 0 again."""
    x = tf.Variable([[0.0, 0.0], [3.0, 4.0]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            squares = tf.reduce_sum(x * x, axis=1)
            empty = tf.equal(squares, 0.0)
            norms = tf.where(empty, 0.0, tf.sqrt(tf.where(empty, 1.0, squares)))
            loss = tf.reduce_sum(norms)
        x.assign_sub(0.1 * tape.gradient(loss, x))

    step()


@healthy
def segments_without_members():
    """The maximum of an empty segment is the lowest float; it is replaced before it is used."""
    values = tf.constant([0.3, 0.9, -0.2])
    owners = tf.constant([0, 0, 2])

    @tf.function
    def pooled():
        highest = tf.math.unsorted_segment_max(values, owners, 4)
        members = tf.math.unsorted_segment_sum(tf.ones_like(values), owners, 4)
        sums = tf.math.unsorted_segment_sum(values, owners, 4)
        mean = tf.math.divide_no_nan(sums, members)
        return tf.where(members > 0, highest, 0.0) - mean

    tf.reduce_sum(pooled())


@healthy
def harmonic_mean_through_infinity():
    """1 / 0 = ∞ and 1 / ∞ = 0 are right here: a resistor of 0 Ω in parallel shorts the rest."""
    resistors = tf.constant([[10.0, 20.0, 20.0], [5.0, 0.0, 8.0]])
    conductance = tf.reduce_sum(1.0 / resistors, axis=1)
    total = 1.0 / conductance
    current = 12.0 / (total + 1.0)
    assert np.isfinite(current.numpy()).all()
