"""Training loops with all their machinery, as people post them when the loss is NaN."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("RealDiv")
def returns_of_an_episode_of_one_step():
    """REINFORCE: (returns - mean) / std, and an episode ends after its first step."""
    policy = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(8, "tanh"), layers.Dense(2)])
    optimizer = tf.keras.optimizers.Adam(1e-2)

    def discounted(rewards, gamma=0.99):
        n = tf.shape(rewards)[0]
        total, out = tf.constant(0.0), tf.TensorArray(tf.float32, size=n)
        for i in tf.range(n - 1, -1, -1):
            total = rewards[i] + gamma * total
            out = out.write(i, total)
        return out.stack()

    @tf.function(reduce_retracing=True)
    def learn(states, actions, rewards):
        returns = discounted(rewards)
        centred = returns - tf.reduce_mean(returns)
        returns = centred / tf.math.reduce_std(returns)  # BUG
        with tf.GradientTape() as tape:
            log_p = tf.nn.log_softmax(policy(states))
            chosen = tf.reduce_sum(log_p * tf.one_hot(actions, 2), axis=1)
            loss = -tf.reduce_mean(chosen * returns)
        grads = tape.gradient(loss, policy.trainable_variables)
        optimizer.apply_gradients(zip(grads, policy.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(0)
    for length in (5, 3, 1, 4):
        states = tf.constant(rng.normal(size=(length, 4)), tf.float32)
        learn(states, tf.constant(rng.integers(0, 2, length)), tf.ones([length]))


@buggy("RealDiv")
def windows_of_a_sensor_that_is_stuck():
    """A pipeline standardises each window by its own deviation; one channel is constant."""
    rng = np.random.default_rng(1)
    series = rng.normal(size=(60, 2)).astype("float32")
    series[30:50, 1] = 7.0

    def windows(series, length):
        starts = np.arange(0, len(series) - length, length)
        x = np.stack([series[i : i + length] for i in starts])
        y = np.stack([series[i + length, 0] for i in starts])
        return tf.data.Dataset.from_tensor_slices((x, y))

    def standardise(x):
        mean, variance = tf.nn.moments(x, axes=[1], keepdims=True)
        return (x - mean) / tf.sqrt(variance)  # BUG

    model = tf.keras.Sequential(
        [tf.keras.Input((10, 2)), layers.Lambda(standardise), layers.LSTM(6), layers.Dense(1)]
    )
    model.compile("adam", "mse")
    model.fit(windows(series, 10).batch(2), epochs=2, verbose=0)
    model.predict(series[None, :10], verbose=0)


@buggy("RealDiv")
def rare_word_that_is_in_no_document():
    """TF-IDF: log(N / df) over a vocabulary with a word that the corpus does not hold."""
    texts = ["the loss is nan", "why is the loss nan", "the model is fine", "nan again"]
    vocabulary = ["the", "loss", "is", "nan", "model", "again", "gradient"]

    def counts(texts):
        lookup = tf.keras.layers.StringLookup(vocabulary=vocabulary, num_oov_indices=1)
        tokens = lookup(tf.strings.split(texts)).to_tensor(default_value=0)
        hot = tf.one_hot(tokens, len(vocabulary) + 1)[..., 1:]
        return tf.reduce_sum(hot, axis=1)

    class TfIdf(layers.Layer):
        def __init__(self, frequency, documents):
            super().__init__()
            self.frequency, self.documents = frequency, float(documents)

        def call(self, count):
            rarity = self.documents / self.frequency  # BUG
            share = count / tf.maximum(tf.reduce_sum(count, axis=1, keepdims=True), 1.0)
            return share * tf.math.log(rarity)

    count = counts(tf.constant(texts))
    frequency = tf.reduce_sum(tf.cast(count > 0, tf.float32), axis=0)
    model = tf.keras.Sequential(
        [tf.keras.Input((len(vocabulary),)), TfIdf(frequency, len(texts)), layers.Dense(1)]
    )
    model.compile("adam", "mse")
    model.fit(count, np.array([1.0, 1.0, 0.0, 0.0]), batch_size=2, epochs=1, verbose=0)


@buggy("Rsqrt", "RealDiv", "Reciprocal")
def schedule_that_starts_at_step_zero():
    """Learning rate ~ 1 / √step; the first step is 0."""

    class InverseSquareRoot(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self, base, warmup):
            super().__init__()
            self.base, self.warmup = base, float(warmup)

        def __call__(self, step):
            step = tf.cast(step, tf.float32)
            decay = tf.math.rsqrt(step)  # BUG
            return self.base * decay * tf.sqrt(self.warmup)

        def get_config(self):
            return {"base": self.base, "warmup": self.warmup}

    rng = np.random.default_rng(2)
    x = rng.normal(size=(32, 5)).astype("float32")
    y = (x[:, :1] > 0).astype("float32")
    model = tf.keras.Sequential(
        [
            tf.keras.Input((5,)),
            layers.Dense(8, activation="relu"),
            layers.Dropout(0.2),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(InverseSquareRoot(1e-3, 100))
    model.compile(optimizer, loss="binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, batch_size=8, epochs=2, verbose=0)


@buggy("RealDiv")
def trust_ratio_of_a_parameter_without_gradient():
    """LAMB by hand: ||w|| / ||u||, and a branch whose output is masked has update 0."""

    class Lamb(tf.keras.optimizers.Optimizer):
        def build(self, variables):
            super().build(variables)
            self.m = [self.add_variable_from_reference(v, "m") for v in variables]

        def update_step(self, gradient, variable, learning_rate):
            m = self.m[self._get_variable_index(variable)]
            m.assign(0.9 * m + 0.1 * gradient)
            w_norm = tf.norm(tf.convert_to_tensor(variable))
            u_norm = tf.norm(tf.convert_to_tensor(m))
            ratio = w_norm / u_norm  # BUG
            ratio = tf.where(w_norm > 0, ratio, 1.0)
            variable.assign(variable - learning_rate * ratio * m)

    class Experts(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.a = layers.Dense(1, use_bias=False)
            self.b = layers.Dense(1, use_bias=False)

        def call(self, inputs):
            x, gate = inputs
            return gate * self.a(x) + (1.0 - gate) * self.b(x)

    x = np.random.default_rng(3).normal(size=(16, 3)).astype("float32")
    gate = np.ones((16, 1), "float32")
    model = Experts()
    model.compile(Lamb(learning_rate=0.01), loss="mse")
    model.fit((x, gate), x[:, :1], batch_size=8, epochs=1, verbose=0)


@buggy("RealDiv")
def accumulated_over_nothing():
    """Gradient accumulation: a flush after the counter was reset divides 0 by 0."""

    class Accumulator:
        def __init__(self, variables):
            self.variables = variables
            self.sums = [tf.Variable(tf.zeros_like(v)) for v in variables]
            self.count = tf.Variable(0.0)

        @tf.function
        def add(self, grads):
            for total, g in zip(self.sums, grads, strict=True):
                total.assign_add(g)
            self.count.assign_add(1.0)

        @tf.function
        def flush(self, rate):
            for v, total in zip(self.variables, self.sums, strict=True):
                mean = total / self.count  # BUG
                v.assign_sub(rate * mean)
                total.assign(tf.zeros_like(total))
            self.count.assign(0.0)

    model = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(4, "relu"), layers.Dense(1)])
    accumulator = Accumulator([v.value for v in model.trainable_variables])
    data = tf.data.Dataset.from_tensor_slices(tf.random.normal([24, 3], seed=4)).batch(4)
    for i, x in enumerate(data):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - 1.0))
        accumulator.add(tape.gradient(loss, accumulator.variables))
        if (i + 1) % 3 == 0:
            accumulator.flush(tf.constant(0.01))
    accumulator.flush(tf.constant(0.01))
    model(tf.ones([1, 3]))


@healthy
def clipped_by_the_norm_of_nothing():
    """Clipping by min(max_norm / norm, 1): ∞ where the hinge loss has no slope, so 1 is taken."""

    def clip(grads, max_norm):
        norm = tf.sqrt(tf.add_n([tf.reduce_sum(tf.square(g)) for g in grads]))
        factor = max_norm / norm
        return [g * tf.minimum(factor, 1.0) for g in grads]

    model = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(1)])
    model.layers[0].kernel.assign([[1.0], [1.0]])
    optimizer = tf.keras.optimizers.SGD(0.5)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            margin = y * model(x)[:, 0]
            loss = tf.reduce_mean(tf.nn.relu(1.0 - margin))
        grads = clip(tape.gradient(loss, model.trainable_variables), 1.0)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    easy = tf.constant([[9.0, 9.0], [-9.0, -9.0]])
    hard = tf.constant([[0.1, 0.0], [-0.1, 0.1]])
    for x in (hard, easy, hard):
        assert np.isfinite(train_step(x, tf.constant([1.0, -1.0])))
    assert all(np.isfinite(w).all() for w in model.get_weights())


@buggy("Exp")
def perplexity_of_an_untrained_model():
    """A metric exp(mean loss) in fit, and the loss starts above 88."""

    class Perplexity(tf.keras.metrics.Metric):
        def __init__(self, name="perplexity"):
            super().__init__(name=name)
            self.total = self.add_weight(name="total", initializer="zeros")
            self.count = self.add_weight(name="count", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            loss = tf.keras.losses.sparse_categorical_crossentropy(y_true, y_pred, True)
            self.total.assign_add(tf.reduce_sum(loss))
            self.count.assign_add(tf.cast(tf.size(loss), tf.float32))

        def result(self):
            mean = self.total / tf.maximum(self.count, 1.0)
            return tf.exp(mean)  # BUG

    rng = np.random.default_rng(5)
    tokens = rng.integers(0, 20, (16, 5))
    model = tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            layers.Embedding(20, 8, embeddings_initializer=tf.keras.initializers.Constant(20.0)),
            layers.Dense(20, kernel_initializer="random_normal"),
            layers.Rescaling(30.0),
        ]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=[Perplexity()])
    model.fit(tokens[:, :-1], tokens[:, 1:], batch_size=8, epochs=1, verbose=0)


@buggy("Log")
def logged_ratio_of_a_frozen_layer():
    """A callback logs log10(update / weight) after each epoch; a frozen layer has no update."""

    class UpdateRatio(tf.keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            self.before = [tf.identity(layer.kernel) for layer in self.model.layers]
            self.history = []

        def on_epoch_end(self, epoch, logs=None):
            for layer, old in zip(self.model.layers, self.before, strict=True):
                new = tf.convert_to_tensor(layer.kernel)
                ratio = tf.norm(new - old) / (tf.norm(new) + 1e-9)
                self.history.append(tf.math.log(ratio) / np.log(10.0))  # BUG
            self.before = [tf.identity(layer.kernel) for layer in self.model.layers]

    rng = np.random.default_rng(6)
    x = rng.normal(size=(24, 6)).astype("float32")
    base = layers.Dense(8, activation="relu", name="base")
    model = tf.keras.Sequential([tf.keras.Input((6,)), layers.Dense(6), base, layers.Dense(1)])
    base.trainable = False
    model.compile(tf.keras.optimizers.Adam(1e-2), "mae")
    model.fit(x, x[:, :1], batch_size=8, epochs=2, verbose=0, callbacks=[UpdateRatio()])


@buggy("BatchMatMulV2", "Einsum", "BatchMatMul")
def half_precision_scores_without_scale():
    """Mixed precision: q · k without 1/√d of large activations passes 65504 in float16."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")

    class Attention(layers.Layer):
        def __init__(self, width):
            super().__init__()
            big = tf.keras.initializers.RandomNormal(stddev=4.0, seed=0)
            self.query = layers.Dense(width, kernel_initializer=big)
            self.key = layers.Dense(width, kernel_initializer=big)
            self.value = layers.Dense(width)

        def call(self, x):
            q, k, v = self.query(x), self.key(x), self.value(x)
            scores = tf.matmul(q, k, transpose_b=True)  # BUG
            return tf.matmul(tf.nn.softmax(scores), v)

    inputs = tf.keras.Input((5, 16))
    x = Attention(64)(inputs)
    x = layers.GlobalAveragePooling1D()(x)
    outputs = layers.Dense(1, dtype="float32")(x)
    model = tf.keras.Model(inputs, outputs)
    model.compile("adam", "mse")
    x = np.random.default_rng(7).normal(0.0, 4.0, size=(8, 5, 16)).astype("float32")
    model.fit(x, np.ones((8, 1)), batch_size=4, epochs=1, verbose=0)


