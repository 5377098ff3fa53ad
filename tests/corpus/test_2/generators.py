"""Sampling, densities, autoencoders, reinforcement."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Exp")
def autoencoder_with_unbounded_log_variance():
    """exp(log_var) in the divergence of a VAE; the inputs were not scaled."""

    class Sampling(tf.keras.layers.Layer):
        def call(self, inputs):
            mean, log_var = inputs
            divergence = 1 + log_var - tf.square(mean) - tf.exp(log_var)  # BUG
            self.add_loss(-0.5 * tf.reduce_mean(divergence))
            return mean + 0.01 * tf.random.normal(tf.shape(mean))

    x = np.random.default_rng(0).integers(0, 255, size=(16, 10)).astype("float32")
    ones = tf.keras.initializers.Constant(0.1)
    inputs = tf.keras.Input((10,))
    mean = tf.keras.layers.Dense(2)(inputs)
    log_var = tf.keras.layers.Dense(2, kernel_initializer=ones)(inputs)
    outputs = tf.keras.layers.Dense(10)(Sampling()([mean, log_var]))
    model = tf.keras.Model(inputs, outputs)
    model.compile("adam", "mse")
    model.fit(x, x, batch_size=4, epochs=1, verbose=0)


@buggy("Lgamma")
def student_t_without_degrees_of_freedom():
    """The degrees of freedom are a ReLU of the network: 0 for some, and lgamma(0) is ∞."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(16, 3)).astype("float32")
    y = rng.normal(size=(16, 1)).astype("float32")

    def nll(y_true, params):
        loc, df = params[:, :1], tf.nn.relu(params[:, 1:])
        z = tf.square(y_true - loc)
        top = tf.math.lgamma((df + 1.0) / 2.0)
        norm = tf.math.lgamma(df / 2.0) + 0.5 * tf.math.log(np.pi * (df + 1e-3))  # BUG
        return norm - top + (df + 1.0) / 2.0 * tf.math.log1p(z / (df + 1e-3))

    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    model.compile("adam", nll)
    model.fit(x, y, batch_size=8, epochs=1, verbose=0)


@buggy("Erfinv")
def quantiles_including_the_last():
    """The inverse normal by erfinv on linspace(0, 1): the ends are ±∞."""
    scale = tf.Variable(2.0)

    @tf.function
    def quantiles(n):
        u = tf.linspace(0.0, 1.0, n)
        z = np.sqrt(2.0) * tf.math.erfinv(2.0 * u - 1.0)  # BUG
        return scale * z

    tf.reduce_mean(quantiles(11))


@buggy("RealDiv")
def responsibilities_of_an_outlier():
    """The E step of a mixture: both densities underflow to 0 for a far point."""
    x = tf.constant([0.1, -0.3, 5.2, 4.8, 90.0])

    @tf.function
    def em(x, steps):
        mean, var = tf.constant([0.0, 5.0]), tf.constant([1.0, 1.0])
        for _ in tf.range(steps):
            density = tf.exp(-0.5 * (x[:, None] - mean) ** 2 / var) / tf.sqrt(2 * np.pi * var)
            r = density / tf.reduce_sum(density, axis=1, keepdims=True)  # BUG
            weight = tf.reduce_sum(r, axis=0)
            mean = tf.reduce_sum(r * x[:, None], axis=0) / weight
        return mean

    em(x[:4], tf.constant(2))
    em(x, tf.constant(3))


@buggy("RealDiv")
def affinities_of_a_lonely_point():
    """t-SNE: exp(-d² / 2σ²) is 0 for all the neighbours of an outlier, and so is their sum."""
    points = tf.constant(np.random.default_rng(2).normal(size=(8, 2)), tf.float32)
    points = tf.concat([points, [[60.0, 60.0]]], axis=0)
    d = tf.reduce_sum((points[:, None] - points[None]) ** 2, axis=-1)
    p = tf.exp(-d / 2.0)
    p = tf.linalg.set_diag(p, tf.zeros([9]))
    p = p / tf.reduce_sum(p, axis=1, keepdims=True)  # BUG
    joint = (p + tf.transpose(p)) / 18.0
    tf.reduce_max(joint)


@buggy("Log")
def policy_probability_underflows():
    """REINFORCE with softmax and log apart; exploration takes an action of probability 0."""
    theta = tf.Variable([[0.0, 0.0, 0.0]])
    actions = [0, 0, 0, 2]
    for action in actions:
        with tf.GradientTape() as tape:
            probs = tf.nn.softmax(theta)
            log_prob = tf.math.log(probs[0, action])  # BUG
            loss = -log_prob * 100.0
        theta.assign_sub(1.0 * tape.gradient(loss, theta))


@buggy("Pow")
def priorities_of_replay():
    """Importance weights (N p) ** -beta, and a transition has an error and a priority of 0."""
    errors = tf.constant([0.5, 0.0, 1.5, 0.25])
    w = tf.Variable([1.0, 1.0])
    states = tf.random.normal([4, 2], seed=8)

    @tf.function
    def learn(errors):
        p = tf.abs(errors) ** 0.6
        p = p / tf.reduce_sum(p)
        importance = tf.pow(4.0 * p, -0.4)  # BUG
        importance = importance / tf.reduce_max(importance)
        with tf.GradientTape() as tape:
            delta = tf.linalg.matvec(states, w) - 1.0
            loss = tf.reduce_mean(importance * delta**2)
        w.assign_sub(0.1 * tape.gradient(loss, w))

    learn(errors)


