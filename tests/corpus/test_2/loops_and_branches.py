"""Programs that go round and round: recurrences, simulations, maps, and branches."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("Exp")
def recurrent_cell_with_softplus_by_hand():
    """The state triples in each step of the loop, until exp(h) in log(1 + exp(h)) overflows."""
    kernel = tf.Variable(3.0 * np.eye(4, dtype="float32"))

    def softplus(x):
        return tf.math.log(1.0 + tf.exp(x))  # BUG

    @tf.function
    def rollout(x):
        h = tf.zeros([2, 4])
        for _ in tf.range(12):
            h = softplus(tf.matmul(h, kernel) + x)
        return tf.reduce_mean(h)

    rollout(0.1 * tf.ones([2, 4]))


@buggy("Mul")
def logistic_map_that_leaves_the_unit_interval():
    """One start value is above 1; r x (1 - x) then squares its size in each step of the scan."""
    growth = tf.constant([2.5, 3.2, 3.9])
    start = tf.constant([0.2, 0.5, 1.7])

    @tf.function
    def history(steps):
        return tf.scan(
            lambda x, _: growth * x * (1.0 - x),  # BUG
            tf.range(steps),
            initializer=start,  # ALSO
        )

    tf.reduce_mean(history(tf.constant(20)), axis=0)


@buggy("RealDiv")
def each_window_standardised_in_map_fn():
    """One window of the sensor is stuck at the same value, its deviation is zero: 0 / 0."""

    def standardise(window):
        centred = window - tf.reduce_mean(window)
        deviation = tf.sqrt(tf.reduce_mean(tf.square(centred)))
        return centred / deviation  # BUG

    @tf.function
    def features(windows):
        return tf.reduce_max(tf.map_fn(standardise, windows), axis=1)

    windows = np.random.default_rng(3).normal(size=(5, 16)).astype("float32")
    windows[3] = 20.5
    features(tf.constant(windows))


@buggy("RealDiv", "__inference_f")
def cosine_similarity_under_vectorized_map():
    """The cosine of a user without ratings divides by a norm of zero."""

    def cosine(pair):
        a, b = pair
        dot = tf.reduce_sum(a * b)
        return dot / (tf.norm(a) * tf.norm(b))  # BUG

    rng = np.random.default_rng(5)
    users = rng.normal(size=(6, 3)).astype("float32")
    users[4] = 0.0
    items = rng.normal(size=(6, 3)).astype("float32")
    scores = tf.vectorized_map(cosine, (tf.constant(users), tf.constant(items)))  # ALSO
    tf.argmax(scores)


@buggy("Acosh")
def hyperbolic_distance_in_a_switch_case():
    """The metric is chosen by a switch; rounding brings the argument of acosh below 1."""

    def euclidean(u, v):
        return tf.reduce_sum(tf.square(u - v), axis=1)

    def manhattan(u, v):
        return tf.reduce_sum(tf.abs(u - v), axis=1)

    def lorentzian(u, v):
        time = tf.sqrt(1.0 + tf.reduce_sum(u * u, axis=1)) * tf.sqrt(
            1.0 + tf.reduce_sum(v * v, axis=1)
        )
        inner = time - tf.reduce_sum(u * v, axis=1)
        return tf.math.acosh(inner - 1e-4)  # BUG

    @tf.function
    def distance(kind, u, v):
        branches = [lambda f=f: f(u, v) for f in (euclidean, manhattan, lorentzian)]
        return tf.reduce_sum(tf.switch_case(kind, branches))

    u = tf.constant([[0.5, 0.1], [0.2, 0.7]])
    v = tf.constant([[0.5, 0.1], [1.2, -0.3]])
    for kind in range(3):
        distance(tf.constant(kind), u, v)


@buggy("Mean")
def guard_that_is_always_true():
    """The loss over the hard examples guards against an empty set with >= in place of >."""

    @tf.function
    def hard_example_loss(losses, threshold):
        hard = tf.boolean_mask(losses, losses > threshold)
        return tf.cond(
            tf.size(hard) >= 0,
            lambda: tf.reduce_mean(hard),  # BUG
            lambda: tf.constant(0.0),  # ALSO
        )

    total = 0.0
    for threshold in (0.5, 1.0, 9.0):
        total += hard_example_loss(tf.constant([0.2, 0.7, 1.4]), tf.constant(threshold))


@buggy("Pow")
def duffing_oscillator_with_a_long_step():
    """Explicit Euler with too long a step on a cubic spring: the cube of the way overflows."""
    dt = 0.5
    x, v = tf.constant([1.0, 4.0]), tf.constant([0.0, 0.0])
    for _ in range(14):
        force = -0.3 * v - x - 5.0 * x**3  # BUG
        v = v + dt * force
        x = x + dt * v
    tf.reduce_mean(x)


@buggy("RealDiv")
def planets_that_attract_themselves():
    """The pairwise force of a body on itself is 0 / 0³."""

    class Simulator:
        def __init__(self, places, masses):
            self.places = tf.Variable(places)
            self.speeds = tf.Variable(tf.zeros_like(places))
            self.masses = tf.constant(masses)

        def accelerations(self):
            apart = self.places[None, :, :] - self.places[:, None, :]
            r = tf.sqrt(tf.reduce_sum(tf.square(apart), axis=-1, keepdims=True))
            pull = self.masses[None, :, None] * apart / r**3  # BUG
            return tf.reduce_sum(pull, axis=1)

        @tf.function
        def step(self, dt):
            self.speeds.assign_add(dt * self.accelerations())
            self.places.assign_add(dt * self.speeds)

    rng = np.random.default_rng(1)
    world = Simulator(rng.normal(size=(4, 3)).astype("float32"), [1.0, 2.0, 0.5, 1.0])
    for _ in range(3):
        world.step(tf.constant(0.01))


@buggy("RealDiv")
def newton_from_a_flat_start():
    """Newton's method for x³ = a starts at 0, where the slope is 0: the first step is infinite."""

    def cube_root(a, steps):
        def improve(i, x):
            value = x**3 - a
            slope = 3.0 * x**2
            return i + 1, x - value / slope  # BUG

        return tf.while_loop(lambda i, x: i < steps, improve, (0, tf.zeros_like(a)))[1]

    @tf.function
    def radius(volume):
        return cube_root(volume * 0.75 / np.pi, 8)

    radius(tf.constant([1.0, 8.0, 27.0]))


