"""Iterations: solvers, simulations, recurrences, in Python and in tf.while_loop."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Mul")
def logistic_map_leaves_the_interval():
    """x <- r x (1 - x) in tf.while_loop with r = 4.3 runs away and overflows."""

    @tf.function
    def orbit(r):
        def body(i, x):
            rest = 1.0 - x
            grown = r * x
            return i + 1, grown * rest  # BUG

        return tf.while_loop(lambda i, x: i < 60, body, [0, tf.constant([0.3, 0.45])])

    orbit(tf.constant(3.7))
    orbit(tf.constant(4.3))


@buggy("Mul")
def rosenbrock_with_a_large_step():
    """Plain gradient descent in eager mode; the step is ten times too large."""
    p = tf.Variable([-1.5, 2.0])
    for _ in range(12):
        with tf.GradientTape() as tape:
            x, y = p[0], p[1]
            inner = tf.square(x)
            valley = tf.square(y - inner)
            loss = tf.square(1.0 - x) + 100.0 * valley  # BUG
        p.assign_sub(0.01 * tape.gradient(loss, p))  # ALSO


@buggy("Pow")
def particles_on_top_of_each_other():
    """Lennard-Jones energy (s / r)^12 as s * r ** -12: two of the particles coincide."""
    start = tf.constant([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    i, j = (tf.constant(index) for index in np.triu_indices(4, 1))

    @tf.function
    def energy(x):
        r2 = tf.reduce_sum(tf.square(tf.gather(x, i) - tf.gather(x, j)), axis=1)
        repulsion = tf.pow(r2, -6.0)  # BUG
        attraction = tf.math.divide_no_nan(1.0, r2**3)
        return tf.reduce_sum(4.0 * (repulsion - attraction))

    energy(tf.constant([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]))
    energy(start)


@buggy("RealDiv")
def waiting_time_when_nobody_is_left():
    """Gillespie's algorithm: the time to the next event is -log(u) / rate, and the rate gets 0."""

    @tf.function
    def simulate(population, uniforms):
        time = tf.constant(0.0)
        for u in uniforms:
            rate = 0.5 * population
            wait = -tf.math.log(u) / rate  # BUG
            time += wait
            population = tf.maximum(population - 1.0, 0.0)
        return time

    simulate(tf.constant(3.0), tf.constant([0.2, 0.5, 0.7, 0.4, 0.9]))


@buggy("RealDiv")
def power_iteration_of_nilpotent_matrix():
    """v <- A v / |A v|, and A² = 0: the second product is the zero vector."""
    a = tf.constant([[0.0, 1.0], [0.0, 0.0]])

    @tf.function
    def dominant(a, steps):
        v = tf.constant([[0.6], [0.8]])
        for _ in tf.range(steps):
            v = tf.matmul(a, v)
            v = v / tf.norm(v)  # BUG
        return tf.matmul(v, tf.matmul(a, v), transpose_a=True)

    dominant(a + tf.eye(2), tf.constant(4))
    dominant(a, tf.constant(4))


@buggy("RealDiv")
def aitken_acceleration_after_convergence():
    """Δ² in the denominator is 0 as soon as the sequence stands still; Python loop, eager."""
    x = tf.constant(1.0)
    for _ in range(40):
        x1 = 0.5 * (x + 2.0 / x)
        x2 = 0.5 * (x1 + 2.0 / x1)
        second = x2 - 2.0 * x1 + x
        x = x - (x1 - x) ** 2 / second  # BUG


