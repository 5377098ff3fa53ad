"""One function called more than once: twin towers, shared layers and losses, methods, closures."""

from __future__ import annotations

import functools

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("RealDiv")
def signature_verification_with_a_blank_scan():
    """The shared tower scales codes to length 1 by hand; the second image is blank: 0/0."""
    kernel = tf.Variable(tf.random.normal([16, 4]))

    @tf.function
    def tower(image):
        code = tf.nn.relu(image @ kernel)
        return code / tf.norm(code, axis=1, keepdims=True)  # BUG

    written = np.random.default_rng(1).uniform(0.1, 1.0, [3, 16]).astype("float32")
    scanned = written.copy()
    scanned[2] = 0.0
    first = tower(tf.constant(written))
    second = tower(tf.constant(scanned))
    similarity = tf.reduce_sum(first * second, axis=1)
    loss = tf.reduce_mean(1.0 - similarity)
    print(float(loss))


@buggy("Log")
def critic_whose_loss_is_one_lambda():
    """The same `score` for real (p) and fake (1 - p); the critic knows one fake for sure."""
    critic = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(1)])
    critic.layers[-1].kernel.assign([[2.0], [1.0]])
    optimizer = tf.keras.optimizers.SGD(0.01)
    score = lambda p: tf.reduce_mean(tf.math.log(p))  # noqa: E731  # BUG

    @tf.function
    def judge(samples):
        return tf.sigmoid(critic(samples))

    @tf.function
    def step(real, fake):
        with tf.GradientTape() as tape:
            loss = -(score(judge(real)) + score(1.0 - judge(fake)))
        grads = tape.gradient(loss, critic.trainable_variables)
        optimizer.apply_gradients(zip(grads, critic.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(0)
    for i in range(6):
        fake = rng.normal(size=(5, 2)).astype("float32")
        if i == 4:
            fake[3] = [14.0, 3.0]
        step(tf.constant(rng.normal(size=(5, 2)).astype("float32")), tf.constant(fake))


@buggy("RealDiv")
def two_heads_and_one_swapped_keyword():
    """Relative error |p - t|/t; for the second head the arguments are swapped, p has zeros."""

    @tf.function
    def relative_error(prediction, target):
        return tf.reduce_mean(
            tf.abs(prediction - target) / target,  # BUG
        )

    price, demand = layers.Dense(1, "softplus"), layers.Dense(1, "relu")
    x = tf.constant(np.random.default_rng(2).normal(size=(12, 3)).astype("float32"))
    y = tf.ones([12, 1])
    price_loss = relative_error(target=y, prediction=price(x))
    demand_loss = relative_error(target=demand(x), prediction=y)
    print(float(price_loss + 0.5 * demand_loss))


@buggy("RealDiv")
def scaler_object_fitted_on_a_constant_column():
    """`Scaler.transform` runs on two sets; a column of the second sensor never moves: σ = 0."""

    class Scaler:
        def fit(self, x):
            self.mean = tf.reduce_mean(x, axis=0)
            self.deviation = tf.math.reduce_std(x, axis=0)
            return self

        def transform(self, x):
            centred = x - self.mean
            return centred / self.deviation  # BUG

    rng = np.random.default_rng(3)
    left = rng.normal(size=(10, 3)).astype("float32")
    right = left.copy()
    right[:, 1] = 4.0
    model = layers.Dense(1)
    inputs = [Scaler().fit(x).transform(x) for x in (left, right)]
    for x in inputs:
        print(float(tf.reduce_mean(tf.square(model(x)))))


@buggy("RealDiv")
def annealed_temperature_in_a_closure():
    """A captured temperature falls by 0.25 a step; at the fifth the logits are divided by 0."""
    temperature = tf.Variable(1.0, trainable=False)
    weights = tf.Variable(tf.random.normal([4, 3]))

    @tf.function
    def soften(logits):
        return tf.nn.softmax(logits / temperature)  # BUG

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            entropy = -tf.reduce_sum(tf.math.xlogy(soften(x @ weights), soften(x @ weights) + 1e-6))
        weights.assign_sub(0.01 * tape.gradient(entropy, weights))
        temperature.assign_sub(0.25)
        return entropy

    for _ in range(7):
        step(tf.random.normal([6, 4]))


@buggy("Pow")
def root_and_degree_handed_on_the_wrong_way_round():
    """`growth(rate, years)` calls `power(years, rate)`: a negative rate to a fractional power."""

    @tf.function
    def power(base, exponent):
        return tf.pow(base, exponent)  # BUG

    @tf.function
    def growth(years, rate):
        return power(rate, years)

    @tf.function
    def forecast(capital, years, rate):
        return capital * growth(years, rate) + capital * growth(years + 1.0, tf.abs(rate))

    rates, years = tf.constant([0.02, -0.01, 0.03]), tf.constant([1.5, 2.5, 3.5])
    print(float(tf.reduce_sum(forecast(tf.constant(100.0), rate=rates, years=years))))


@buggy("SqrtGrad")
def triplets_in_which_anchor_and_positive_are_one_image():
    """Distances through one `distance`; for the pair of equal images the root's slope is 1/0."""
    encoder = tf.keras.Sequential([tf.keras.Input((5,)), layers.Dense(3)])
    optimizer = tf.keras.optimizers.Adam(1e-2)

    def distance(a, b):
        return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1))  # ALSO

    @tf.function
    def step(anchor, positive, negative):
        with tf.GradientTape() as tape:
            a, p, n = encoder(anchor), encoder(positive), encoder(negative)
            loss = tf.reduce_mean(tf.nn.relu(distance(a, p) - distance(a, n) + 10.0))
        grads = tape.gradient(loss, encoder.trainable_variables)  # BUG
        optimizer.apply_gradients(zip(grads, encoder.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(4)
    for i in range(5):
        anchor, positive, negative = rng.normal(size=(3, 4, 5)).astype("float32")
        if i == 3:
            positive[1] = anchor[1]
        step(tf.constant(anchor), tf.constant(positive), tf.constant(negative))


@buggy("Exp")
def contrastive_views_without_normalisation():
    """NT-Xent for (a, b) and (b, a) by one function: products over 0.05 overflow in `exp`."""

    @tf.function
    def one_way(query, key, tau):
        likeness = tf.exp(tf.matmul(query, key, transpose_b=True) / tau)  # BUG
        positive = tf.linalg.diag_part(likeness)
        return -tf.reduce_mean(tf.math.log(positive / tf.reduce_sum(likeness, axis=1)))

    both_ways = functools.partial(one_way, tau=tf.constant(0.05))
    weights = tf.Variable(tf.random.normal([6, 8], stddev=0.8))
    with tf.GradientTape() as tape:
        view = tf.random.normal([4, 6])
        a, b = view @ weights, (view + 0.01) @ weights
        loss = both_ways(a, b) + both_ways(b, a)
    weights.assign_sub(0.1 * tape.gradient(loss, weights))


@buggy("RealDiv")
def percentage_error_in_a_table_of_lambdas():
    """Three scores in a dict; the percentage error divides by a day without sales."""
    scores = {
        "mae": lambda y, p: tf.reduce_mean(tf.abs(y - p)),
        "mape": lambda y, p: tf.reduce_mean(
            tf.abs((y - p) / y)  # BUG
        ),
        "bias": lambda y, p: tf.reduce_mean(p - y),
    }
    gain = tf.Variable(1.1)

    @tf.function
    def objective(x, y):
        return tf.add_n([score(y, gain * x) for score in scores.values()])

    for sales in ([3.0, 5.0, 2.0], [4.0, 0.0, 1.0], [2.0, 2.0, 2.0]):
        y = tf.constant(sales)
        with tf.GradientTape() as tape:
            loss = objective(y + 0.5, y)
        gain.assign_sub(0.1 * tape.gradient(loss, gain))


@buggy("RealDiv")
def weight_norm_of_a_tied_decoder():
    """Encoder and decoder share g·v/‖v‖; a column of v was pruned to 0, so 0/0."""
    rng = np.random.default_rng(5)
    start = rng.normal(size=(6, 4)).astype("float32")
    start[:, 2] = 0.0
    v, g = tf.Variable(start), tf.Variable(tf.ones([4]))

    def kernel():
        length = tf.sqrt(tf.reduce_sum(v * v, axis=0))
        return g * v / length  # BUG

    class Tied(tf.keras.Model):
        def call(self, x):
            return tf.tanh(x @ kernel()) @ tf.transpose(kernel())

    model = Tied()
    x = rng.normal(size=(8, 6)).astype("float32")
    model.compile("sgd", loss="mse")
    model.fit(x, x, batch_size=4, verbose=0)


@healthy
def towers_that_see_blank_images():
    """`l2_normalize` has an ε inside: a blank image gets the code 0, no NaN, in both towers."""
    kernel = tf.Variable(tf.random.normal([16, 4]))

    @tf.function
    def tower(image):
        return tf.math.l2_normalize(tf.nn.relu(image @ kernel), axis=1)

    for _ in range(3):
        image = tf.random.uniform([5, 16]) * tf.constant([[1.0], [0.0], [1.0], [1.0], [0.0]])
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(tf.reduce_sum(tower(image) * tower(image + 0.01), axis=1))
        kernel.assign_sub(0.1 * tape.gradient(loss, kernel))


@healthy
def mutual_learning_with_one_hot_teachers():
    """KL by `xlogy` and `xdivy`: classes with probability 0 count 0, for both pupils."""

    @tf.function
    def divergence(p, log_q):
        return tf.reduce_sum(tf.math.xlogy(p, p) - p * log_q, axis=-1)

    first, second = layers.Dense(3), layers.Dense(3)
    teacher = tf.one_hot([0, 2, 1, 1], 3)
    optimizer = tf.keras.optimizers.SGD(1.0)
    for _ in range(4):
        x = tf.random.normal([4, 5])
        with tf.GradientTape() as tape:
            logs = [tf.nn.log_softmax(pupil(x)) for pupil in (first, second)]
            loss = sum(tf.reduce_mean(divergence(teacher, log_q)) for log_q in logs)
            loss += tf.reduce_mean(divergence(tf.stop_gradient(tf.exp(logs[0])), log_q=logs[1]))
        variables = first.trainable_variables + second.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))


@healthy
def small_gan_on_logits():
    """An ordinary GAN with big learning steps; cross-entropy on logits stays finite."""
    make = lambda units: [layers.Dense(8, "relu"), layers.Dense(units)]  # noqa: E731
    generator, critic = tf.keras.Sequential(make(2)), tf.keras.Sequential(make(1))
    bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    optimizers = [tf.keras.optimizers.Adam(0.1), tf.keras.optimizers.Adam(0.1)]

    @tf.function
    def step(real):
        with tf.GradientTape(persistent=True) as tape:
            on_real, on_fake = critic(real), critic(generator(tf.random.normal([8, 3])))
            d_loss = bce(tf.ones([8, 1]), on_real) + bce(tf.zeros([8, 1]), on_fake)
            g_loss = bce(tf.ones([8, 1]), on_fake)
        for model, loss, optimizer in zip(
            (generator, critic), (g_loss, d_loss), optimizers, strict=True
        ):
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))

    generator(tf.zeros([1, 3]))
    critic(tf.zeros([1, 2]))
    for optimizer, model in zip(optimizers, (generator, critic), strict=True):
        optimizer.build(model.trainable_variables)
    for _ in range(12):
        step(tf.random.normal([8, 2]) * 3.0 + 20.0)