@buggy("MatMul")
def simple_rnn_with_relu_over_a_long_sequence():
    """A Keras SimpleRNN with ReLU and a recurrent matrix of 9 · I: the state grows as 9^t."""
    model = tf.keras.Sequential(
        [
            layers.SimpleRNN(
                3,
                activation="relu",
                kernel_initializer="ones",
                recurrent_initializer=tf.keras.initializers.Identity(gain=9.0),
            ),
            layers.Dense(1),
        ]
    )
    model.compile("sgd", "mse")
    x = np.ones((4, 60, 2), "float32")
    model.fit(x, np.ones((4, 1), "float32"), epochs=1, verbose=0)  # BUG


@buggy("Mul")
def gradient_through_a_chaotic_map():
    """The states stay in [-1, 1], but each step of the map multiplies the gradient by about 100."""
    w = tf.Variable(100.0)

    @tf.function
    def loss_and_gradient(x):
        with tf.GradientTape() as tape:
            for _ in range(40):
                x = tf.sin(w * x)  # BUG
            loss = tf.reduce_mean(tf.square(x))
        return loss, tape.gradient(loss, w)  # ALSO

    for _ in range(2):
        _, gradient = loss_and_gradient(tf.constant([0.3, 0.4, 0.9]))
        w.assign_sub(1e-3 * gradient)


@healthy
def running_minimum_from_infinity():
    """The smallest loss so far begins at +∞, in a loop of a graph, and is finite afterwards."""

    @tf.function
    def best(losses):
        smallest = tf.constant(np.inf)
        largest = tf.constant(-np.inf)
        for i in tf.range(tf.shape(losses)[0]):
            smallest = tf.minimum(smallest, losses[i])
            largest = tf.maximum(largest, losses[i])
        return smallest, largest - smallest

    best(tf.constant([3.0, 0.5, 1.5]))


@healthy
def line_search_that_takes_a_bad_step_back():
    """A step that is too long overflows, is found to do so, and a shorter one is taken."""
    w = tf.Variable([2.0, 3.0])

    def objective(w):
        return tf.reduce_sum(tf.exp(tf.square(w)))

    with tf.GradientTape() as tape:
        before = objective(w)
    gradient = tape.gradient(before, w)
    step = 1.0
    while True:
        candidate = w - step * gradient
        after = objective(candidate)
        if tf.math.is_finite(after) and after < before:
            break
        step *= 0.1
    w.assign(candidate)
    objective(w)


@healthy
def nearest_neighbour_but_not_itself():
    """The diagonal of the distances is set to +∞, so that nobody is their own neighbour."""

    @tf.function
    def neighbours(points):
        apart = tf.reduce_sum(tf.square(points[:, None] - points[None, :]), axis=-1)
        others = tf.linalg.set_diag(apart, tf.fill([tf.shape(points)[0]], np.float32(np.inf)))
        return tf.argmin(others, axis=1), tf.sqrt(tf.reduce_min(others, axis=1))

    neighbours(tf.constant(np.random.default_rng(0).normal(size=(6, 2)).astype("float32")))


@healthy
def shortest_paths_with_infinity_for_no_road():
    """Floyd-Warshall: +∞ means there is no road yet, and all towns are connected in the end."""
    inf = np.inf
    roads = tf.constant(
        [[0.0, 3.0, inf, inf], [3.0, 0.0, 1.0, inf], [inf, 1.0, 0.0, 7.0], [inf, inf, 7.0, 0.0]]
    )

    @tf.function
    def shortest(distance):
        for k in range(4):
            over_k = distance[:, k : k + 1] + distance[k : k + 1, :]
            distance = tf.minimum(distance, over_k)
        return distance

    tf.reduce_mean(shortest(roads))