@buggy("RealDiv")
def weighted_loss_of_an_unlabelled_batch():
    """MirroredStrategy: Σ w·l / Σ w, and all the weights of one global batch are 0."""
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        model = tf.keras.Sequential(
            [tf.keras.Input((3,)), layers.Dense(6, "relu"), layers.Dense(1)]
        )
        optimizer = tf.keras.optimizers.SGD(0.01)

    def replica_step(batch):
        x, y, weight = batch
        with tf.GradientTape() as tape:
            error = tf.square(model(x, training=True)[:, 0] - y)
            loss = tf.reduce_sum(weight * error) / tf.reduce_sum(weight)  # BUG
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(grads, model.trainable_variables)
        return loss

    @tf.function
    def train_step(batch):
        losses = strategy.run(replica_step, args=(batch,))
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)

    x = np.random.default_rng(8).normal(size=(16, 3)).astype("float32")
    weight = np.ones(16, "float32")
    weight[8:12] = 0.0
    data = tf.data.Dataset.from_tensor_slices((x, x[:, 0], weight)).batch(4)
    for batch in strategy.experimental_distribute_dataset(data):
        train_step(batch)


@buggy("__inference", "Log", "StatefulPartitionedCall", "PartitionedCall")
def compiled_likelihood():
    """A step with jit_compile=True: log of a softmax that underflows; XLA hides the ops inside."""
    w = tf.Variable(tf.ones([4, 3]) * [[1.0, 0.0, -1.0]])

    @tf.function(jit_compile=True)
    def loss_and_slope(x, labels):
        logits = tf.matmul(x, w)
        probabilities = tf.nn.softmax(logits)
        log_p = tf.math.log(probabilities)  # ALSO
        hot = tf.one_hot(labels, 3)
        loss = -tf.reduce_mean(tf.reduce_sum(hot * log_p, axis=1))
        slope = (probabilities - hot) / tf.cast(tf.shape(x)[0], tf.float32)
        return loss, tf.matmul(x, slope, transpose_a=True)

    def train(x, labels, rate):
        loss, slope = loss_and_slope(x, labels)  # BUG
        w.assign_sub(rate * slope)
        return loss

    x = tf.random.uniform([6, 4], seed=9)
    labels = tf.constant([0, 1, 2, 0, 1, 2])
    history = [train(scale * x, labels, tf.constant(0.01)) for scale in (1.0, 1.0, 60.0)]
    tf.reduce_mean(tf.stack(history))


