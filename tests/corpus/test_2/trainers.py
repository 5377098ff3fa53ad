"""Training: optimizers, callbacks, metrics, schedules, half precision, custom train steps."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("RealDiv")
def adam_by_hand_on_a_sparse_embedding():
    """Adam without ε: rows of the embedding that are not looked up have m / √v = 0 / 0."""

    class Adam:
        def __init__(self, variables, rate=1e-3, b1=0.9, b2=0.999):
            self.rate, self.b1, self.b2, self.t = rate, b1, b2, 0
            self.slots = [(tf.zeros_like(v), tf.zeros_like(v)) for v in variables]

        def step(self, variables, gradients):
            self.t += 1
            for i, (v, g) in enumerate(zip(variables, gradients, strict=True)):
                g = tf.convert_to_tensor(g)
                m, s = self.slots[i]
                m = self.b1 * m + (1 - self.b1) * g
                s = self.b2 * s + (1 - self.b2) * tf.square(g)
                self.slots[i] = (m, s)
                m_hat, s_hat = m / (1 - self.b1**self.t), s / (1 - self.b2**self.t)
                v.assign_sub(self.rate * m_hat / tf.sqrt(s_hat))  # BUG

    table = tf.Variable(tf.random.stateless_normal([6, 3], [0, 1]))
    optimizer = Adam([table])
    for ids in ([0, 2], [4, 0]):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, ids) - 1.0))
        optimizer.step([table], tape.gradient(loss, [table]))


@buggy("Rsqrt")
def rmsprop_by_hand_with_a_dead_unit():
    """RMSprop as g · rsqrt(cache): the unit that never fires has a gradient and a cache of 0."""
    w1 = tf.Variable([[1.0, -1.0], [0.5, -2.0]])
    w2 = tf.Variable([[1.0], [1.0]])
    caches = [tf.Variable(tf.zeros_like(w)) for w in (w1, w2)]

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(x, w1))
            loss = tf.reduce_mean(tf.square(tf.matmul(hidden, w2) - y))
        for w, g, cache in zip((w1, w2), tape.gradient(loss, [w1, w2]), caches, strict=True):
            cache.assign(0.9 * cache + 0.1 * g * g)
            w.assign_sub(0.01 * g * tf.math.rsqrt(cache))  # BUG
        return loss

    for _ in range(2):
        train_step(tf.constant([[1.0, 2.0], [3.0, 1.0]]), tf.constant([[1.0], [0.0]]))


@buggy("Square")
def linear_regression_on_house_prices():
    """Plain SGD on features of the order of 1000: the weights swing ever wider until overflow."""

    def squared_error(y_true, y_pred):
        return tf.reduce_mean(tf.square(y_true - y_pred))  # BUG

    rng = np.random.default_rng(0)
    area = rng.uniform(500, 3000, size=(64, 1)).astype("float32")
    model = tf.keras.Sequential([tf.keras.Input((1,)), layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(0.01), loss=squared_error)
    model.fit(area, 150 * area + 10, batch_size=16, epochs=4, verbose=0)  # ALSO


@buggy("RealDiv")
def percentage_error_on_days_without_sales():
    """The loss |y - p| / y is divided by the sales of a day on which there were none."""

    class MeanAbsolutePercentage(tf.keras.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_mean(tf.abs((y_true - y_pred) / y_true), axis=-1)  # BUG

    inputs = tf.keras.Input((3,))
    outputs = layers.Dense(1)(layers.Dense(6, activation="relu")(inputs))
    model = tf.keras.Model(inputs, outputs)
    model.compile("adam", MeanAbsolutePercentage())
    x = np.random.default_rng(0).normal(size=(24, 3)).astype("float32")
    sales = np.abs(x.sum(axis=1, keepdims=True)) + 1.0
    sales[13] = 0.0
    model.fit(x, sales, batch_size=8, shuffle=False, epochs=1, verbose=0)


@buggy("RealDiv")
def instance_norm_layer_without_epsilon():
    """A ReLU channel is 0 everywhere in an image: (x - mean) / std is 0 / 0."""

    class InstanceNorm(layers.Layer):
        def build(self, shape):
            self.gamma = self.add_weight(shape=(shape[-1],), initializer="ones")
            self.beta = self.add_weight(shape=(shape[-1],), initializer="zeros")

        def call(self, x):
            mean, variance = tf.nn.moments(x, axes=[1, 2], keepdims=True)
            return self.gamma * (x - mean) / tf.sqrt(variance) + self.beta  # BUG

    model = tf.keras.Sequential(
        [
            layers.Conv2D(4, 3, activation="relu", bias_initializer="ones"),
            InstanceNorm(),
            layers.GlobalAveragePooling2D(),
            layers.Dense(2, activation="softmax"),
        ]
    )
    model.compile("sgd", "sparse_categorical_crossentropy")
    images = np.random.default_rng(0).normal(size=(6, 8, 8, 1)).astype("float32")
    images[4] = 0.5
    model.fit(images, np.array([0, 1, 0, 1, 0, 1]), batch_size=3, shuffle=False, verbose=0)


@buggy("RealDiv")
def f1_metric_before_the_first_hit():
    """Precision is tp / (tp + fp) = 0 / 0 as long as nothing has been predicted positive."""

    class F1(tf.keras.metrics.Metric):
        def __init__(self):
            super().__init__(name="f1")
            self.tp = self.add_weight(name="tp", initializer="zeros")
            self.fp = self.add_weight(name="fp", initializer="zeros")
            self.fn = self.add_weight(name="fn", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            hit = tf.cast(y_pred > 0.5, tf.float32)
            self.tp.assign_add(tf.reduce_sum(hit * y_true))
            self.fp.assign_add(tf.reduce_sum(hit * (1 - y_true)))
            self.fn.assign_add(tf.reduce_sum((1 - hit) * y_true))

        def result(self):
            precision = self.tp / (self.tp + self.fp)  # BUG
            recall = self.tp / (self.tp + self.fn)
            return 2 * precision * recall / (precision + recall)

    model = tf.keras.Sequential(
        [layers.Dense(1, activation="sigmoid", bias_initializer=tf.constant_initializer(-9.0))]
    )
    model.compile("sgd", "binary_crossentropy", metrics=[F1()])
    x = np.random.default_rng(0).normal(size=(16, 2)).astype("float32")
    y = np.tile([[0.0], [1.0]], (8, 1)).astype("float32")
    model.fit(x, y, batch_size=8, epochs=1, verbose=0)


@buggy("Rsqrt")
def inverse_root_schedule_from_step_zero():
    """The learning rate 0.1 / √step is infinite in the first step, which is number 0."""

    class InverseRoot(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self, peak):
            self.peak = peak

        def __call__(self, step):
            return self.peak * tf.math.rsqrt(tf.cast(step, tf.float32))  # BUG

        def get_config(self):
            return {"peak": self.peak}

    model = tf.keras.Sequential([layers.Dense(4, activation="relu"), layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(InverseRoot(0.1)), "mse")
    x = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
    model.fit(x, x[:, :1], batch_size=8, epochs=1, verbose=0)


@buggy("Square")
def energy_penalty_in_half_precision():
    """Under mixed_float16 the square of an activation of 300 is beyond 65504."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")

    class EnergyPenalty(layers.Layer):
        def call(self, x):
            self.add_loss(1e-3 * tf.cast(tf.reduce_mean(tf.square(x)), tf.float32))  # BUG
            return x

    model = tf.keras.Sequential(
        [layers.Dense(4, kernel_initializer="ones"), EnergyPenalty(), layers.Dense(1)]
    )
    model.compile("sgd", "mse")
    x = np.full((8, 3), 100.0, "float32")
    model.fit(x, np.ones((8, 1), "float32"), batch_size=8, epochs=1, verbose=0)


