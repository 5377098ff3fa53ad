"""Whole small models, as people post them with the question why the loss is NaN."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("Log")
def variational_autoencoder_with_relu_sigma():
    """The encoder gives σ through a ReLU; the divergence takes log σ², and a unit is off."""

    class VAE(tf.keras.Model):
        def __init__(self, latent):
            super().__init__()
            self.hidden = layers.Dense(8, activation="tanh")
            self.mean = layers.Dense(latent)
            self.sigma = layers.Dense(latent, activation="relu")
            self.decoder = tf.keras.Sequential([layers.Dense(8, "tanh"), layers.Dense(6)])

        def call(self, x):
            h = self.hidden(x)
            mean, sigma = self.mean(h), self.sigma(h)
            z = mean + sigma * tf.random.normal(tf.shape(mean))
            variance = tf.square(sigma)
            log_variance = tf.math.log(variance)  # BUG
            kl = -0.5 * tf.reduce_sum(1.0 + log_variance - tf.square(mean) - variance, axis=1)
            self.add_loss(tf.reduce_mean(kl))
            return self.decoder(z)

    x = np.random.default_rng(0).normal(size=(32, 6)).astype("float32")
    model = VAE(4)
    model.compile(tf.keras.optimizers.Adam(1e-3), loss="mse")
    model.fit(x, x, batch_size=16, epochs=1, verbose=0)


@buggy("Log")
def adversarial_game_that_the_judge_wins():
    """Minimax loss log(1 - D(G(z))): D is so sure of one forgery that the sigmoid is 1."""
    generator = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(4), layers.Dense(2)])
    judge = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(1, activation="sigmoid")])
    judge.layers[-1].kernel.assign([[1.0], [1.0]])
    g_opt, d_opt = tf.keras.optimizers.Adam(1e-4), tf.keras.optimizers.Adam(1e-4)

    def judge_loss(real, fake):
        on_real = -tf.math.log(tf.maximum(real, 1e-6))
        on_fake = -tf.math.log(1.0 - fake)  # BUG
        return tf.reduce_mean(on_real) + tf.reduce_mean(on_fake)

    def forger_loss(fake):
        return tf.reduce_mean(-tf.math.log(tf.maximum(fake, 1e-6)))

    @tf.function
    def train_step(real, shift):
        z = tf.random.normal([8, 3])
        with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
            fake = generator(z, training=True) + shift
            real_score, fake_score = judge(real, training=True), judge(fake, training=True)
            d_loss, g_loss = judge_loss(real_score, fake_score), forger_loss(fake_score)
        g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
        d_grads = d_tape.gradient(d_loss, judge.trainable_variables)
        g_opt.apply_gradients(zip(g_grads, generator.trainable_variables, strict=True))
        d_opt.apply_gradients(zip(d_grads, judge.trainable_variables, strict=True))
        return d_loss

    for shift in (0.0, 0.5, 30.0, 0.0):
        train_step(tf.random.normal([8, 2]), tf.constant(shift))


@buggy("SqrtGrad")
def gradient_penalty_of_a_dead_critic():
    """WGAN-GP: the critic's ReLUs are all off, its input gradient is 0, and so is the norm."""

    class Critic(tf.keras.Model):
        def __init__(self):
            super().__init__()
            off = tf.keras.initializers.Constant(-50.0)
            self.hidden = layers.Dense(8, activation="relu", bias_initializer=off)
            self.score = layers.Dense(1)

        def call(self, x):
            return self.score(self.hidden(x))

    critic = Critic()
    optimizer = tf.keras.optimizers.Adam(1e-3, beta_1=0.5)

    def gradient_penalty(real, fake):
        mix = tf.random.uniform([tf.shape(real)[0], 1])
        between = mix * real + (1.0 - mix) * fake
        with tf.GradientTape() as inner:
            inner.watch(between)
            score = critic(between)
        slopes = inner.gradient(score, between)
        norm = tf.sqrt(tf.reduce_sum(tf.square(slopes), axis=1))  # ALSO
        return tf.reduce_mean((norm - 1.0) ** 2)

    @tf.function
    def critic_step(real, fake):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))
            loss += 10.0 * gradient_penalty(real, fake)
        grads = tape.gradient(loss, critic.trainable_variables)  # BUG
        optimizer.apply_gradients(
            (g, v) for g, v in zip(grads, critic.trainable_variables, strict=True) if g is not None
        )
        return loss

    for seed in range(2):
        critic_step(tf.random.normal([6, 2], seed=seed), tf.random.normal([6, 2], 2.0, seed=seed))


@buggy("RealDiv")
def replay_of_solved_transitions():
    """DQN: errors are scaled by the largest of the batch, and a batch is learnt perfectly."""

    class Dueling(tf.keras.Model):
        def __init__(self, actions):
            super().__init__()
            self.value = layers.Dense(1, use_bias=False, kernel_initializer="zeros")
            self.advantage = layers.Dense(actions, use_bias=False, kernel_initializer="zeros")

        def call(self, states):
            a = self.advantage(states)
            return self.value(states) + a - tf.reduce_mean(a, axis=1, keepdims=True)

    online, target = Dueling(3), Dueling(3)
    optimizer = tf.keras.optimizers.SGD(0.01)
    rng = np.random.default_rng(1)

    @tf.function
    def learn(states, actions, rewards, following, done):
        best = tf.reduce_max(target(following), axis=1)
        goal = rewards + 0.99 * best * (1.0 - done)
        with tf.GradientTape() as tape:
            q = tf.gather(online(states), actions, axis=1, batch_dims=1)
            error = tf.stop_gradient(goal) - q
            loss = tf.reduce_mean(tf.square(error))
        grads = tape.gradient(loss, online.trainable_variables)
        optimizer.apply_gradients(zip(grads, online.trainable_variables, strict=True))
        size = tf.abs(error)
        priority = size / tf.reduce_max(size)  # BUG
        return priority + 0.01

    memory = np.zeros(16, "float32")
    for episode in range(3):
        states = rng.normal(size=(4, 5)).astype("float32")
        following = rng.normal(size=(4, 5)).astype("float32")
        rewards = np.ones(4, "float32") if episode < 1 else np.zeros(4, "float32")
        if episode == 1:
            states[:] = 0.0
        actions, done = rng.integers(0, 3, 4), np.zeros(4, "float32")
        memory[episode * 4 : episode * 4 + 4] = learn(states, actions, rewards, following, done)