@buggy("Asin")
def distance_of_antipodes():
    """Haversine in nested functions: rounding makes the argument of asin more than 1."""

    @tf.function
    def haversine(angle):
        return tf.square(tf.sin(angle / 2.0))

    @tf.function
    def great_circle(a, b):
        d = b - a
        h = haversine(d[:, 0]) + 1.000001 * tf.cos(a[:, 0]) * tf.cos(b[:, 0]) * haversine(d[:, 1])
        return 2.0 * 6371.0 * tf.asin(tf.sqrt(h))  # BUG

    @tf.function
    def nearest(points, queries):
        n = tf.shape(queries)[0]
        out = tf.TensorArray(tf.float32, size=n)
        for i in tf.range(n):
            query = tf.broadcast_to(queries[i], tf.shape(points))
            out = out.write(i, tf.reduce_max(great_circle(points, query)))
        return out.stack()

    pi = float(np.pi)
    cities = tf.constant([[0.9, 0.1], [0.7, -1.3], [0.0, 0.0]])
    nearest(cities, tf.constant([[0.6, 0.5], [0.0, 1.0]]))
    nearest(cities, tf.constant([[0.6, 0.5], [0.0, pi]]))


@buggy("RealDiv")
def newton_at_a_stationary_point():
    """tf.while_loop: x - f / f' started where the slope is 0."""

    def f(x):
        return x**3 - 3.0 * x + 1.0

    def slope(x):
        return 3.0 * x * x - 3.0

    @tf.function
    def solve(start, iterations=6):
        def going_on(i, x, change):
            return tf.logical_and(i < iterations, tf.reduce_max(tf.abs(change)) > 1e-5)

        def body(i, x, change):
            change = f(x) / slope(x)  # BUG
            return i + 1, x - change, change

        start = tf.convert_to_tensor(start)
        _, x, _ = tf.while_loop(going_on, body, [0, start, tf.ones_like(start)])
        return x

    roots = [solve(tf.constant(start)) for start in ([0.2, 2.0], [-2.0, 1.5], [0.5, 1.0])]
    tf.reduce_mean(tf.stack(roots), axis=0)


