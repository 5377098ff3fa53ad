"""Probabilities, policies, contrastive and structured losses."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("Log")
def mixture_density_network_far_from_its_data():
    """All densities of the mixture underflow to 0 for a far target, and the log of 0 is taken."""

    def mixture_nll(y, out):
        logits, means, raw = tf.split(out, 3, axis=1)
        weights = tf.nn.softmax(logits)
        sigma = tf.nn.softplus(raw) + 1e-3
        z = (y - means) / sigma
        density = tf.exp(-0.5 * z * z) / (sigma * np.sqrt(2 * np.pi))
        likelihood = tf.reduce_sum(weights * density, axis=1)
        return -tf.reduce_mean(tf.math.log(likelihood))  # BUG

    model = tf.keras.Sequential([layers.Dense(8, activation="tanh"), layers.Dense(9)])
    model.compile(tf.keras.optimizers.Adam(1e-3), loss=mixture_nll)
    x = np.linspace(-1, 1, 32, dtype="float32")[:, None]
    y = 2.0 * x
    y[7] = 250.0
    model.fit(x, y, batch_size=8, shuffle=False, epochs=1, verbose=0)


@buggy("Atanh")
def squashed_policy_asked_about_the_edge():
    """The log-probability of a tanh-squashed action of exactly 1 needs atanh(1) = ∞."""

    class SquashedNormal:
        def __init__(self, mean, log_sigma):
            self.mean, self.log_sigma = mean, log_sigma

        def log_prob(self, action):
            raw = tf.math.atanh(action)  # BUG
            z = (raw - self.mean) * tf.exp(-self.log_sigma)
            normal = -0.5 * z**2 - self.log_sigma - 0.919
            return tf.reduce_sum(normal - tf.math.log(1.0 - action**2 + 1e-6), axis=-1)

    mean = tf.Variable([[0.1, -0.2]])
    log_sigma = tf.Variable([[0.0, 0.0]])
    replayed = tf.constant([[0.3, -0.9], [1.0, 0.2], [0.5, 0.5]])

    @tf.function
    def update():
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(SquashedNormal(mean, log_sigma).log_prob(replayed))
        for v, g in zip((mean, log_sigma), tape.gradient(loss, [mean, log_sigma]), strict=True):
            v.assign_sub(0.01 * g)
        return loss

    update()
    update()


@buggy("Exp")
def ppo_ratio_whose_infinity_the_minimum_hides():
    """The ratio exp(new - old) is ∞ for one action: the clip hides it, the gradient is 0 · ∞."""
    policy = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(2)])
    optimizer = tf.keras.optimizers.Adam(1e-2)

    def log_prob(states, actions):
        return -tf.reduce_sum(tf.square(policy(states) - actions), axis=1)

    @tf.function
    def ppo_step(states, actions, old, advantages):
        with tf.GradientTape() as tape:
            ratio = tf.exp(log_prob(states, actions) - old)  # BUG
            clipped = tf.clip_by_value(ratio, 0.8, 1.2)
            loss = -tf.reduce_mean(tf.minimum(ratio * advantages, clipped * advantages))
        gradients = tape.gradient(loss, policy.trainable_variables)
        optimizer.apply_gradients(zip(gradients, policy.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(0)
    states = tf.constant(rng.normal(size=(4, 3)).astype("float32"))
    actions = tf.constant(rng.normal(size=(4, 2)).astype("float32"))
    old = tf.constant([-1.0, -2.0, -140.0, -1.5])
    for _ in range(2):
        ppo_step(states, actions, old, tf.constant([1.0, -0.5, 0.7, 0.2]))


@buggy("RealDiv")
def advantages_of_an_episode_of_one_step():
    """The unbiased variance of one advantage divides 0 by n - 1 = 0."""

    def returns(rewards, gamma=0.99):
        out, running = [], 0.0
        for reward in reversed(rewards):
            running = reward + gamma * running
            out.append(running)
        return tf.constant(out[::-1], tf.float32)

    def normalise(advantages):
        n = tf.cast(tf.size(advantages), tf.float32)
        mean = tf.reduce_mean(advantages)
        variance = tf.reduce_sum(tf.square(advantages - mean)) / (n - 1.0)  # BUG
        return (advantages - mean) / (tf.sqrt(variance) + 1e-8)

    logits = tf.Variable([0.1, -0.1])
    for rewards in ([1.0, 0.0, 1.0], [0.0, 1.0], [1.0]):
        advantages = normalise(returns(rewards))
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(tf.nn.log_softmax(logits)[0] * advantages)
        logits.assign_sub(0.1 * tape.gradient(loss, logits))


@buggy("Exp")
def info_nce_without_normalised_embeddings():
    """exp(similarity / 0.05) of embeddings that nobody normalised overflows: ∞ / ∞."""
    encoder = tf.keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(8)])
    optimizer = tf.keras.optimizers.SGD(1e-3)

    def info_nce(a, b, temperature=0.05):
        similarity = tf.exp(tf.matmul(a, b, transpose_b=True) / temperature)  # BUG
        positive = tf.linalg.diag_part(similarity)
        return -tf.reduce_mean(tf.math.log(positive / tf.reduce_sum(similarity, axis=1)))

    @tf.function
    def step(first, second):
        with tf.GradientTape() as tape:
            loss = info_nce(encoder(first), encoder(second))
        gradients = tape.gradient(loss, encoder.trainable_variables)
        optimizer.apply_gradients(zip(gradients, encoder.trainable_variables, strict=True))
        return loss

    x = 3.0 * np.random.default_rng(2).normal(size=(8, 10)).astype("float32")
    step(tf.constant(x), tf.constant(x + 0.1))


@buggy("Log")
def conditional_random_field_in_probability_space():
    """Forward algorithm with products of potentials: they underflow over a long sentence."""
    rng = np.random.default_rng(0)
    transitions = tf.Variable(rng.normal(size=(3, 3)).astype("float32"))

    @tf.function
    def log_partition(emissions):
        potentials = tf.exp(transitions)
        alpha = tf.exp(emissions[0])
        for t in tf.range(1, tf.shape(emissions)[0]):
            alpha = tf.linalg.matvec(potentials, alpha, transpose_a=True) * tf.exp(emissions[t])
        return tf.math.log(tf.reduce_sum(alpha))  # BUG

    emissions = tf.constant(rng.normal(loc=-6.0, size=(40, 3)).astype("float32"))
    gold = tf.reduce_sum(emissions[:, 0])
    loss = log_partition(emissions) - gold
    tf.print(loss, output_stream="file:///dev/null")


@buggy("RealDiv")
def diffusion_schedule_with_zero_terminal_snr():
    """The last beta is 1, so that ᾱ is 0 at the last step, by whose root x₀ is divided."""
    betas = np.linspace(1e-2, 1.0, 10, dtype="float32")
    alpha_bar = tf.constant(np.cumprod(1.0 - betas))
    network = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(4)])

    @tf.function
    def denoise(x, t):
        a = tf.gather(alpha_bar, t)
        noise = network(x)
        start = (x - tf.sqrt(1.0 - a) * noise) / tf.sqrt(a)  # BUG
        before = tf.gather(alpha_bar, tf.maximum(t - 1, 0))
        return tf.sqrt(before) * start + tf.sqrt(1.0 - before) * noise

    x = tf.random.normal([2, 4], seed=1)
    for t in reversed(range(10)):
        x = denoise(x, tf.constant(t))


@buggy("Log")
def gumbel_noise_from_a_draw_of_one():
    """-log(-log(u)) of a u that half precision rounds to 1 is +∞, and the softmax of it is NaN."""

    def gumbel(u):
        inner = -tf.math.log(u)
        return -tf.math.log(inner)  # BUG

    def relaxed_sample(logits, u, temperature=0.5):
        return tf.nn.softmax((logits + gumbel(u)) / temperature)

    draws = np.random.default_rng(4).uniform(0.1, 0.9, size=(3, 4))
    draws[1, 2] = 0.99995
    u = tf.constant(draws.astype("float16"))
    relaxed_sample(tf.zeros([3, 4], tf.float16), u)


@buggy("Exp")
def poisson_regression_on_raw_features():
    """The log-rate is linear in features of the order of 1000; its exp in the loss overflows."""

    def poisson(targets, log_rate):
        return tf.reduce_mean(tf.nn.log_poisson_loss(targets, log_rate))  # BUG

    model = tf.keras.Sequential([layers.Dense(1, kernel_initializer="ones")])
    model.compile(tf.keras.optimizers.SGD(1e-4), loss=poisson)
    x = np.array([[1.0, 2.0], [900.0, 1200.0], [0.0, 3.0]], "float32")
    y = np.array([[3.0], [7.0], [1.0]], "float32")
    model.fit(x, y, batch_size=3, epochs=1, verbose=0)


@buggy("BesselI0")
def von_mises_with_a_sharp_peak():
    """The normaliser log I₀(κ) of a direction overflows in I₀ for κ above 90 or so."""

    def log_prob(angle, mean, kappa):
        log_normaliser = tf.math.log(2 * np.pi * tf.math.bessel_i0(kappa))  # BUG
        return kappa * tf.cos(angle - mean) - log_normaliser

    kappa = tf.Variable([5.0, 60.0, 140.0])
    angles = tf.constant([[0.1, 0.2, 0.0], [-0.2, 0.1, 0.05]])
    nll = -tf.reduce_mean(log_prob(angles, 0.0, kappa))
    assert nll.shape == ()


@buggy("Ndtri")
def gaussian_copula_of_empirical_ranks():
    """The largest rank divided by n is 1, and the normal quantile of 1 is ∞."""

    def ranks(x):
        return tf.argsort(tf.argsort(x, axis=0), axis=0) + 1

    @tf.function
    def correlation(x):
        u = tf.cast(ranks(x), tf.float32) / tf.cast(tf.shape(x)[0], tf.float32)
        z = tf.math.ndtri(u)  # BUG
        z -= tf.reduce_mean(z, axis=0)
        return tf.matmul(z, z, transpose_a=True)

    correlation(tf.constant(np.random.default_rng(0).normal(size=(20, 2)).astype("float32")))


@healthy
def forbidden_actions_at_minus_infinity():
    """Forbidden actions have a logit of -∞; entropy multiplies their log with multiply_no_nan."""
    logits = tf.Variable([[0.2, 1.0, -0.3], [0.1, 0.0, 2.0]])
    allowed = tf.constant([[True, True, False], [True, False, True]])

    @tf.function
    def act():
        masked = tf.where(allowed, logits, -np.inf)
        probabilities = tf.nn.softmax(masked)
        log_p = tf.nn.log_softmax(masked)
        entropy = -tf.reduce_sum(tf.math.multiply_no_nan(log_p, probabilities), axis=1)
        return tf.argmax(probabilities, axis=1), tf.reduce_mean(entropy)

    act()


@healthy
def hidden_markov_model_with_impossible_transitions():
    """Transitions that cannot be have a log-probability of -∞; logsumexp is made for that."""
    log_a = tf.constant(
        np.log(np.array([[0.7, 0.3, 0.0], [0.0, 0.6, 0.4], [0.0, 0.0, 1.0]]) + 0.0).astype(
            "float32"
        )
    )
    log_b = tf.math.log(tf.constant([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]))
    log_alpha = tf.math.log(tf.constant([1.0, 0.0, 0.0]))
    for symbol in (0, 0, 1, 1):
        moved = tf.reduce_logsumexp(log_alpha[:, None] + log_a, axis=0)
        log_alpha = moved + log_b[:, symbol]
    log_likelihood = tf.reduce_logsumexp(log_alpha)
    assert np.isfinite(log_likelihood.numpy())


@healthy
def divergence_of_distributions_with_zeros():
    """xlogy makes 0 · log 0 = 0; q is positive wherever p is."""
    p = tf.constant([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    q = tf.constant([[0.25, 0.5, 0.25], [0.9, 0.1, 0.0]])

    @tf.function
    def divergence(p, q):
        return tf.reduce_sum(tf.math.xlogy(p, p) - tf.math.xlogy(p, q), axis=1)

    tf.reduce_mean(divergence(p, q))


@healthy
def log_likelihood_of_a_bounded_variable():
    """Outside its support the log-density is -∞: such proposals of the sampler are rejected."""
    rng = np.random.default_rng(0)

    def log_density(x):
        inside = (x > 0.0) & (x < 1.0)
        safe = tf.where(inside, x, 0.5)
        return tf.where(inside, tf.math.log(safe) + tf.math.log1p(-safe), -np.inf)

    x = tf.constant(0.4)
    for _ in range(10):
        proposal = x + tf.constant(rng.normal(scale=0.7), tf.float32)
        accept = tf.exp(tf.minimum(log_density(proposal) - log_density(x), 0.0))
        x = tf.where(rng.uniform() < accept, proposal, x)
    assert 0.0 < x.numpy() < 1.0
