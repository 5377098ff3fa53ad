"""Likelihoods, divergences and other losses on the rim of where they are defined."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("Log1p")
def beta_likelihood_of_a_sure_success():
    """log p = (α-1) log x + (β-1) log1p(-x); a share of exactly 1 is in the third batch."""
    raw = tf.Variable([0.3, 0.7])

    def beta_log_density(x, a, b):
        normaliser = tf.math.lgamma(a + b) - tf.math.lgamma(a) - tf.math.lgamma(b)
        return (
            normaliser + (a - 1.0) * tf.math.log(x) + (b - 1.0) * tf.math.log1p(-x)  # BUG
        )

    @tf.function
    def step(shares):
        with tf.GradientTape() as tape:
            a, b = tf.unstack(1.0 + tf.nn.softplus(raw))
            loss = -tf.reduce_mean(beta_log_density(shares, a, b))
        raw.assign_sub(0.1 * tape.gradient(loss, raw))

    for shares in ([0.2, 0.5, 0.6], [0.9, 0.8, 0.3], [0.4, 1.0, 0.7], [0.5, 0.5, 0.2]):
        step(tf.constant(shares))


@buggy("Digamma")
def dirichlet_topics_with_no_words():
    """E[log θ] = ψ(α) - ψ(Σα) with α = prior + counts, prior 0: ψ(0) is a pole."""

    @tf.function
    def expected_log(alpha):
        total = tf.reduce_sum(alpha, axis=-1, keepdims=True)
        return tf.math.digamma(alpha) - tf.math.digamma(total)  # BUG

    words = tf.constant([[4.0, 2.0, 1.0], [0.0, 3.0, 3.0], [2.0, 2.0, 5.0]])
    prior = tf.nn.relu(tf.constant([-0.1, 0.2, 0.3]))
    for _ in range(3):
        topics = tf.exp(expected_log(prior + words))
        words = words * topics / tf.reduce_sum(topics, axis=-1, keepdims=True)
    print(words.numpy())


@buggy("Lgamma")
def gamma_likelihood_with_a_relu_shape():
    """The concentration comes from a ReLU that is off for a row: log Γ(0) = ∞."""
    concentration, rate = layers.Dense(1, activation="relu"), layers.Dense(1, "softplus")

    def negative_log_likelihood(y, outputs):
        a, b = outputs[:, :1], outputs[:, 1:]
        return tf.math.lgamma(a) - a * tf.math.log(b) - (a - 1.0) * tf.math.log(y) + b * y  # BUG

    inputs = tf.keras.Input((3,))
    outputs = layers.Concatenate()([concentration(inputs), rate(inputs)])
    model = tf.keras.Model(inputs, outputs)
    model.compile("adam", loss=negative_log_likelihood)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(32, 3)), rng.gamma(2.0, size=(32, 1))
    model.fit(x.astype("float32"), y.astype("float32"), batch_size=8, verbose=0)


@buggy("Log", "Log1p")
def student_t_whose_degrees_of_freedom_fall_below_zero():
    """ν is a plain variable; descent with a big step takes it below 0, the next log ν is NaN."""
    nu = tf.Variable(2.0)
    residuals = tf.constant([0.1, -4.0, 9.0, 0.3, -12.0])

    @tf.function
    def log_density(r):
        scale = 0.5 * tf.math.log(nu)  # BUG
        shape = tf.math.lgamma(0.5 * (nu + 1.0)) - tf.math.lgamma(0.5 * nu)
        tails = tf.math.log1p(tf.square(r) / nu)  # ALSO
        return shape - scale - 0.5 * (nu + 1.0) * tails

    for _ in range(12):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(log_density(residuals))
        nu.assign_sub(4.0 * tape.gradient(loss, nu))


@buggy("Pow")
def tweedie_deviance_of_a_mean_of_zero():
    """Claims with p = 1.5: μ^(1-p) with μ = relu(...) = 0 is 0 to the power -½."""
    weights = tf.Variable([[0.5], [-0.5]])
    power = 1.5

    def tweedie(claims, mean):
        first = claims * tf.pow(mean, 1.0 - power) / (1.0 - power)  # BUG
        second = tf.pow(mean, 2.0 - power) / (2.0 - power)
        return tf.reduce_mean(second - first)

    @tf.function
    def step(x, claims):
        with tf.GradientTape() as tape:
            loss = tweedie(claims, tf.nn.relu(tf.matmul(x, weights)))
        weights.assign_sub(0.01 * tape.gradient(loss, weights))
        return loss

    claims = tf.constant([[1.0], [2.0]])
    step(tf.constant([[3.0, 1.0], [4.0, 2.0]]), claims)
    step(tf.constant([[3.0, 1.0], [1.0, 9.0]]), claims)


@buggy("Log")
def poisson_deviance_of_a_day_without_events():
    """y log(y/μ) with y = 0: log 0 times 0."""

    class Deviance(tf.keras.losses.Loss):
        def call(self, y, mean):
            surprise = y * tf.math.log(y / mean)  # BUG
            return 2.0 * tf.reduce_mean(surprise - (y - mean), axis=-1)

    model = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(1, activation="exponential")])
    model.compile(tf.keras.optimizers.SGD(1e-3), loss=Deviance())
    x = np.random.default_rng(1).normal(size=(16, 2)).astype("float32")
    y = np.full([16, 1], 2.0, "float32")
    y[11] = 0.0
    model.fit(x, y, batch_size=4, shuffle=False, verbose=0)


@buggy("Exp")
def cox_model_whose_covariates_have_no_scale():
    """The hazards exp(x·β) are summed over the risk sets; incomes as such make one overflow."""
    beta = tf.Variable([[0.01], [0.002]])

    @tf.function
    def partial_likelihood(x, observed):
        risk = tf.matmul(x, beta)[:, 0]
        at_risk = tf.cumsum(tf.exp(risk))  # BUG
        return -tf.reduce_sum(observed * (risk - tf.math.log(at_risk)))

    observed = tf.constant([1.0, 0.0, 1.0, 1.0])
    age = np.array([40.0, 55.0, 61.0, 70.0])
    for scale in (1e3, 2e3, 5e4):
        x = np.stack([age, scale * np.array([0.5, 1.1, 0.7, 0.9])], axis=1).astype("float32")
        with tf.GradientTape() as tape:
            loss = partial_likelihood(tf.constant(x), observed)
        beta.assign_sub(1e-9 * tape.gradient(loss, beta))


@buggy("RealDiv")
def jensen_shannon_of_two_histograms():
    """p log(p/m) + q log(q/m) with m = (p + q)/2: a bin empty in both gives 0/0."""

    def half(p, m):
        return tf.reduce_sum(p * tf.math.log(p / m + 1e-9))  # BUG

    @tf.function
    def jensen_shannon(p, q):
        m = 0.5 * (p + q)
        return 0.5 * half(p, m) + 0.5 * half(m=m, p=q)

    values = np.random.default_rng(2).normal(size=(2, 50))
    for low, high in ((-1.0, 1.0), (-4.0, 4.0)):
        p, q = (np.histogram(v, 12, (low, high))[0].astype("float32") / 50.0 for v in values)
        print(float(jensen_shannon(tf.constant(p), tf.constant(q))))


@buggy("RealDiv")
def sinkhorn_with_a_kernel_that_underflows():
    """exp(-C/ε) is 0 in a whole row for a small ε, and the scaling a/(Kv) divides by 0."""

    @tf.function
    def transport(cost, epsilon):
        kernel = tf.exp(-cost / epsilon)
        u = v = tf.ones([4, 1])
        for _ in tf.range(5):
            u = 0.25 / (kernel @ v)  # BUG
            v = 0.25 / tf.matmul(kernel, u, transpose_a=True)
        return tf.reduce_sum(u * kernel * tf.transpose(v) * cost)

    a = tf.constant([[0.0], [1.0], [2.0], [30.0]])
    b = tf.constant([[0.5, 1.5, 2.5, 3.0]])
    for epsilon in (50.0, 10.0, 0.1):
        print(float(transport(tf.square(a - b), tf.constant(epsilon))))


@buggy("Pow")
def focal_loss_with_a_root_as_focus():
    """(1 - p)^γ with γ = ½: a p of exactly 1 has the slope 0^-½."""
    weights = tf.Variable([[1.0], [1.0]])

    def focal(p):
        return tf.reduce_mean(
            -tf.pow(1.0 - p, 0.5) * tf.math.log(p),  # ALSO
        )

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = focal(tf.sigmoid(x @ weights))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))  # BUG
        return loss

    for far in (1.0, 2.0, 40.0, 1.0):
        step(tf.constant([[0.1, 0.2], [far, 0.3], [-1.0, 0.4]]))


@healthy
def zero_inflated_poisson_in_log_space():
    """Zeros by `logaddexp`, counts by `xlogy`; the branch not taken is finite as well."""
    raw = tf.Variable([0.0, -8.0])

    @tf.function
    def step(y):
        with tf.GradientTape() as tape:
            log_rate, gate = raw[0], raw[1]
            rate = tf.exp(log_rate)
            stay = -tf.nn.softplus(gate)
            none = tf.reduce_logsumexp(tf.stack([stay + gate, stay - rate]))
            some = stay + tf.math.xlogy(y, rate) - rate - tf.math.lgamma(y + 1.0)
            loss = -tf.reduce_mean(tf.where(y == 0.0, none, some))
        raw.assign_sub(0.5 * tape.gradient(loss, raw))

    for _ in range(6):
        step(tf.constant([0.0, 0.0, 3.0, 1.0, 0.0, 12.0]))


@healthy
def cox_model_with_masked_risk_sets():
    """logΣexp over risk sets, those not at risk get the constant -∞; every row has one at risk."""
    beta = tf.Variable([[0.3], [-2.0]])
    time = tf.constant([2.0, 2.0, 5.0, 7.0])

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            risk = (x @ beta)[:, 0]
            at_risk = time[None, :] >= time[:, None]
            spread = tf.where(at_risk, risk[None, :], float("-inf"))
            loss = tf.reduce_mean(tf.reduce_logsumexp(spread, axis=1) - risk)
        beta.assign_sub(0.1 * tape.gradient(loss, beta))

    for _ in range(3):
        step(tf.random.normal([4, 2]) * 40.0)


@healthy
def metropolis_walk_on_an_interval():
    """The log density is -∞ outside of (0, 1): such proposals are refused, the chain is finite."""

    @tf.function
    def log_density(x):
        inside = (x > 0.0) & (x < 1.0)
        safe = tf.where(inside, x, 0.5)
        return tf.where(inside, 2.0 * tf.math.log(safe) + tf.math.log1p(-safe), -np.inf)

    x = tf.fill([20], 0.5)
    for _ in range(4):
        proposal = x + tf.random.normal([20], stddev=0.6)
        accept = tf.math.log(tf.random.uniform([20], 1e-6)) < log_density(proposal) - log_density(x)
        x = tf.where(accept, proposal, x)
    print(float(tf.reduce_mean(x)))


@healthy
def regression_with_missing_labels():
    """NaN labels are replaced before the arithmetic; loss and gradient only know the others."""
    model = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(4, "tanh"), layers.Dense(2)])

    def masked_mse(y, p):
        known = tf.math.is_finite(y)
        error = tf.where(known, y, 0.0) - tf.where(known, p, 0.0)
        count = tf.reduce_sum(tf.cast(known, tf.float32))
        return tf.math.divide_no_nan(tf.reduce_sum(tf.square(error)), count)

    rng = np.random.default_rng(3)
    y = rng.normal(size=(16, 2)).astype("float32")
    y[rng.uniform(size=y.shape) < 0.4] = np.nan
    model.compile(tf.keras.optimizers.Adam(0.1), loss=masked_mse)
    model.fit(rng.normal(size=(16, 3)).astype("float32"), y, batch_size=4, epochs=2, verbose=0)