@buggy("Log")
def entropy_of_each_topic():
    """tf.map_fn: p log p of word shares with a zero, in an evaluation after each epoch."""
    share = tf.Variable(tf.fill([3, 4], 0.25))

    def entropy(row):
        p = row / tf.reduce_sum(row)
        log_p = tf.math.log(p)  # BUG
        return -tf.reduce_sum(p * log_p)

    @tf.function
    def evaluate(topics):
        return tf.reduce_mean(tf.map_fn(entropy, topics))

    @tf.function
    def sparsify(topics, threshold):
        shrunk = tf.nn.relu(topics - threshold)
        return shrunk / tf.reduce_sum(shrunk, axis=1, keepdims=True)

    rng = np.random.default_rng(10)
    counts = tf.constant(rng.integers(5, 30, (3, 4)), tf.float32)
    counts = tf.tensor_scatter_nd_update(counts, [[2, 1]], [1.0])
    history = []
    for epoch in range(3):
        share.assign(0.5 * share + 0.5 * counts / tf.reduce_sum(counts, axis=1, keepdims=True))
        share.assign(sparsify(share, tf.constant(0.05 * epoch)))
        history.append(evaluate(share))


@buggy("RealDiv")
def own_gradient_of_the_norm():
    """tf.custom_gradient: upstream · x / ||x||, and one row of x is 0."""

    @tf.custom_gradient
    def length(x):
        norm = tf.sqrt(tf.reduce_sum(tf.square(x), axis=1, keepdims=True))

        def backward(upstream):
            direction = x / norm  # BUG
            return upstream * direction

        return norm, backward

    class Capsules(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(4, activation="relu", use_bias=False)

        def call(self, x):
            return length(self.dense(x))

    rng = np.random.default_rng(11)
    x = rng.uniform(0.1, 1.0, size=(12, 3)).astype("float32")
    x[9] = 0.0
    model = Capsules()
    model.dense.build((None, 3))
    model.dense.kernel.assign(tf.fill([3, 4], 0.3))
    model.compile("sgd", "mse")
    model.fit(x, np.ones((12, 1), "float32"), batch_size=4, shuffle=False, epochs=1, verbose=0)


@buggy("Log")
def session_of_the_first_tensorflow():
    """A TF1 graph with placeholders: -Σ y log(softmax) by hand, as in the first tutorials."""
    v1 = tf.compat.v1
    rng = np.random.default_rng(12)
    pictures = rng.uniform(size=(20, 6)).astype("float32")
    labels = np.eye(3, dtype="float32")[rng.integers(0, 3, 20)]
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 6], name="x")
        y = v1.placeholder(tf.float32, [None, 3], name="y")
        w = v1.get_variable("w", [6, 3], initializer=v1.zeros_initializer())
        b = v1.get_variable("b", [3], initializer=v1.zeros_initializer())
        guess = tf.nn.softmax(tf.matmul(x, w) + b)
        log_guess = tf.math.log(guess)  # BUG
        entropy = -tf.reduce_sum(y * log_guess)
        train = v1.train.GradientDescentOptimizer(20.0).minimize(entropy)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(4):
                session.run([train, entropy], {x: pictures, y: labels})