@buggy("Exp")
def proximal_policy_with_stale_actions():
    """PPO: exp(new - old log probability), and an old one in the buffer is -150."""

    class Policy(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = layers.Dense(16, activation="tanh")
            self.logits = layers.Dense(4)

        def call(self, x):
            return tf.nn.log_softmax(self.logits(self.hidden(x)))

    policy = Policy()
    optimizer = tf.keras.optimizers.Adam(3e-4)

    @tf.function
    def update(states, actions, old_log_probability, advantages, clip=0.2):
        with tf.GradientTape() as tape:
            log_probability = tf.reduce_sum(policy(states) * tf.one_hot(actions, 4), axis=1)
            ratio = tf.exp(log_probability - old_log_probability)  # BUG
            clipped = tf.clip_by_value(ratio, 1.0 - clip, 1.0 + clip)
            surrogate = tf.minimum(ratio * advantages, clipped * advantages)
            loss = -tf.reduce_mean(surrogate)
        grads = tape.gradient(loss, policy.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 0.5)
        optimizer.apply_gradients(zip(grads, policy.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(2)
    for old in (-1.4, -1.4, -150.0):
        states = rng.normal(size=(6, 3)).astype("float32")
        old_log_probability = np.full(6, -1.4, "float32")
        old_log_probability[2] = old
        advantages = tf.constant([1.0, -1.0, 0.5, 0.2, -0.3, 0.9])
        update(states, rng.integers(0, 4, 6), old_log_probability, advantages)


@buggy("RealDiv")
def translation_of_an_empty_sentence():
    """Seq2seq: weights are exp(score) · mask over their sum; one source is all padding."""

    class Attention(layers.Layer):
        def __init__(self, units):
            super().__init__()
            self.query, self.key = layers.Dense(units), layers.Dense(units)
            self.score = layers.Dense(1)

        def call(self, state, memory, mask):
            hidden = tf.tanh(self.query(state)[:, None] + self.key(memory))
            weights = tf.exp(self.score(hidden)[..., 0]) * mask
            weights = weights / tf.reduce_sum(weights, axis=1, keepdims=True)  # BUG
            return tf.reduce_sum(weights[..., None] * memory, axis=1)

    class Translator(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.embed = layers.Embedding(20, 6)
            self.encoder = layers.GRU(6, return_sequences=True, return_state=True)
            self.attention = Attention(6)
            self.cell = layers.GRUCell(6)
            self.output_layer = layers.Dense(20)

        def call(self, inputs):
            source, given = inputs
            mask = tf.cast(source > 0, tf.float32)
            memory, state = self.encoder(self.embed(source))
            outputs = []
            for t in range(3):
                context = self.attention(state, memory, mask)
                step = tf.concat([self.embed(given[:, t]), context], axis=-1)
                state, _ = self.cell(step, [state])
                outputs.append(self.output_layer(state))
            return tf.stack(outputs, axis=1)

    rng = np.random.default_rng(3)
    source, given = rng.integers(1, 20, (8, 5)), rng.integers(1, 20, (8, 3))
    source[6] = 0
    model = Translator()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss)
    model.fit((source, given), given, batch_size=4, shuffle=False, epochs=1, verbose=0)


@buggy("Softmax")
def transformer_with_a_padded_row():
    """-∞ where a key is padding: the last sentence of the batch is padding only."""

    class Block(layers.Layer):
        def __init__(self, width, heads):
            super().__init__()
            self.width, self.heads = width, heads
            self.qkv = layers.Dense(3 * width)
            self.out = layers.Dense(width)
            self.norm1, self.norm2 = layers.LayerNormalization(), layers.LayerNormalization()
            self.feed = tf.keras.Sequential([layers.Dense(16, "gelu"), layers.Dense(width)])

        def split(self, x):
            n, t = tf.shape(x)[0], tf.shape(x)[1]
            x = tf.reshape(x, [n, t, self.heads, self.width // self.heads])
            return tf.transpose(x, [0, 2, 1, 3])

        def call(self, x, keep):
            q, k, v = (self.split(part) for part in tf.split(self.qkv(x), 3, axis=-1))
            scores = tf.matmul(q, k, transpose_b=True) / np.sqrt(self.width // self.heads)
            scores = tf.where(keep[:, None, None, :], scores, -np.inf)
            weights = tf.nn.softmax(scores, axis=-1)  # BUG
            heads = tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3])
            x = self.norm1(x + self.out(tf.reshape(heads, tf.shape(x))))
            return self.norm2(x + self.feed(x))

    class Classifier(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.embed, self.block = layers.Embedding(30, 8), Block(8, 2)
            self.head = layers.Dense(2)

        def call(self, tokens):
            x = self.block(self.embed(tokens), keep=tokens > 0)
            return self.head(tf.reduce_mean(x, axis=1))

    tokens = np.random.default_rng(4).integers(1, 30, (12, 6))
    tokens[:, 4:] = 0
    tokens[11] = 0
    model = Classifier()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss)
    model.fit(tokens, tokens[:, 0] % 2, batch_size=4, shuffle=False, verbose=0)


@buggy("RealDiv")
def messages_to_an_isolated_node():
    """A graph network averages by a segment sum over the degree; a node has no edge."""

    class MeanConvolution(layers.Layer):
        def __init__(self, units):
            super().__init__()
            self.message, self.own = layers.Dense(units), layers.Dense(units)

        def call(self, nodes, edges):
            sender, receiver = edges[:, 0], edges[:, 1]
            n = tf.shape(nodes)[0]
            messages = self.message(tf.gather(nodes, sender))
            total = tf.math.unsorted_segment_sum(messages, receiver, n)
            degree = tf.math.unsorted_segment_sum(tf.ones_like(messages), receiver, n)
            mean = total / degree  # BUG
            return tf.nn.elu(self.own(nodes) + mean)

    first, second, head = MeanConvolution(8), MeanConvolution(8), layers.Dense(3)
    optimizer = tf.keras.optimizers.Adam(0.01)
    losses = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function(reduce_retracing=True)
    def train_step(nodes, edges, labels):
        with tf.GradientTape() as tape:
            hidden = second(first(nodes, edges), edges)
            loss = losses(labels, head(hidden))
        variables = [*first.weights, *second.weights, *head.weights]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    rng = np.random.default_rng(5)
    ring = np.array([(i, (i + 1) % 5) for i in range(5)])
    for edges in (ring, ring, np.array([(0, 1), (1, 2), (2, 3), (3, 0)])):
        nodes = rng.normal(size=(5, 4)).astype("float32")
        train_step(nodes, tf.constant(edges), rng.integers(0, 3, 5))


@buggy("Exp")
def tagger_with_raw_exponentials():
    """A CRF by hand: log(sum(exp(a))) of forward scores that grow with the sentence."""

    class CRF(layers.Layer):
        def __init__(self, tags):
            super().__init__()
            self.transitions = self.add_weight(shape=(tags, tags), initializer="zeros")

        def normaliser(self, emissions):
            alpha = emissions[:, 0]
            for t in tf.range(1, tf.shape(emissions)[1]):
                scores = alpha[:, :, None] + self.transitions[None] + emissions[:, t, None, :]
                alpha = tf.math.log(tf.reduce_sum(tf.exp(scores), axis=1))  # BUG
            return tf.reduce_logsumexp(alpha, axis=1)

        def path(self, emissions, tags):
            unary = tf.reduce_sum(emissions * tf.one_hot(tags, emissions.shape[-1]), axis=[1, 2])
            pairs = tf.stack([tags[:, :-1], tags[:, 1:]], axis=-1)
            return unary + tf.reduce_sum(tf.gather_nd(self.transitions, pairs), axis=1)

    crf, encoder = CRF(3), layers.Dense(3, kernel_initializer="ones")
    optimizer = tf.keras.optimizers.SGD(0.001)

    @tf.function(reduce_retracing=True)
    def train_step(x, tags):
        with tf.GradientTape() as tape:
            emissions = encoder(x)
            loss = tf.reduce_mean(crf.normaliser(emissions) - crf.path(emissions, tags))
        variables = [*encoder.trainable_weights, *crf.trainable_weights]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    for length in (3, 4, 12):
        tags = tf.constant(np.random.default_rng(length).integers(0, 3, (2, length)))
        train_step(tf.fill([2, length, 4], 2.5), tags)


@buggy("Log")
def flow_of_pixels_that_are_white():
    """A coupling flow after a logit: dequantised pixels are in (0, 1], and one is 1."""

    class Coupling(layers.Layer):
        def __init__(self, flip):
            super().__init__()
            self.flip = flip
            self.net = tf.keras.Sequential([layers.Dense(8, "relu"), layers.Dense(4)])

        def call(self, x):
            a, b = tf.split(x, 2, axis=1)
            if self.flip:
                a, b = b, a
            log_scale, shift = tf.split(self.net(a), 2, axis=1)
            log_scale = tf.tanh(log_scale)
            return tf.concat([a, b * tf.exp(log_scale) + shift], 1), tf.reduce_sum(log_scale, 1)

    couplings = [Coupling(False), Coupling(True)]
    optimizer = tf.keras.optimizers.Adam(1e-3)

    def log_density(pixels):
        x = (pixels + 1.0) / 256.0
        not_x = tf.math.log(1.0 - x)  # BUG
        logit = tf.math.log(x) - not_x
        log_det = tf.reduce_sum(-tf.math.log(x) - not_x, axis=1)
        for coupling in couplings:
            logit, more = coupling(logit)
            log_det += more
        return log_det - 0.5 * tf.reduce_sum(tf.square(logit) + np.log(2 * np.pi), axis=1)

    @tf.function
    def train_step(pixels):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(log_density(pixels))
        variables = [w for coupling in couplings for w in coupling.trainable_weights]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    pictures = np.random.default_rng(6).integers(10, 250, (24, 4)).astype("float32")
    pictures[20, 3] = 255.0
    for batch in tf.data.Dataset.from_tensor_slices(pictures).batch(8):
        train_step(batch)


@buggy("Log")
def mixture_density_of_an_outlier():
    """MDN: log(Σ π N(y)) without logsumexp; all the densities of one target underflow."""

    class MixtureNetwork(tf.keras.Model):
        def __init__(self, components):
            super().__init__()
            self.hidden = layers.Dense(12, activation="tanh")
            self.pi = layers.Dense(components, activation="softmax")
            self.mu = layers.Dense(components)
            self.sigma = layers.Dense(components, activation="softplus")

        def call(self, x):
            h = self.hidden(x)
            return tf.concat([self.pi(h), self.mu(h), self.sigma(h) + 1e-3], axis=-1)

    def negative_log_likelihood(y, parameters):
        pi, mu, sigma = tf.split(parameters, 3, axis=-1)
        z = (y - mu) / sigma
        density = tf.exp(-0.5 * tf.square(z)) / (sigma * np.sqrt(2.0 * np.pi))
        likelihood = tf.reduce_sum(pi * density, axis=-1)
        return -tf.reduce_mean(tf.math.log(likelihood))  # BUG

    rng = np.random.default_rng(7)
    x = rng.uniform(-1.0, 1.0, (40, 1)).astype("float32")
    y = (np.sin(3.0 * x) + 0.1 * rng.normal(size=x.shape)).astype("float32")
    y[35] = 80.0
    model = MixtureNetwork(3)
    model.compile(tf.keras.optimizers.Adam(1e-2), loss=negative_log_likelihood)
    model.fit(x, y, batch_size=10, shuffle=False, epochs=1, verbose=0)


@buggy("RealDiv")
def ray_samples_by_an_empty_histogram():
    """NeRF: samples from an inverse CDF, whose bins are all 0 for a ray through empty space."""

    class Field(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = layers.Dense(16, activation="relu")
            self.density = layers.Dense(1, activation="relu", bias_initializer="ones")
            self.colour = layers.Dense(3, activation="sigmoid")

        def call(self, points):
            h = self.hidden(points)
            return self.density(h)[..., 0], self.colour(h)

    field = Field()

    def render(density, colour, depth):
        gap = tf.concat([depth[1:] - depth[:-1], [1e10]], axis=0)
        alpha = 1.0 - tf.exp(-density * gap)
        seen = tf.math.cumprod(1.0 - alpha + 1e-10, axis=-1, exclusive=True)
        weights = alpha * seen
        return tf.reduce_sum(weights[..., None] * colour, axis=-2), weights

    def resample(weights, depth, n):
        pdf = weights / tf.reduce_sum(weights, axis=-1, keepdims=True)  # BUG
        cdf = tf.cumsum(pdf, axis=-1)
        u = tf.linspace(0.05, 0.95, n)
        index = tf.searchsorted(cdf, tf.tile(u[None], [tf.shape(cdf)[0], 1]))
        return tf.gather(depth, tf.minimum(index, tf.shape(depth)[0] - 1))

    @tf.function
    def render_rays(origins, directions, inside):
        depth = tf.linspace(1.0, 3.0, 8)
        points = origins[:, None] + directions[:, None] * depth[None, :, None]
        density, colour = field(points)
        density = density * inside[:, None]
        coarse, weights = render(density, colour, depth)
        fine = resample(weights, depth, 4)
        return coarse + tf.reduce_mean(fine, axis=-1, keepdims=True)

    directions = tf.constant([[0.0, 0.0, 1.0], [0.0, 0.6, 0.8], [0.0, 0.0, -1.0]])
    render_rays(tf.zeros([3, 3]), directions, tf.constant([1.0, 1.0, 1.0]))
    render_rays(tf.zeros([3, 3]), directions, tf.constant([1.0, 1.0, 0.0]))


@buggy("Sqrt")
def boxes_of_negative_width():
    """The first YOLO's loss: the square root of predicted widths, which can be negative."""

    def yolo_loss(truth, output):
        centre = tf.reduce_sum(tf.square(truth[..., 0:2] - output[..., 0:2]), axis=-1)
        predicted_size = tf.sqrt(output[..., 2:4])  # BUG
        size = tf.reduce_sum(tf.square(tf.sqrt(truth[..., 2:4]) - predicted_size), axis=-1)
        confidence = tf.square(truth[..., 4] - output[..., 4])
        present = truth[..., 4]
        box = 5.0 * present * (centre + size)
        return tf.reduce_sum(box + confidence * (0.5 + 0.5 * present), axis=[1, 2])

    model = tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 3)),
            layers.Conv2D(4, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(8, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(5, 1, bias_initializer=tf.keras.initializers.Constant(-0.2)),
        ]
    )
    rng = np.random.default_rng(8)
    images = rng.uniform(size=(8, 8, 8, 3)).astype("float32")
    truth = rng.uniform(0.1, 0.9, (8, 2, 2, 5)).astype("float32")
    truth[..., 4] = 1.0
    model.compile(tf.keras.optimizers.SGD(1e-3), yolo_loss)
    model.fit(images, truth, batch_size=4, epochs=1, verbose=0)


@buggy("RealDiv")
def aspect_ratio_of_a_flat_box():
    """The complete IoU: atan(w / h) of a label whose height is 0 (a box cut off by a crop)."""

    def corners(box):
        return box[..., :2] - box[..., 2:] / 2, box[..., :2] + box[..., 2:] / 2

    def complete_iou(a, b):
        (a0, a1), (b0, b1) = corners(a), corners(b)
        inside = tf.maximum(tf.minimum(a1, b1) - tf.maximum(a0, b0), 0.0)
        both = inside[..., 0] * inside[..., 1]
        area = a[..., 2] * a[..., 3] + b[..., 2] * b[..., 3]
        iou = both / (area - both + 1e-7)
        hull = tf.maximum(a1, b1) - tf.minimum(a0, b0)
        far = tf.reduce_sum(tf.square(hull), axis=-1) + 1e-7
        near = tf.reduce_sum(tf.square(a[..., :2] - b[..., :2]), axis=-1)
        wanted = b[..., 2] / b[..., 3]  # BUG
        shape = tf.square(tf.atan(wanted) - tf.atan(a[..., 2] / (a[..., 3] + 1e-7)))
        v = 4.0 / np.pi**2 * shape
        weight = v / (1.0 - iou + v + 1e-7)
        return iou - near / far - weight * v

    boxes = tf.Variable([[0.5, 0.5, 0.3, 0.3], [0.2, 0.3, 0.1, 0.2]])
    targets = np.array([[0.5, 0.4, 0.2, 0.3], [0.2, 0.2, 0.2, 0.2]], "float32")
    flat = np.array([[0.5, 0.4, 0.2, 0.3], [0.0, 0.2, 0.0, 0.0]], "float32")
    for labels in (targets, targets, flat):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(1.0 - complete_iou(boxes, tf.constant(labels)))
        boxes.assign_sub(0.05 * tape.gradient(loss, boxes))


@buggy("RealDiv")
def dice_of_a_slice_without_organ():
    """Dice without smoothing: the mask of a slice is empty, and so is the thresholded guess."""

    class Segmenter(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.down = layers.Conv2D(4, 3, padding="same", activation="relu", use_bias=False)
            self.up = layers.Conv2D(1, 1, activation="relu", use_bias=False)

        def call(self, x):
            return self.up(self.down(x))

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = dice_loss(y, self(x, training=True))
            grads = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply(grads, self.trainable_variables)
            return {"loss": loss}

    def dice_loss(y, p):
        overlap = 2.0 * tf.reduce_sum(y * p, axis=[1, 2, 3])
        total = tf.reduce_sum(y + p, axis=[1, 2, 3])
        return tf.reduce_mean(1.0 - overlap / total)  # BUG

    rng = np.random.default_rng(9)
    x = rng.uniform(size=(9, 6, 6, 1)).astype("float32")
    y = (x > 0.5).astype("float32")
    x[7], y[7] = 0.0, 0.0
    model = Segmenter()
    model.compile(tf.keras.optimizers.Adam(1e-3))
    model.fit(x, y, batch_size=3, shuffle=False, epochs=1, verbose=0)


@buggy("Pow")
def structural_similarity_of_inverted_pictures():
    """Multi-scale SSIM by hand: a negative similarity to the power 0.3 at a coarse scale."""
    powers = (0.3, 0.7)

    def similarity(a, b, c=0.01):
        mean_a = tf.nn.avg_pool2d(a, 2, 2, "VALID")
        mean_b = tf.nn.avg_pool2d(b, 2, 2, "VALID")
        covariance = tf.nn.avg_pool2d(a * b, 2, 2, "VALID") - mean_a * mean_b
        variance_a = tf.nn.avg_pool2d(a * a, 2, 2, "VALID") - mean_a * mean_a
        variance_b = tf.nn.avg_pool2d(b * b, 2, 2, "VALID") - mean_b * mean_b
        structure = (2.0 * covariance + c) / (variance_a + variance_b + c)
        return tf.reduce_mean(structure, axis=[1, 2, 3]), mean_a, mean_b

    @tf.function
    def multi_scale(a, b):
        result = 1.0
        for power in powers:
            s, a, b = similarity(a, b)
            result *= s**power  # BUG
        return tf.reduce_mean(1.0 - result)

    picture = tf.constant(np.random.default_rng(10).uniform(size=(2, 8, 8, 1)), tf.float32)
    contrast = tf.Variable(1.0)
    for target in (0.8, -0.8):
        with tf.GradientTape() as tape:
            loss = multi_scale(picture, 0.5 + target * contrast * (picture - 0.5))
        slope = tape.gradient(loss, contrast)
        contrast.assign_sub(0.001 * slope)


@buggy("Exp")
def contrastive_learning_with_a_cold_temperature():
    """InfoNCE by exp(similarity / τ) with a learned τ that starts at 0.01: e^100 is ∞."""

    class Projector(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.net = tf.keras.Sequential([layers.Dense(16, "relu"), layers.Dense(8)])
            self.log_temperature = self.add_weight(
                shape=(), initializer=tf.keras.initializers.Constant(np.log(0.01))
            )

        def call(self, x):
            return tf.math.l2_normalize(self.net(x), axis=1)

    model = Projector()
    optimizer = tf.keras.optimizers.Adam(1e-3)

    def nce(a, b):
        similarity = tf.matmul(a, b, transpose_b=True) / tf.exp(model.log_temperature)
        pairs = tf.exp(similarity)  # BUG
        positive = tf.linalg.diag_part(pairs)
        return -tf.reduce_mean(tf.math.log(positive / tf.reduce_sum(pairs, axis=1)))

    @tf.function
    def train_step(x):
        view_a = x + 0.01 * tf.random.normal(tf.shape(x))
        view_b = x + 0.01 * tf.random.normal(tf.shape(x))
        with tf.GradientTape() as tape:
            loss = 0.5 * (nce(model(view_a), model(view_b)) + nce(model(view_b), model(view_a)))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    for seed in range(2):
        train_step(tf.random.normal([6, 10], seed=seed))


@buggy("Log")
def recommender_with_negative_rates():
    """Poisson factorisation: log(u · v) of factors that are not kept positive."""

    class Factorisation(tf.keras.Model):
        def __init__(self, users, items, rank=4):
            super().__init__()
            positive = tf.keras.initializers.RandomUniform(0.1, 0.5)
            self.users = layers.Embedding(users, rank, embeddings_initializer=positive)
            self.items = layers.Embedding(items, rank, embeddings_initializer=positive)

        def call(self, pairs):
            return tf.reduce_sum(self.users(pairs[:, 0]) * self.items(pairs[:, 1]), axis=1)

    model = Factorisation(5, 6)
    optimizer = tf.keras.optimizers.SGD(2.0)

    @tf.function
    def train_step(pairs, counts):
        with tf.GradientTape() as tape:
            rate = model(pairs)
            log_rate = tf.math.log(rate)  # BUG
            loss = tf.reduce_mean(rate - counts * log_rate)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(11)
    pairs = np.stack([rng.integers(0, 5, 30), rng.integers(0, 6, 30)], axis=1)
    for start in (0, 10, 20, 0, 10, 20):
        counts = tf.zeros([10])
        train_step(tf.constant(pairs[start : start + 10]), counts)


@buggy("Log")
def evidence_of_a_gaussian_process():
    """log(det(K)) of 60 points: the determinant underflows to 0 and its logarithm is -∞."""
    x = tf.linspace(0.0, 5.0, 60)
    y = tf.sin(x)

    class GaussianProcess(tf.Module):
        def __init__(self):
            super().__init__()
            self.log_length = tf.Variable(-1.0)
            self.log_noise = tf.Variable(-2.0)

        def kernel(self, a, b):
            d = (a[:, None] - b[None]) / tf.exp(self.log_length)
            return tf.exp(-0.5 * tf.square(d))

        def negative_log_evidence(self, x, y):
            n = tf.shape(x)[0]
            k = self.kernel(x, x) + tf.exp(self.log_noise) ** 2 * tf.eye(n)
            solution = tf.linalg.solve(k, y[:, None])
            fit = 0.5 * tf.reduce_sum(y * solution[:, 0])
            volume = 0.5 * tf.math.log(tf.linalg.det(k))  # BUG
            return fit + volume

    process = GaussianProcess()
    optimizer = tf.keras.optimizers.SGD(1e-4)

    @tf.function(reduce_retracing=True)
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = process.negative_log_evidence(x, y)
        variables = process.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    train_step(x[::10], y[::10])
    train_step(x, y)


@buggy("RealDiv")
def filter_without_any_noise():
    """A Kalman filter whose process and measurement noise are 0: the gain is 0 / 0 at step 2."""

    class Kalman(tf.Module):
        def __init__(self, process, measurement):
            super().__init__()
            self.process = tf.constant(process)
            self.measurement = tf.constant(measurement)

        @tf.function
        def __call__(self, readings):
            n = tf.shape(readings)[0]
            estimates = tf.TensorArray(tf.float32, size=n)
            mean, variance = readings[0], tf.constant(1.0)
            for t in tf.range(n):
                variance += self.process
                gain = variance / (variance + self.measurement)  # BUG
                mean += gain * (readings[t] - mean)
                variance *= 1.0 - gain
                estimates = estimates.write(t, mean)
            return estimates.stack()

    readings = tf.constant([1.0, 1.1, 0.9, 1.05, 1.0])
    smooth = Kalman(0.01, 0.1)(readings)
    exact = Kalman(0.0, 0.0)(readings)
    tf.reduce_max(tf.abs(smooth - exact))


@healthy
def step_size_at_an_equilibrium():
    """A neural ODE with adaptive steps: tolerance / 0 = ∞ where f = 0, and the step is capped."""

    class Dynamics(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[-0.5, 1.0], [-1.0, -0.5]])

        def __call__(self, x):
            return tf.matmul(tf.tanh(x), self.w)

    f = Dynamics()

    def step(x, h):
        k1 = f(x)
        euler = x + h * k1
        heun = x + 0.5 * h * (k1 + f(euler))
        return heun, tf.reduce_max(tf.abs(heun - euler))

    @tf.function
    def solve(x, tolerance=1e-2):
        t, h = tf.constant(0.0), tf.constant(0.1)
        for _ in tf.range(8):
            if t >= 1.0:
                break
            x, error = step(x, h)
            t += h
            growth = tf.sqrt(tolerance / error)
            h = tf.minimum(h * growth, 1.0 - t)
        return x

    assert np.isfinite(solve(tf.constant([[1.0, -1.0], [0.5, 0.2]]))).all()
    assert np.isfinite(solve(tf.constant([[0.0, 0.0]]))).all()


@buggy("RealDiv")
def clean_picture_from_pure_noise():
    """Diffusion: x₀ = (x - √(1-ᾱ) ε) / √ᾱ, and a linear schedule lets ᾱ end at 0."""

    class Denoiser(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden, self.out = layers.Dense(16, activation="swish"), layers.Dense(4)

        def call(self, x, t):
            time = tf.cast(t, tf.float32)[:, None] / 10.0
            return self.out(self.hidden(tf.concat([x, time], axis=1)))

    alpha_bar = tf.constant(np.linspace(1.0, 0.0, 10), tf.float32)
    model = Denoiser()
    optimizer = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def train_step(x0, t):
        noise = tf.random.normal(tf.shape(x0))
        signal = tf.gather(alpha_bar, t)[:, None]
        x = tf.sqrt(signal) * x0 + tf.sqrt(1.0 - signal) * noise
        with tf.GradientTape() as tape:
            guess = model(x, t)
            rest = x - tf.sqrt(1.0 - signal) * guess
            clean = rest / tf.sqrt(signal)  # BUG
            loss = tf.reduce_mean(tf.abs(clean - x0))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    x0 = tf.random.normal([4, 4], seed=12)
    for times in ([1, 3, 5, 7], [2, 8, 4, 6], [0, 9, 3, 5]):
        train_step(x0, tf.constant(times))


@buggy("SqrtGrad")
def interatomic_distance_to_itself():
    """SchNet: the distance matrix holds the 0 of an atom to itself; energy is fine, forces not."""

    class Energy(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.centres = tf.linspace(0.0, 3.0, 6)
            self.hidden = layers.Dense(8, activation="softplus")
            self.out = layers.Dense(1)

        def call(self, positions):
            difference = positions[:, None] - positions[None]
            distance = tf.sqrt(tf.reduce_sum(tf.square(difference), axis=-1))  # ALSO
            basis = tf.exp(-4.0 * tf.square(distance[..., None] - self.centres))
            return tf.reduce_sum(self.out(self.hidden(basis)))

    energy = Energy()

    @tf.function
    def forces(positions):
        with tf.GradientTape() as tape:
            tape.watch(positions)
            total = energy(positions)
        return -tape.gradient(total, positions)  # BUG

    positions = tf.constant([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.2, 0.1]])
    velocity = tf.zeros_like(positions)
    for _ in range(2):
        velocity += 0.01 * forces(positions)
        positions += 0.01 * velocity


@healthy
def decoder_with_a_causal_mask():
    """-∞ above the diagonal before the softmax: each row has a key, and gradients are finite."""

    class Decoder(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.embed = layers.Embedding(12, 8)
            self.query, self.key, self.value = (layers.Dense(8) for _ in range(3))
            self.head = layers.Dense(12)

        def call(self, tokens):
            x = self.embed(tokens)
            n = tf.shape(x)[1]
            past = tf.linalg.band_part(tf.ones([n, n], tf.bool), -1, 0)
            scores = tf.matmul(self.query(x), self.key(x), transpose_b=True) / np.sqrt(8.0)
            mask = tf.where(past, 0.0, tf.fill([n, n], -np.inf))
            return self.head(tf.matmul(tf.nn.softmax(scores + mask), self.value(x)))

    tokens = np.random.default_rng(20).integers(0, 12, (8, 6))
    model = Decoder()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss)
    history = model.fit(tokens[:, :-1], tokens[:, 1:], batch_size=4, epochs=2, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
    assert all(np.isfinite(w).all() for w in model.get_weights())


@healthy
def legal_moves_of_a_board():
    """A Q network gives illegal moves -∞ before the maximum; one board has no moves and is done."""
    network = tf.keras.Sequential([tf.keras.Input((9,)), layers.Dense(16, "relu"), layers.Dense(9)])
    optimizer = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def learn(boards, moves, rewards, following):
        legal = tf.equal(following, 0.0)
        open_boards = tf.reduce_any(legal, axis=1)
        values = tf.where(legal, network(following), -np.inf)
        best = tf.reduce_max(values, axis=1)
        goal = rewards + tf.where(open_boards, 0.9 * best, 0.0)
        with tf.GradientTape() as tape:
            q = tf.gather(network(boards), moves, axis=1, batch_dims=1)
            loss = tf.reduce_mean(tf.square(tf.stop_gradient(goal) - q))
        grads = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(grads, network.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(21)
    for _ in range(3):
        boards = rng.integers(-1, 2, (4, 9)).astype("float32")
        following = boards.copy()
        following[0] = 1.0
        following[1:, 4] = 0.0
        assert np.isfinite(learn(boards, rng.integers(0, 9, 4), tf.ones([4]), following))


@healthy
def neighbours_by_no_nan_and_segment_max():
    """Empty segments: the maximum of none is the lowest float and is replaced; the mean is 0."""

    class Pool(layers.Layer):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(4)

        def call(self, nodes, sender, receiver):
            n = tf.shape(nodes)[0]
            messages = self.dense(tf.gather(nodes, sender))
            total = tf.math.unsorted_segment_sum(messages, receiver, n)
            count = tf.math.unsorted_segment_sum(tf.ones_like(messages), receiver, n)
            highest = tf.math.unsorted_segment_max(messages, receiver, n)
            highest = tf.where(count > 0, highest, 0.0)
            return tf.concat([tf.math.divide_no_nan(total, count), highest], axis=1)

    pool, head = Pool(), layers.Dense(1)

    @tf.function
    def train_step(nodes, sender, receiver):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(head(pool(nodes, sender, receiver)) - 1.0))
        variables = [*pool.trainable_weights, *head.trainable_weights]
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(0.01 * g)
        return loss

    sender, receiver = tf.constant([0, 1, 2]), tf.constant([1, 2, 1])
    for seed in range(3):
        assert np.isfinite(train_step(tf.random.normal([6, 3], seed=seed), sender, receiver))


@healthy
def flow_with_a_safe_logarithm():
    """log |s| where s can be 0: the argument is replaced before the log, and selected after it."""

    class Scale(layers.Layer):
        def __init__(self):
            super().__init__()
            self.s = self.add_weight(shape=(4,), initializer="ones")

        def call(self, x):
            used = tf.not_equal(self.s, 0.0)
            safe = tf.where(used, tf.abs(self.s), 1.0)
            log_det = tf.reduce_sum(tf.where(used, tf.math.log(safe), 0.0))
            return x * self.s, log_det

    scale = Scale()
    scale.s.assign([1.0, 0.0, 2.0, -0.5])

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            z, log_det = scale(x)
            loss = 0.5 * tf.reduce_mean(tf.reduce_sum(tf.square(z), axis=1)) - log_det
        grad = tape.gradient(loss, scale.s)
        scale.s.assign_sub(0.01 * grad)
        return loss

    for seed in range(3):
        assert np.isfinite(train_step(tf.random.normal([5, 4], seed=seed)))
    assert np.isfinite(scale.s).all()


@healthy
def alignment_with_infinite_borders():
    """Dynamic time warping: the table's borders are ∞, and each cell takes a minimum of three."""

    @tf.function
    def warp(a, b):
        n, m = a.shape[0], b.shape[0]
        cost = tf.abs(a[:, None] - b[None])
        row = tf.concat([[0.0], tf.fill([m], np.inf)], axis=0)
        for i in tf.range(n):
            cells = tf.TensorArray(tf.float32, size=m + 1, clear_after_read=False)
            cells = cells.write(0, np.inf)
            for j in tf.range(1, m + 1):
                best = tf.minimum(tf.minimum(row[j], row[j - 1]), cells.read(j - 1))
                cells = cells.write(j, cost[i, j - 1] + best)
            row = tf.ensure_shape(cells.stack(), [b.shape[0] + 1])
        return row[-1]

    a = tf.constant([0.0, 1.0, 2.0, 1.0])
    b = tf.constant([0.0, 0.9, 2.2, 2.1, 1.0])
    assert np.isfinite(warp(a, b))


@healthy
def beam_search_over_finished_sentences():
    """Hypotheses not yet in use score -∞; a finished one may only go on with the end token."""
    logits = layers.Dense(6, kernel_initializer="random_normal")
    embed = layers.Embedding(6, 4)

    @tf.function
    def search(width=3, steps=4):
        scores = tf.constant([0.0, -np.inf, -np.inf])
        tokens = tf.zeros([width, 1], tf.int32)
        finished = tf.zeros([width], tf.bool)
        for _ in range(steps):
            log_p = tf.nn.log_softmax(logits(embed(tokens[:, -1])))
            only_end = tf.where(tf.one_hot(5, 6, on_value=True, off_value=False), 0.0, -np.inf)
            log_p = tf.where(finished[:, None], only_end, log_p)
            total = tf.reshape(scores[:, None] + log_p, [-1])
            scores, index = tf.math.top_k(total, width)
            parent, token = index // 6, index % 6
            tokens = tf.concat([tf.gather(tokens, parent), token[:, None]], axis=1)
            finished = tf.gather(finished, parent) | tf.equal(token, 5)
        return tokens, scores

    _, scores = search()
    assert np.isfinite(scores).all()


@healthy
def gaussian_process_with_jitter():
    """Twice the same point and a tiny noise: jitter keeps the Cholesky factor real."""

    class Process(tf.Module):
        def __init__(self):
            super().__init__()
            self.log_length = tf.Variable(0.0)

        def evidence(self, x, y):
            d = (x[:, None] - x[None]) / tf.exp(self.log_length)
            k = tf.exp(-0.5 * tf.square(d)) + 1e-3 * tf.eye(tf.shape(x)[0])
            factor = tf.linalg.cholesky(k)
            solution = tf.linalg.cholesky_solve(factor, y[:, None])[:, 0]
            log_det = 2.0 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
            return 0.5 * tf.reduce_sum(y * solution) + 0.5 * log_det

    process = Process()
    x = tf.constant([0.0, 0.0, 1.0, 2.0, 3.5])
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = process.evidence(x, tf.sin(x))
        slope = tape.gradient(loss, process.log_length)
        process.log_length.assign_sub(0.001 * slope)
        assert np.isfinite(loss)
        assert np.isfinite(slope)


@healthy
def critic_with_a_floor_under_the_norm():
    """WGAN-GP with 1e-12 under the square root: the slope is large where the gradient is 0."""
    off = tf.keras.initializers.Constant(-50.0)
    hidden, score = layers.Dense(6, activation="relu", bias_initializer=off), layers.Dense(1)
    optimizer = tf.keras.optimizers.Adam(1e-3)

    def penalty(real, fake):
        middle = 0.5 * (real + fake)
        with tf.GradientTape() as inner:
            inner.watch(middle)
            out = score(hidden(middle))
        slopes = inner.gradient(out, middle)
        norm = tf.sqrt(tf.reduce_sum(tf.square(slopes), axis=1) + 1e-12)
        return tf.reduce_mean(tf.square(norm - 1.0))

    @tf.function
    def critic_step(real, fake):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(score(hidden(fake)) - score(hidden(real)))
            loss += 10.0 * penalty(real, fake)
        weights = [hidden.kernel, score.kernel]
        grads = tape.gradient(loss, weights)
        optimizer.apply_gradients(zip(grads, weights, strict=True))
        return tf.add_n([tf.reduce_sum(tf.abs(g)) for g in grads])

    for seed in range(2):
        real, fake = tf.random.normal([4, 2], seed=seed), tf.random.normal([4, 2], seed=seed + 9)
        assert np.isfinite(critic_step(real, fake))
