"""Trainings of several steps: optimizers, schedules, half floats, state, threads; one is late."""

from __future__ import annotations

import threading

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("Square")
def descent_with_a_step_beyond_the_edge():
    """Linear regression with a step of 2: the error grows each round, its square is ∞ first."""
    w = tf.Variable([[0.1], [0.2]])
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(16, 2)).astype("float32") * 3.0)
    y = tf.constant(rng.normal(size=(16, 1)).astype("float32"))

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            error = x @ w - y
            loss = tf.reduce_mean(tf.square(error))  # BUG
        w.assign_sub(2.0 * tape.gradient(loss, w))
        return loss

    for _ in range(30):
        step(x, y)


@buggy("Rsqrt")
def schedule_that_divides_by_the_root_of_step_zero():
    """A Keras schedule 0.1/√step is asked for step 0 before the first update: ∞."""

    class InverseRoot(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            now = tf.cast(step, tf.float32)
            return 0.1 * tf.math.rsqrt(now)  # BUG

    model = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(4, "relu"), layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(InverseRoot()), loss="mse")
    x = np.random.default_rng(1).normal(size=(16, 3)).astype("float32")
    model.fit(x, x[:, :1], batch_size=4, epochs=1, verbose=0)


@buggy("RealDiv")
def custom_gradient_of_a_log_barrier():
    """Forward clamps, the hand-written gradient divides by x itself, which reaches 0."""

    @tf.custom_gradient
    def barrier(x):
        def grad(upstream):
            return -upstream / x  # BUG

        return -tf.math.log(tf.maximum(x, 1e-6)), grad

    budget = tf.Variable([0.9, 0.5, 0.2])
    optimizer = tf.keras.optimizers.SGD(0.05)
    for _ in range(8):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(8.0 * budget) + 0.01 * tf.reduce_sum(barrier(budget))
        grads = tape.gradient(loss, [budget])  # ALSO
        optimizer.apply_gradients(zip(grads, [budget], strict=True))
        budget.assign(tf.nn.relu(budget))


@buggy("Mul")
def fixed_loss_scale_in_float16():
    """A loss of some 4 times 2¹⁵ is more than a float16 can hold; nobody looks before unscaling."""
    w = tf.Variable(tf.fill([4, 1], 0.5))
    scale = tf.constant(2.0**15, tf.float16)

    def half(v):
        return tf.cast(v, tf.float16)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(half(x), half(w)) - half(y)))
            scaled = loss * scale  # BUG
        grad = tf.cast(tape.gradient(scaled, w), tf.float32) / tf.cast(scale, tf.float32)
        w.assign_sub(0.01 * grad * tf.cast(scaled / scale, tf.float32))

    for target in (1.0, 1.2, 0.8, 4.0, 1.0):
        step(tf.fill([8, 4], 0.3), tf.fill([8, 1], target))


@buggy("RealDiv")
def adam_in_bfloat16():
    """Adam by hand: β₂ = 0.999 is 1 in bfloat16, and the bias correction divides by 1 - 1."""

    class Adam:
        def __init__(self, variable, beta1=0.9, beta2=0.999):
            self.variable, self.t = variable, 0
            self.betas = [tf.constant(b, tf.bfloat16) for b in (beta1, beta2)]
            self.moments = [tf.zeros_like(variable), tf.zeros_like(variable)]

        def corrected(self, i, value):
            beta = self.betas[i]
            self.moments[i] = beta * self.moments[i] + (1 - beta) * value
            return self.moments[i] / (1 - beta**self.t)  # BUG

        def apply(self, grad):
            self.t += 1
            m, v = self.corrected(0, grad), self.corrected(1, grad * grad)
            self.variable.assign_sub(m / (tf.sqrt(v) + 1e-3))

    w = tf.Variable(tf.cast([0.5, -1.5, 2.0], tf.bfloat16))
    optimizer = Adam(w)
    for _ in range(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w - 1))
        optimizer.apply(tape.gradient(loss, w))


@buggy("RealDiv", "ReadVariableOp")
def statistics_from_a_background_thread():
    """A worker thread updates shared feature scales; one batch is constant, σ is 0 there."""
    shared = tf.Variable(tf.ones([2]))
    w = tf.Variable([[0.3], [0.4]])
    rng = np.random.default_rng(2)

    def worker(batch):
        deviation = tf.math.reduce_std(batch, axis=0)
        shared.assign(0.5 * shared + 0.5 / deviation)  # BUG

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square((x * shared) @ w - 1.0))  # ALSO
        w.assign_sub(0.01 * tape.gradient(loss, w))

    for i in range(5):
        x = rng.normal(size=(6, 2)).astype("float32")
        if i == 3:
            x[:, 1] = 0.0
        thread = threading.Thread(target=worker, args=(tf.constant(x),))
        thread.start()
        thread.join()
        step(tf.constant(x))