@buggy("Square", "Mul", "SquaredDifference")
def learning_rate_of_one_hundred():
    """A regression diverges: errors grow a thousandfold each step until their square is ∞."""
    rng = np.random.default_rng(13)
    x = rng.normal(size=(64, 4)).astype("float32")
    y = x @ np.array([[1.0], [-2.0], [0.5], [0.0]], "float32")

    class Regression(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.w = self.add_weight(shape=(4, 1), initializer="zeros")
            self.b = self.add_weight(shape=(1,), initializer="zeros")

        def call(self, x):
            return tf.matmul(x, self.w) + self.b

    def squared(y_true, y_pred):
        error = y_pred - y_true
        return tf.reduce_mean(tf.square(error), axis=-1)  # BUG

    model = Regression()
    model.compile(tf.keras.optimizers.SGD(1e6), loss=squared)
    model.fit(x, y, batch_size=32, epochs=3, verbose=0)


@buggy("Rsqrt")
def layer_norm_without_epsilon():
    """A hand-made layer norm after a ReLU: a row of zeros has variance 0."""

    class LayerNorm(layers.Layer):
        def build(self, shape):
            self.gain = self.add_weight(shape=(shape[-1],), initializer="ones")
            self.shift = self.add_weight(shape=(shape[-1],), initializer="zeros")

        def call(self, x):
            mean = tf.reduce_mean(x, axis=-1, keepdims=True)
            variance = tf.reduce_mean(tf.square(x - mean), axis=-1, keepdims=True)
            scale = tf.math.rsqrt(variance)  # BUG
            return (x - mean) * scale * self.gain + self.shift

    class Residual(layers.Layer):
        def __init__(self, units):
            super().__init__()
            self.dense = layers.Dense(units, activation="relu", use_bias=False)
            self.norm = LayerNorm()

        def call(self, x):
            return self.norm(x + self.dense(x))

    x = np.random.default_rng(14).uniform(size=(16, 6)).astype("float32")
    x[13] = 0.0
    model = tf.keras.Sequential([tf.keras.Input((6,)), Residual(6), layers.Dense(1)])
    model.compile("rmsprop", "mse")
    model.fit(x, x[:, :1], batch_size=4, shuffle=False, epochs=1, verbose=0)


@buggy("RealDiv")
def heading_of_an_object_at_rest():
    """The gradient of atan2(0, 0): x² + y² = 0 is divided by, though the heading is finite."""

    class Tracker(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = layers.Dense(6, activation="relu", use_bias=False)
            self.velocity = layers.Dense(2, use_bias=False)

        def call(self, x):
            v = self.velocity(self.hidden(x))
            return tf.atan2(v[:, 1], v[:, 0])  # ALSO

    model = Tracker()
    optimizer = tf.keras.optimizers.Adam(1e-2)

    @tf.function
    def train_step(x, heading):
        with tf.GradientTape() as tape:
            difference = model(x) - heading
            loss = tf.reduce_mean(1.0 - tf.cos(difference))
        grads = tape.gradient(loss, model.trainable_variables)  # BUG
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(15)
    for moving in (True, True, False):
        x = rng.normal(size=(5, 4)).astype("float32")
        if not moving:
            x[3] = 0.0
        train_step(x, tf.constant([0.1, 0.2, -0.3, 1.0, 2.0]))


@buggy("Log")
def spectrogram_of_silence():
    """log of a mel spectrogram in a model's front end; one recording begins with zeros."""

    class LogMel(layers.Layer):
        def __init__(self, bands):
            super().__init__()
            self.mel = tf.signal.linear_to_mel_weight_matrix(bands, 33, 8000, 200.0, 3800.0)

        def call(self, wave):
            frames = tf.signal.stft(wave, frame_length=64, frame_step=32)
            power = tf.square(tf.abs(frames))
            mel = tf.matmul(power, self.mel)
            return tf.math.log(mel)  # BUG

    rng = np.random.default_rng(16)
    waves = rng.normal(0.0, 0.1, (8, 256)).astype("float32")
    waves[5, :100] = 0.0
    model = tf.keras.Sequential(
        [
            tf.keras.Input((256,)),
            LogMel(6),
            layers.Conv1D(4, 3, activation="relu"),
            layers.GlobalMaxPooling1D(),
            layers.Dense(2),
        ]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss)
    model.fit(waves, rng.integers(0, 2, 8), batch_size=4, shuffle=False, epochs=1, verbose=0)


@buggy("IteratorGetNext", "IteratorGetNextSync", kind="input")
def table_with_a_blank_cell():
    """A pipeline over a table read by NumPy: a blank cell has become NaN."""
    rows = ["1.0,2.0,0", "2.0,0.5,1", "3.0,1.5,0", "0.5,0.2,1", "4.0,,0", "1.0,1.0,1"]
    table = np.array([[float(c) if c else np.nan for c in r.split(",")] for r in rows], "float32")

    def split(row):
        return row[:2], row[2]

    data = tf.data.Dataset.from_tensor_slices((table[:, :2], table[:, 2])).batch(2)
    model = tf.keras.Sequential(
        [tf.keras.Input((2,)), layers.Dense(4, activation="tanh"), layers.Dense(1)]
    )
    optimizer = tf.keras.optimizers.Adam(0.01)
    bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = bce(y[:, None], model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    for _ in range(2):
        for x, y in data:  # BUG
            train_step(x, y)


@buggy("ReadVariableOp", "ResourceGather", "AssignVariableOp", kind="input")
def vectors_with_a_missing_word():
    """Pretrained vectors divided by their norms in NumPy: the one of the padding is NaN."""
    rng = np.random.default_rng(17)
    vectors = rng.normal(size=(10, 4)).astype("float32")
    vectors[0] = 0.0
    with np.errstate(invalid="ignore"):
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    table = tf.Variable(vectors, trainable=False)  # ALSO
    gru, head = layers.GRU(5), layers.Dense(1)
    optimizer = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def train_step(tokens, y):
        with tf.GradientTape() as tape:
            words = tf.nn.embedding_lookup(table, tokens)  # BUG
            loss = tf.reduce_mean(tf.square(head(gru(words))[:, 0] - y))
        variables = [*gru.trainable_weights, *head.trainable_weights]
        grads = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(grads, variables, strict=True))
        return loss

    for low in (1, 1, 0):
        tokens = rng.integers(low, 10, (4, 6))
        tokens[0, -1] = low
        train_step(tf.constant(tokens), tf.ones([4]))


@healthy
def warmup_of_the_transformer():
    """min(1 / √step, step · w^-1.5): at step 0 the first is ∞ and the second, 0, is taken."""

    class Warmup(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self, width, warmup=4000):
            super().__init__()
            self.width, self.warmup = tf.constant(width, tf.float32), warmup

        def __call__(self, step):
            step = tf.cast(step, tf.float32)
            falling = tf.math.rsqrt(step)
            rising = step * self.warmup**-1.5
            return tf.math.rsqrt(self.width) * tf.minimum(falling, rising)

    x = np.random.default_rng(20).normal(size=(24, 5)).astype("float32")
    model = tf.keras.Sequential([tf.keras.Input((5,)), layers.Dense(8, "relu"), layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(Warmup(128), beta_1=0.9, beta_2=0.98, epsilon=1e-9)
    model.compile(optimizer, "mse")
    history = model.fit(x, x[:, :1], batch_size=8, epochs=2, verbose=0)
    assert np.isfinite(history.history["loss"]).all()


@healthy
def loss_scale_that_starts_too_high():
    """Mixed precision: scaled by 2^20, the first gradients are ∞ in half; the steps are skipped."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    model = tf.keras.Sequential(
        [
            tf.keras.Input((6,)),
            layers.Dense(16, activation="relu"),
            layers.Dense(1, dtype="float32"),
        ]
    )
    inner = tf.keras.optimizers.SGD(1e-3)
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(inner, initial_scale=2.0**20)
    model.compile(optimizer, "mse")
    x = np.random.default_rng(21).normal(size=(48, 6)).astype("float32")
    model.fit(x, 3.0 * x[:, :1], batch_size=8, epochs=2, verbose=0)
    assert all(np.isfinite(w).all() for w in model.get_weights())
    assert float(optimizer.dynamic_scale) < 2.0**20


@healthy
def step_skipped_when_not_finite():
    """A guard of one's own: gradients that are not finite are counted and never applied."""
    w = tf.Variable([1.0, 2.0])
    skipped = tf.Variable(0)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            rate = tf.exp(tf.linalg.matvec(x, w))
            loss = tf.reduce_mean(rate - y * tf.linalg.matvec(x, w))
        grad = tape.gradient(loss, w)
        if tf.reduce_all(tf.math.is_finite(grad)):
            w.assign_sub(0.01 * grad)
        else:
            skipped.assign_add(1)
        return w.read_value()

    x = np.random.default_rng(22).normal(0.0, 0.3, (5, 4, 2)).astype("float32")
    x[2, 1] = 60.0
    for batch in x:
        assert np.isfinite(train_step(tf.constant(batch), tf.ones([4]))).all()
    assert int(skipped) == 1


@healthy
def series_with_gaps_in_its_labels():
    """NaN marks a missing label; where() takes it out of the loss before anything is computed."""

    class MaskedError(tf.keras.losses.Loss):
        def call(self, y_true, y_pred):
            known = tf.math.is_finite(y_true)
            target = tf.where(known, y_true, 0.0)
            error = tf.where(known, y_pred - target, 0.0)
            return tf.reduce_sum(tf.square(error), axis=-1)

    rng = np.random.default_rng(23)
    x = rng.normal(size=(20, 8, 1)).astype("float32")
    y = np.cumsum(x, axis=1)[..., 0]
    y[rng.uniform(size=y.shape) < 0.2] = np.nan
    model = tf.keras.Sequential([tf.keras.Input((8, 1)), layers.GRU(6), layers.Dense(8)])
    model.compile("adam", MaskedError())
    history = model.fit(x, y, batch_size=5, epochs=2, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
    assert np.isfinite(model.predict(x, verbose=0)).all()


@healthy
def plateau_with_a_best_of_infinity():
    """Best loss so far is a variable that starts as ∞; the rate is halved when it stays."""

    class Plateau(tf.keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.best = tf.Variable(np.inf, dtype=tf.float32)
            self.waited = tf.Variable(0)

        @tf.function
        def improved(self, loss):
            better = loss < self.best
            self.best.assign(tf.minimum(self.best, loss))
            self.waited.assign(tf.where(better, 0, self.waited + 1))
            return better

        def on_epoch_end(self, epoch, logs=None):
            self.improved(tf.constant(logs["loss"], tf.float32))

    x = np.random.default_rng(24).normal(size=(16, 3)).astype("float32")
    model = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(4, "tanh"), layers.Dense(1)])
    plateau = Plateau()
    model.compile(tf.keras.optimizers.SGD(0.01), "mse")
    model.fit(x, x[:, :1], batch_size=8, epochs=3, verbose=0, callbacks=[plateau])
    assert np.isfinite(plateau.best.numpy())


@healthy
def smallest_of_an_empty_selection():
    """reduce_min of nothing is ∞ and is then capped: no detection passes the threshold."""

    @tf.function(reduce_retracing=True)
    def closest(scores, distances, threshold):
        kept = tf.boolean_mask(distances, scores > threshold)
        nearest = tf.reduce_min(kept)
        return tf.minimum(nearest, 100.0)

    @tf.function(reduce_retracing=True)
    def brake(distance, speed):
        return tf.clip_by_value(speed * speed / (2.0 * distance), 0.0, 9.0)

    rng = np.random.default_rng(25)
    for threshold in (0.1, 0.5, 1.1):
        scores = tf.constant(rng.uniform(size=6), tf.float32)
        distances = tf.constant(rng.uniform(1.0, 50.0, 6), tf.float32)
        distance = closest(scores, distances, tf.constant(threshold))
        assert np.isfinite(distance)
        assert np.isfinite(brake(distance, tf.constant(20.0)))


@healthy
def proximal_policy_with_bounded_ratio():
    """PPO with the difference of logs clipped to ±20: ratios of 5e8, and nothing more."""
    policy = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(8, "tanh"), layers.Dense(4)])
    optimizer = tf.keras.optimizers.Adam(3e-4)

    @tf.function
    def update(states, actions, old, advantages):
        with tf.GradientTape() as tape:
            log_p = tf.nn.log_softmax(policy(states))
            new = tf.gather(log_p, actions, axis=1, batch_dims=1)
            ratio = tf.exp(tf.clip_by_value(new - old, -20.0, 20.0))
            clipped = tf.clip_by_value(ratio, 0.8, 1.2)
            loss = -tf.reduce_mean(tf.minimum(ratio * advantages, clipped * advantages))
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, axis=1))
            loss -= 0.01 * entropy
        grads = tape.gradient(loss, policy.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 0.5)
        optimizer.apply_gradients(zip(grads, policy.trainable_variables, strict=True))
        return norm

    rng = np.random.default_rng(26)
    for old in (-1.4, -150.0, -1.4):
        states = rng.normal(size=(6, 3)).astype("float32")
        advantages = tf.constant([1.0, -1.0, 0.5, 0.2, -0.3, 0.9])
        norm = update(states, rng.integers(0, 4, 6), tf.fill([6], old), advantages)
        assert np.isfinite(norm)