@buggy("Log")
def iterated_logarithm():
    """log(log(log(...))): the fifth logarithm of a million is that of a negative number."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32)])
    def iterated(x, times):
        while times > 0:
            x = tf.math.log(x)  # BUG
            times -= 1
        return x

    big = tf.constant([1e6, 1e20, 3e38])
    iterated(big, 2)
    iterated(big, 5)


@buggy("RealDiv")
def option_price_at_expiry():
    """Black-Scholes with time to expiry 0 at the money: log(1) / 0."""

    @tf.function
    def call_price(spot, strike, years, sigma):
        total = sigma * tf.sqrt(years)
        d1 = (tf.math.log(spot / strike) + 0.5 * total**2) / total  # BUG
        d2 = d1 - total

        def cdf(x):
            return 0.5 * (1.0 + tf.math.erf(x / np.sqrt(2.0)))

        return spot * cdf(d1) - strike * cdf(d2)

    spot = tf.constant([90.0, 100.0, 110.0])
    for years in (1.0, 0.5, 0.0):
        call_price(spot, tf.constant(100.0), tf.constant(years), tf.constant(0.2))


@buggy("RealDiv")
def annuity_without_interest():
    """(1 - (1 + r)^-n) / r for a list of rates, the last of which is 0."""
    rates = np.array([0.05, 0.01, 0.0], "float32")
    n = 12.0
    for rate in rates:
        r = tf.constant(rate)
        factor = (1.0 - (1.0 + r) ** -n) / r  # BUG
        payment = 1000.0 / factor
        tf.round(payment * 100.0)


@buggy("Cumprod")
def growth_factors_multiplied():
    """tf.math.cumprod of daily factors of a series in percent instead of fractions."""
    percent = tf.constant(np.random.default_rng(1).uniform(2, 9, size=(2, 80)), tf.float32)

    @tf.function
    def wealth(change):
        growth = tf.math.cumprod(1.0 + change, axis=1)  # BUG
        return growth / growth[:, -1:]

    wealth(percent / 100.0)
    wealth(percent)


@healthy
def knapsack_with_minus_infinity():
    """Dynamic programming: weights that cannot be reached have a value of -∞."""
    values, weights = [6.0, 10.0, 12.0], [1, 2, 3]

    @tf.function
    def best(capacity):
        table = tf.concat([[0.0], tf.fill([capacity], -np.inf)], axis=0)
        for value, weight in zip(values, weights, strict=True):
            shifted = tf.concat([tf.fill([weight], -np.inf), table[:-weight]], axis=0)
            table = tf.maximum(table, shifted + value)
        return tf.reduce_max(table)

    assert best(5) == 22.0


@healthy
def nearest_depot_in_a_loop():
    """The best distance starts as ∞ and gets the minimum with each depot, in a while loop."""
    depots = tf.constant([[0.0, 0.0], [5.0, 5.0], [-3.0, 4.0]])
    customers = tf.random.normal([6, 2])

    @tf.function
    def nearest(customers):
        best = tf.fill([6], np.float32(np.inf))
        which = tf.zeros([6], tf.int32)
        for i in tf.range(3):
            d = tf.norm(customers - depots[i], axis=1)
            which = tf.where(d < best, i, which)
            best = tf.minimum(best, d)
        return best, which

    best, _ = nearest(customers)
    assert np.isfinite(best).all()


@healthy
def large_but_finite_numbers():
    """Energies of 1e30 and their logarithm; nothing overflows."""
    e = tf.Variable([1e15, 3e14, 0.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.math.log1p(tf.reduce_sum(e * e))
        e.assign_sub(1e10 * tape.gradient(loss, e))
        return loss

    for _ in range(3):
        assert np.isfinite(step())


@healthy
def projected_descent_with_open_bounds():
    """Bounds of a variable are -∞ and ∞ where it has none; clip_by_value takes them."""
    low = tf.constant([-np.inf, 0.0, -1.0])
    high = tf.constant([np.inf, np.inf, 1.0])
    x = tf.Variable([3.0, -2.0, 4.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x - [1.0, -1.0, 5.0]) ** 2)
        x.assign(tf.clip_by_value(x - 0.2 * tape.gradient(loss, x), low, high))

    for _ in range(4):
        step()
    assert np.isfinite(x.numpy()).all()