@buggy("Exp")
def coupling_flow_with_an_unbounded_scale():
    """RealNVP trained by `train_step`: a batch in other units makes exp(s) overflow."""

    class Flow(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.net = layers.Dense(2, kernel_initializer=tf.keras.initializers.Constant(0.3))

        def couple(self, x):
            a, b = tf.split(x, 2, axis=-1)
            s, t = tf.split(self.net(a), 2, axis=-1)
            return tf.concat([a, b * tf.exp(s) + t], axis=-1), s[:, 0]  # BUG

        def train_step(self, x):
            with tf.GradientTape() as tape:
                z, log_det = self.couple(x)
                loss = tf.reduce_mean(0.5 * tf.reduce_sum(z * z, axis=1) - log_det)
            grads = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(grads, self.trainable_variables, strict=True))
            return {"loss": loss}

    x = np.random.default_rng(3).normal(size=(20, 2)).astype("float32")
    x[13] *= [1000.0, 1.0]
    x[13] = np.abs(x[13])
    flow = Flow()
    flow.compile(tf.keras.optimizers.Adam(1e-3))
    flow.fit(tf.data.Dataset.from_tensor_slices(x).batch(4), epochs=1, verbose=0)


@buggy("Exp", "Mul")
def elu_by_where_in_a_dense_layer():
    """where(x > 0, x, exp(x) - 1): forward is right, backward is 0 times ∞ for x above 88."""
    elu = lambda x: tf.where(x > 0.0, x, tf.exp(x) - 1.0)  # noqa: E731  # BUG
    model = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(3, elu), layers.Dense(1)])
    model.layers[0].kernel.assign([[1.0, 0.5, 0.2], [1.0, -0.5, 0.1]])
    optimizer = tf.keras.optimizers.SGD(1e-6)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(model(x) - y))
        grads = tape.gradient(loss, model.trainable_variables)  # ALSO
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))

    for big in (1.0, 30.0, 60.0, 5.0):
        step(tf.constant([[0.5, -1.0], [big, big]]), tf.constant([[1.0], [2.0]]))


@buggy("Const", kind="input")
def class_weights_of_a_class_never_seen():
    """numpy gives n/(k·count) = ∞ for an absent class; it shows up in a later batch."""
    seen = np.bincount([0, 1, 1, 0, 3, 3], minlength=4)
    with np.errstate(divide="ignore"):
        balance = (len(seen) / (4.0 * seen)).astype("float32")
    model = layers.Dense(4)
    model.build((None, 3))

    @tf.function
    def step(x, labels):
        table = tf.constant(balance)  # BUG
        with tf.GradientTape() as tape:
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(x))
            loss = tf.reduce_mean(tf.gather(table, labels) * loss)
        model.kernel.assign_sub(0.1 * tape.gradient(loss, model.kernel))

    for labels in ([0, 1], [3, 1], [0, 2], [1, 1]):
        step(tf.random.normal([2, 3]), tf.constant(labels))


@healthy
def noam_schedule_at_step_zero():
    """min(1/√0, 0) is 0: the ∞ of the first step never leaves the schedule."""
    w = tf.Variable([1.0, -2.0])
    for i in range(5):
        step = tf.constant(float(i))
        rate = 0.5 * tf.minimum(tf.math.rsqrt(step), step * 3.0**-1.5)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w))
        w.assign_sub(rate * tape.gradient(loss, w))


@healthy
def dynamic_loss_scale_that_skips_steps():
    """Mixed precision by Keras with far too big a first scale: steps are skipped, as designed."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    model = tf.keras.Sequential(
        [tf.keras.Input((4,)), layers.Dense(4, "relu"), layers.Dense(1, dtype="float32")]
    )
    inner = tf.keras.optimizers.SGD(0.01)
    model.compile(tf.keras.optimizers.LossScaleOptimizer(inner, initial_scale=2.0**22), loss="mse")
    x = np.random.default_rng(4).normal(size=(32, 4)).astype("float32")
    model.fit(x, 3.0 * x[:, :1], batch_size=4, epochs=2, verbose=0)


@healthy
def early_stopping_on_a_best_loss_of_infinity():
    """The best loss so far is a variable that starts at ∞; only comparisons read it."""
    w, best = tf.Variable(5.0), tf.Variable(np.inf, trainable=False)
    patience = tf.Variable(0)
    for _ in range(6):
        with tf.GradientTape() as tape:
            loss = tf.square(w)
        w.assign_sub(0.9 * tape.gradient(loss, w))
        patience.assign(tf.where(loss < best, 0, patience + 1))
        best.assign(tf.minimum(best, loss))


@healthy
def saturated_sigmoid_by_hand():
    """1/(1 + exp(-x)) at -200: exp is ∞, the result 0, which is right; nothing is learned here."""
    gate = 1.0 / (1.0 + tf.exp(-tf.constant([-200.0, 0.0, 3.0, 500.0])))
    print(float(tf.reduce_sum(gate * tf.constant([1.0, 2.0, 3.0, 4.0]))))


@healthy
def small_vae_with_clipped_log_variance():
    """Reparametrisation with log σ² in [-10, 4], KL and a big learning rate."""
    encoder, decoder = layers.Dense(4), layers.Dense(5)
    encoder.build((None, 5))
    decoder.build((None, 2))
    variables = encoder.trainable_variables + decoder.trainable_variables
    optimizer = tf.keras.optimizers.Adam(0.3)
    optimizer.build(variables)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            mean, log_var = tf.split(encoder(x), 2, axis=-1)
            log_var = tf.clip_by_value(log_var, -10.0, 4.0)
            z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
            kl = -0.5 * tf.reduce_mean(1.0 + log_var - mean**2 - tf.exp(log_var))
            loss = kl + tf.reduce_mean(tf.square(decoder(z) - x))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    for _ in range(10):
        step(tf.random.normal([8, 5]) * 20.0)