@healthy
def reported_in_decibels():
    """A metric in decibels for the log file: silence, whose logarithm is never taken, is -120."""

    class Loudness(tf.keras.callbacks.Callback):
        def __init__(self, wave):
            super().__init__()
            self.wave, self.seen = wave, []

        def on_epoch_end(self, epoch, logs=None):
            made = self.model(self.wave)
            power = tf.reduce_mean(tf.square(made), axis=1)
            loud = power > 0.0
            decibels = 10.0 * tf.math.log(tf.where(loud, power, 1.0)) / np.log(10.0)
            self.seen.append(tf.where(loud, decibels, -120.0))

    x = np.random.default_rng(27).normal(size=(8, 5)).astype("float32")
    x[2] = 0.0
    loudness = Loudness(tf.constant(x))
    model = tf.keras.Sequential([tf.keras.Input((5,)), layers.Dense(5, use_bias=False)])
    model.compile(tf.keras.optimizers.SGD(0.01), "mse")
    model.fit(x, 0.5 * x, batch_size=4, epochs=2, verbose=0, callbacks=[loudness])
    assert all(np.isfinite(d).all() for d in loudness.seen)


@healthy
def session_that_clips_its_logarithm():
    """A TF1 graph that clips the softmax before the log, with huge logits."""
    v1 = tf.compat.v1
    rng = np.random.default_rng(28)
    pictures = rng.uniform(size=(12, 6)).astype("float32")
    labels = np.eye(3, dtype="float32")[rng.integers(0, 3, 12)]
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 6])
        y = v1.placeholder(tf.float32, [None, 3])
        w = v1.get_variable("w", [6, 3], initializer=v1.zeros_initializer())
        guess = tf.nn.softmax(tf.matmul(x, w))
        entropy = -tf.reduce_sum(y * tf.math.log(tf.clip_by_value(guess, 1e-10, 1.0)))
        train = v1.train.GradientDescentOptimizer(20.0).minimize(entropy)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(4):
                _, loss = session.run([train, entropy], {x: pictures, y: labels})
                assert np.isfinite(loss)


@healthy
def entropy_where_only_the_safe_branch_learns():
    """p log p with where() on both sides: log 0 is never computed, gradients included."""
    logits = tf.Variable([[0.0, 200.0, -200.0], [1.0, 0.0, 2.0]])

    @tf.function
    def entropy(p):
        positive = p > 0.0
        safe = tf.where(positive, p, tf.ones_like(p))
        return -tf.reduce_sum(tf.where(positive, p * tf.math.log(safe), 0.0), axis=1)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(entropy(tf.nn.softmax(logits)))
        grad = tape.gradient(loss, logits)
        logits.assign_sub(0.1 * grad)
        return grad

    for _ in range(3):
        assert np.isfinite(train_step()).all()
    assert np.isfinite(logits).all()