@buggy("Cast", "Softmax")
def mask_of_minus_a_billion_in_half_precision():
    """-1e9 becomes -∞ as float16: a sequence of padding only has a softmax of nothing but -∞."""

    def attention(q, k, v, keep):
        scores = tf.matmul(q, k, transpose_b=True) * 0.5
        bias = tf.cast((1.0 - keep) * -1e9, scores.dtype)  # BUG
        weights = tf.nn.softmax(scores + bias[:, None, :])  # ALSO
        return tf.matmul(weights, v)

    @tf.function
    def encode(x, keep):
        x = tf.cast(x, tf.float16)
        return tf.reduce_mean(tf.cast(attention(x, x, x, keep), tf.float32), axis=[1, 2])

    x = tf.constant(np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32"))
    encode(x, tf.constant([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))


@buggy("Mul")
def fixed_loss_scale_that_is_too_large():
    """The float16 loss times a fixed scale of 2¹⁵ is beyond 65504, and no step is ever skipped."""
    w = tf.Variable(tf.fill([4, 1], 1.5))
    scale = 2.0**15

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            prediction = tf.matmul(x, tf.cast(w, tf.float16))
            loss = tf.reduce_mean(tf.square(prediction - y))
            scaled = loss * scale  # BUG
        gradient = tape.gradient(scaled, w) / scale
        w.assign_sub(0.01 * gradient)
        return scaled / scale

    x = tf.constant(np.eye(4), tf.float16)
    for _ in range(2):
        train_step(x, tf.fill([4, 1], tf.constant(-1.0, tf.float16)))


@buggy("L2Loss")
def clipping_of_a_gradient_that_is_huge_but_finite():
    """clip_by_global_norm squares a gradient of 1e21; the norm is ∞, and so all is NaN."""
    w = tf.Variable([30.0, 1.0])
    optimizer = tf.keras.optimizers.SGD(0.1)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.exp(w * x))
        gradients = tape.gradient(loss, [w])
        clipped, _ = tf.clip_by_global_norm(gradients, 1.0)  # BUG
        optimizer.apply_gradients(zip(clipped, [w], strict=True))
        return loss

    for x in (0.1, 1.6):
        step(tf.constant([x, x]))


@buggy("Rsqrt")
def batch_normalisation_with_epsilon_zero():
    """BatchNormalization(epsilon=0) meets a column that is constant in the batch."""
    model = tf.keras.Sequential(
        [tf.keras.Input((3,)), layers.BatchNormalization(epsilon=0.0), layers.Dense(1)]  # ALSO
    )
    model.compile("sgd", "mse")
    x = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
    x[:, 1] = 0.0
    model.fit(x, x[:, :1], batch_size=8, epochs=1, verbose=0)  # BUG


@buggy("RealDiv")
def token_loss_of_a_batch_of_padding():
    """A custom train_step divides the loss by the number of tokens, which one batch has none of."""

    class Tagger(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.embed = layers.Embedding(10, 4)
            self.out = layers.Dense(3)

        def call(self, ids):
            return self.out(self.embed(ids))

        def train_step(self, data):
            ids, tags = data
            with tf.GradientTape() as tape:
                each = tf.nn.sparse_softmax_cross_entropy_with_logits(tags, self(ids))
                mask = tf.cast(ids != 0, tf.float32)
                loss = tf.reduce_sum(each * mask) / tf.reduce_sum(mask)  # BUG
            self.optimizer.apply(
                tape.gradient(loss, self.trainable_variables), self.trainable_variables
            )
            return {"loss": loss}

    ids = np.random.default_rng(0).integers(1, 10, size=(6, 5))
    ids[4:] = 0
    model = Tagger()
    model.compile(tf.keras.optimizers.Adam())
    model.fit(ids, ids % 3, batch_size=2, shuffle=False, epochs=1, verbose=0)


@buggy("ResourceApplyAdam", "ReadVariableOp")
def version_one_adam_with_epsilon_zero():
    """compat.v1 AdamOptimizer(epsilon=0): one op updates the weight whose gradient is 0, 0 / 0."""
    w = tf.Variable([1.0, 2.0, 3.0])
    optimizer = tf.compat.v1.train.AdamOptimizer(0.01, epsilon=0.0)
    x = tf.constant([1.0, 0.0, 2.0])
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.square(tf.reduce_sum(w * x) - 1.0)  # ALSO
        gradient = tape.gradient(loss, w)
        optimizer.apply_gradients([(gradient, w)])  # BUG


@healthy
def transformer_schedule_from_step_zero():
    """rsqrt(0) = ∞ in step 0, of which the minimum with the warm-up takes nothing."""

    class Warmup(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            step = tf.cast(step, tf.float32)
            return tf.math.rsqrt(8.0) * tf.minimum(tf.math.rsqrt(step), step * 10.0**-1.5)

        def get_config(self):
            return {}

    model = tf.keras.Sequential([layers.Dense(4, activation="tanh"), layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(Warmup()), "mse")
    x = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
    model.fit(x, x[:, :1], batch_size=8, epochs=1, verbose=0)


@healthy
def dynamic_loss_scale_that_skips_a_step():
    """The first steps of mixed precision overflow, are skipped, and the scale is halved."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    model = tf.keras.Sequential([layers.Dense(4, activation="tanh"), layers.Dense(1)])
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(
        tf.keras.optimizers.SGD(1e-3), initial_scale=2.0**17
    )
    model.compile(optimizer, "mse")
    x = np.random.default_rng(0).normal(size=(48, 3)).astype("float32")
    model.fit(x, 2 * x[:, :1], batch_size=8, epochs=1, verbose=0)
    assert all(np.isfinite(w).all() for w in model.get_weights())


@healthy
def causal_attention_with_infinite_mask():
    """The future is -∞ in the scores; every row has at least the present to attend to."""

    class CausalAttention(layers.Layer):
        def build(self, shape):
            self.qkv = layers.Dense(3 * shape[-1])

        def call(self, x):
            q, k, v = tf.split(self.qkv(x), 3, axis=-1)
            n = tf.shape(x)[1]
            future = tf.linalg.band_part(tf.ones([n, n], tf.bool), -1, 0)
            scores = tf.where(future, tf.matmul(q, k, transpose_b=True) / 2.0, -np.inf)
            return tf.matmul(tf.nn.softmax(scores), v)

    model = tf.keras.Sequential([CausalAttention(), layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.random.default_rng(0).normal(size=(4, 5, 4)).astype("float32")
    model.fit(x, x[:, :, :1], batch_size=2, epochs=1, verbose=0)


@healthy
def training_that_skips_batches_with_bad_gradients():
    """A batch whose loss overflows is found by is_finite, and its gradients are not applied."""
    w = tf.Variable([0.5, 0.2])

    @tf.function
    def careful_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.exp(tf.linalg.matvec(x, w)))
        gradient = tape.gradient(loss, w)
        if tf.reduce_all(tf.math.is_finite(gradient)):
            w.assign_sub(0.01 * gradient)
            return loss
        return tf.constant(0.0)

    for batch in ([[1.0, 2.0]], [[300.0, 10.0]], [[0.5, 1.0]]):
        careful_step(tf.constant(batch))
    assert np.isfinite(w.numpy()).all()