@buggy("Log")
def ranking_loss_of_a_far_pair():
    """BPR: log(sigmoid(x)) for a difference of scores of -130."""
    items = tf.Variable([[10.0, 0.0], [0.0, 14.0], [1.0, 1.0]])
    user = tf.Variable([[4.0, 12.0]])
    opt = tf.keras.optimizers.SGD(0.01)

    @tf.function
    def train(positive, negative):
        with tf.GradientTape() as tape:
            difference = tf.matmul(user, tf.expand_dims(items[positive] - items[negative], 1))
            bpr = -tf.reduce_mean(tf.math.log(tf.sigmoid(difference)))  # BUG
        opt.apply_gradients(zip(tape.gradient(bpr, [items, user]), [items, user], strict=True))

    train(tf.constant(1), tf.constant(2))
    train(tf.constant(0), tf.constant(1))


@buggy("Sub")
def forward_variables_of_an_alignment():
    """Log-add by hand: max and differences of -∞ and -∞ at states not yet reached."""
    frames = tf.nn.log_softmax(tf.random.normal([5, 4], seed=9))

    def log_add(a, b):
        top = tf.maximum(a, b)
        return top + tf.math.log(tf.exp(a - top) + tf.exp(b - top))  # BUG

    @tf.function
    def log_likelihood(frames):
        alpha = tf.concat([frames[0, :1], tf.fill([3], -np.inf)], axis=0)
        for t in tf.range(1, 5):
            shifted = tf.concat([[-np.inf], alpha[:-1]], axis=0)
            alpha = log_add(alpha, shifted) + frames[t]
        return alpha[-1]

    log_likelihood(frames)


@buggy("Exp")
def mish_in_training():
    """x · tanh(log(1 + exp(x))): exp(100) = ∞ is harmless forward, and ∞ / ∞ backward."""

    class Mish(tf.keras.layers.Layer):
        def call(self, x):
            return x * tf.tanh(tf.math.log(1.0 + tf.exp(x)))  # BUG

    x = np.random.default_rng(6).normal(size=(12, 4)).astype("float32")
    x[6] = 60.0
    dense = tf.keras.layers.Dense(3, kernel_initializer="ones")
    model = tf.keras.Sequential([tf.keras.Input((4,)), dense, Mish(), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mae")
    model.fit(x, x[:, :1], batch_size=4, shuffle=False, epochs=1, verbose=0)


@buggy("Pow")
def generalised_mean_pooling():
    """(mean x^p)^(1/p) of a channel of zeros: the value is 0, the slope ∞."""
    p = 3.0

    class GeM(tf.keras.layers.Layer):
        def call(self, x):
            mean = tf.reduce_mean(tf.pow(x, p), axis=[1, 2])
            return tf.pow(mean, 1.0 / p)  # ALSO

    x = np.random.default_rng(7).uniform(size=(6, 4, 4, 2)).astype("float32")
    x[3] = 0.0
    conv = tf.keras.layers.Conv2D(3, 1, activation="relu", use_bias=False)
    model = tf.keras.Sequential([tf.keras.Input((4, 4, 2)), conv, GeM(), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.train_on_batch(x, np.ones((6, 1), "float32"))  # BUG


@healthy
def geometric_blend_of_pictures():
    """exp(mean of logs): log 0 = -∞ comes back as exp(-∞) = 0, black; forward only."""
    a = tf.constant([[0.0, 0.5], [1.0, 0.25]])
    b = tf.constant([[0.3, 0.5], [0.0, 1.0]])

    @tf.function
    def blend(a, b, t):
        return tf.exp((1.0 - t) * tf.math.log(a) + t * tf.math.log(b))

    assert np.isfinite(blend(a, b, tf.constant(0.4))).all()


@healthy
def logistic_by_hand_for_prediction():
    """1 / (1 + exp(-x)): exp overflows for x = -100, and 1 / ∞ = 0 is the right answer."""
    x = tf.constant([-100.0, 0.0, 100.0])
    predict = tf.function(lambda x: 1.0 / (1.0 + tf.exp(-x)))
    np.testing.assert_allclose(predict(x), [0.0, 0.5, 1.0], atol=1e-6)


@healthy
def adversarial_pair_from_logits():
    """A small GAN with from_logits=True and a very sure discriminator."""
    g, d = tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)
    bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    g.build((4, 3))
    d.build((4, 2))
    d.kernel.assign([[300.0], [-200.0]])

    @tf.function
    def step(z, real):
        with tf.GradientTape(persistent=True) as tape:
            fake, truth = d(g(z)), d(real)
            d_loss = bce(tf.ones_like(truth), truth) + bce(tf.zeros_like(fake), fake)
            g_loss = bce(tf.ones_like(fake), fake)
        for layer, loss in ((d, d_loss), (g, g_loss)):
            for v, grad in zip(layer.weights, tape.gradient(loss, layer.weights), strict=True):
                v.assign_sub(0.01 * grad)
        return d_loss + g_loss

    for seed in range(3):
        loss = step(tf.random.normal([4, 3], seed=seed), tf.random.normal([4, 2], 3.0, seed=seed))
        assert np.isfinite(loss)
