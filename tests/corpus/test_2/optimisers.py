"""Optimisers, schedules and clipping."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def adam_with_epsilon_zero():
    """Adam(epsilon=0): rows of an embedding that no batch has used give 0 / sqrt(0)."""
    words = np.array([[1, 2], [2, 3], [1, 3], [3, 3]])
    layers = [tf.keras.layers.Embedding(6, 2), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)]
    model = tf.keras.Sequential(layers)
    model.compile(tf.keras.optimizers.Adam(0.01, epsilon=0.0), "mse")
    model.fit(words, np.ones(4), batch_size=2, epochs=2, verbose=0)  # BUG


@buggy("Rsqrt")
def adagrad_by_hand():
    """g · rsqrt(sum of squares): a feature that was 0 so far has a sum of 0."""
    w = tf.Variable(tf.zeros([3]))
    acc = tf.Variable(tf.zeros([3]))

    @tf.function
    def update(g):
        acc.assign_add(g * g)
        w.assign_sub(0.5 * g * tf.math.rsqrt(acc))  # BUG

    def train(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2)
        update(tape.gradient(loss, w))

    x = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
    x[:, 2] = 0.0
    train(tf.constant(x), tf.ones([8]))


@buggy("SqrtGrad")
def clipping_spreads_one_bad_gradient():
    """clip_by_global_norm: one tf.norm of zeros, and all the gradients are NaN after clipping."""
    dense, head = tf.keras.layers.Dense(4), tf.keras.layers.Dense(1, bias_initializer="zeros")
    optimizer = tf.keras.optimizers.Adam()
    x = tf.random.normal([6, 3], seed=1)
    dense.build(x.shape)
    head.build((6, 4))
    optimizer.build(dense.trainable_variables + head.trainable_variables)

    @tf.function
    def step():
        variables = dense.trainable_variables + head.trainable_variables
        with tf.GradientTape() as tape:
            out = head(tf.nn.tanh(dense(x)))
            decay = tf.add_n([tf.norm(v) for v in variables])  # ALSO
            loss = tf.reduce_mean(out**2) + 1e-3 * decay
        grads = tape.gradient(loss, variables)  # BUG
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        optimizer.apply_gradients(zip(grads, variables, strict=True))
        return loss, norm

    step()
    step()


@buggy("Pow")
def polynomial_decay_that_goes_on():
    """(1 - step / total) ** 0.9 as a schedule: after `total` steps the base is negative."""

    class Poly(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self, base, total):
            self.base, self.total = base, total

        def __call__(self, step):
            left = 1.0 - tf.cast(step, tf.float32) / self.total
            return self.base * tf.pow(left, 0.9)  # BUG

    x = np.random.default_rng(2).normal(size=(40, 2)).astype("float32")
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(Poly(0.05, 6.0)), "mse")
    model.fit(x, x[:, :1], batch_size=4, epochs=1, verbose=0)


@buggy("RealDiv")
def bias_correction_off_by_one():
    """Steps are counted from 0, so 1 - beta ** 0 is 0; eager."""
    beta, m = 0.9, tf.Variable([0.0, 0.0])
    target = tf.constant([1.0, -1.0])
    w = tf.Variable([0.5, 0.5])
    for step in range(3):
        g = 2.0 * (w - target)
        m.assign(beta * m + (1.0 - beta) * g)
        corrected = m / (1.0 - tf.pow(beta, float(step)))  # BUG
        w.assign_sub(0.1 * corrected)


@buggy("MatMul")
def wrong_initialiser_in_a_deep_net():
    """Weights from a normal distribution of deviation 50, twenty linear layers, one call."""
    rng = np.random.default_rng(3)
    weights = [tf.Variable(rng.normal(0, 50, size=(16, 16)), dtype=tf.float32) for _ in range(24)]

    @tf.function
    def forward(x):
        for w in weights:
            x = tf.nn.leaky_relu(tf.matmul(x, w))  # BUG
        return tf.reduce_mean(x)

    forward(tf.ones([2, 16]))


@buggy("SqrtGrad")
def root_mean_square_of_a_perfect_fit():
    """RMSE as a loss in fit: the model starts at the solution and the error is exactly 0."""

    def rmse(y_true, y_pred):
        return tf.sqrt(tf.reduce_mean(tf.square(y_true - y_pred)))  # ALSO

    x = np.arange(1.0, 9.0, dtype="float32")[:, None]
    dense = tf.keras.layers.Dense(1, kernel_initializer="ones", bias_initializer="zeros")
    model = tf.keras.Sequential([tf.keras.Input((1,)), dense])
    model.compile("sgd", rmse)
    model.fit(x, x.copy(), batch_size=8, epochs=1, verbose=0)  # BUG


@buggy("Mul")
def matrix_factorisation_diverges():
    """Stochastic updates with a rate of 3: the factors blow up in a few steps."""
    rng = np.random.default_rng(4)
    users = tf.Variable(rng.normal(size=(5, 3)), dtype=tf.float32)
    items = tf.Variable(rng.normal(size=(6, 3)), dtype=tf.float32)

    @tf.function
    def step(u, i, rating):
        p, q = users[u], items[i]
        products = p * q  # BUG
        error = rating - tf.reduce_sum(products)
        users.scatter_nd_add([[u]], [3.0 * error * q])  # ALSO
        items.scatter_nd_add([[i]], [3.0 * error * p])  # ALSO

    for n in range(12):
        step(tf.constant(n % 2), tf.constant(n % 3), tf.constant(4.0))


@healthy
def best_weights_are_kept():
    """The best loss starts as ∞; weights are copied when it falls, in a tf.cond."""
    w, kept, best = tf.Variable(4.0), tf.Variable(0.0), tf.Variable(np.inf)

    @tf.function
    def step(rate):
        with tf.GradientTape() as tape:
            loss = (w - 1.0) ** 2

        def keep():
            kept.assign(w)
            best.assign(loss)
            return True

        improved = tf.cond(loss < best, keep, lambda: False)
        w.assign_sub(rate * tape.gradient(loss, w))
        return improved

    for rate in (0.1, 0.3, 1.3, 0.2):
        step(tf.constant(rate))
    assert np.isfinite(best.numpy())


@healthy
def moving_average_that_starts_as_nan():
    """NaN says that nothing was measured yet: the first value replaces it."""
    average = tf.Variable(np.nan, dtype=tf.float32)

    @tf.function
    def update(x):
        average.assign(tf.where(tf.math.is_nan(average), x, 0.9 * average + 0.1 * x))
        return average.read_value()

    for x in (3.0, 5.0, 4.0):
        assert np.isfinite(update(tf.constant(x)))


@healthy
def dead_units_and_adam():
    """All units are dead: gradients are exactly 0 and Adam's own epsilon is enough."""
    x = np.random.default_rng(5).uniform(size=(16, 4)).astype("float32")
    hidden = tf.keras.layers.Dense(8, "relu", bias_initializer=tf.keras.initializers.Constant(-9.0))
    model = tf.keras.Sequential([tf.keras.Input((4,)), hidden, tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    history = model.fit(x, x[:, :1], batch_size=8, epochs=1, verbose=0)
    assert np.isfinite(history.history["loss"]).all()


@healthy
def early_stopping_by_hand():
    """patience, best = inf and a NaN placeholder for the validation loss in odd epochs."""
    w = tf.Variable(3.0)
    best, wait, log = float("inf"), 0, []
    for epoch in range(6):
        with tf.GradientTape() as tape:
            loss = tf.square(w - 1.0)
        w.assign_sub(0.4 * tape.gradient(loss, w))
        validation = tf.square(w - 1.1) if epoch % 2 == 0 else tf.constant(np.nan)
        log.append(float(validation))
        if epoch % 2 == 0:
            wait = 0 if validation < best else wait + 1
            best = min(best, float(validation))
        if wait > 1:
            break
    assert np.isfinite(w.numpy())


@healthy
def gradient_of_xlogy_and_no_nan():
    """divide_no_nan and xlog1py in a loss with zeros everywhere; the gradient is finite."""
    counts = tf.Variable([0.0, 3.0, 0.0])
    total = tf.constant([0.0, 6.0, 2.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            rate = tf.math.divide_no_nan(counts, total)
            loss = tf.reduce_sum(tf.math.xlog1py(1.0 - rate, -0.5 * rate) + rate**2)
        return tape.gradient(loss, counts)

    assert np.isfinite(step()).all()
