"""Programs with two suspicious places, of which at most one is the bug."""

from __future__ import annotations

import math

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("Log")
def causal_attention_with_an_unguarded_likelihood():
    """The -∞ of the causal mask is right; the log of a probability that underflowed is not."""
    rng = np.random.default_rng(1)
    x = tf.constant(rng.normal(size=(2, 5, 4)), tf.float32)
    head = tf.Variable(rng.normal(size=(4, 7)) * 60.0, dtype=tf.float32)
    targets = tf.constant(rng.integers(0, 7, size=(2, 5)))
    future = tf.linalg.band_part(tf.ones([5, 5]), -1, 0) < 0.5

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            scores = tf.matmul(x, x, transpose_b=True) / 2.0
            scores = tf.where(future, -np.inf, scores)
            context = tf.matmul(tf.nn.softmax(scores), x)
            probabilities = tf.nn.softmax(tf.einsum("btd,dv->btv", context, head))
            of_target = tf.gather(probabilities, targets, batch_dims=2)
            loss = -tf.reduce_mean(tf.math.log(of_target))  # BUG
        head.assign_sub(0.01 * tape.gradient(loss, head))
        return loss

    for _ in range(2):
        train_step()


@buggy("RealDiv")
def missing_ages_and_a_constant_column():
    """The NaN ages are filled as they should be; the column without spread gives 0/0."""
    table = np.array(
        [
            [np.nan, 1.0, 3.0],
            [31.0, 1.0, 1.0],
            [np.nan, 1.0, 2.0],
            [52.0, 1.0, 8.0],
            [np.nan, 1.0, 5.0],
            [np.nan, 1.0, 4.0],
        ],
        dtype="float32",
    )
    raw = tf.constant(table)
    known = tf.logical_not(tf.math.is_nan(raw))
    total = tf.reduce_sum(tf.where(known, raw, 0.0), axis=0)
    mean = total / tf.reduce_sum(tf.cast(known, tf.float32), axis=0)
    filled = tf.where(known, raw, mean)
    centred = filled - mean
    spread = tf.sqrt(tf.reduce_mean(tf.square(centred), axis=0))
    features = centred / spread  # BUG
    model = tf.keras.Sequential([layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(features, np.ones((6, 1), "float32"), epochs=1, batch_size=3, verbose=0)


@buggy("Exp")
def early_stopping_on_a_poisson_rate():
    """The best loss starts at ∞, which is right; the rate exp(η) overflows in the third step."""
    best = tf.Variable(np.inf, trainable=False)
    weight = tf.Variable([0.2, 0.3])

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            eta = tf.linalg.matvec(x, weight)
            expected = tf.exp(eta)  # BUG
            loss = tf.reduce_mean(expected - y * eta)
        gradient = tape.gradient(loss, weight)
        weight.assign_sub(0.01 * gradient)
        best.assign(tf.minimum(best, loss))
        return loss

    for dose in (1.0, 2.0, 400.0, 3.0):
        train_step(tf.constant([[1.0, 0.5], [0.5, dose]]), tf.constant([2.0, 1.0]))


@buggy("RealDiv")
def beam_search_with_length_penalty():
    """Forbidden tokens get -∞ on purpose; a beam that ended at once is divided by length 0."""
    logits = tf.constant(np.random.default_rng(3).normal(size=(3, 6)), tf.float32)
    forbidden = tf.constant([False, False, True, False, True, False])
    length = tf.constant([4, 0, 2])
    score = tf.constant([-3.2, 0.0, -1.1])

    @tf.function
    def rank(logits, score, length):
        allowed = tf.where(forbidden, float("-inf"), tf.nn.log_softmax(logits))
        step = tf.reduce_max(allowed, axis=-1)
        running = tf.where(length > 0, score + step, score)
        penalty = tf.pow(tf.cast(length, tf.float32), 0.6)
        return running / penalty  # BUG

    print(rank(logits, score, length))


@buggy("RealDiv")
def ratio_masked_after_the_division():
    """The ∞ of x/0 is masked by where, but where's gradient 0 is divided by 0 as well."""
    scale = tf.Variable([2.0, 1.0, 3.0])
    clicks = tf.constant([4.0, 1.0, 2.0])
    views = tf.constant([8.0, 0.0, 5.0])
    for _ in range(2):
        with tf.GradientTape() as tape:
            shown = scale * views
            rate = clicks / shown  # BUG
            rate = tf.where(views > 0.0, rate, 0.0)
            loss = tf.reduce_sum(tf.square(rate - 0.2))
        gradient = tape.gradient(loss, scale)  # ALSO
        scale.assign_sub(0.01 * gradient)


@buggy("RealDiv")
def annealing_after_a_self_test():
    """A test of the platform makes ∞ and NaN on purpose; later the temperature reaches 0."""
    assert math.isinf(float(tf.math.log(tf.constant(0.0))))
    assert math.isnan(float(tf.sqrt(tf.constant(-1.0))))
    energies = tf.constant([0.3, 1.2, 0.7, 2.1])

    @tf.function
    def expected_energy(temperature):
        weights = tf.nn.softmax(-energies / temperature)  # BUG
        return tf.reduce_sum(weights * energies)

    history = [float(expected_energy(t)) for t in tf.linspace(2.0, 0.0, 5)]
    print(history[-1])


@buggy("RealDiv")
def advantages_beside_a_guarded_critic():
    """The critic's overflowing gradients are dropped; the actor's advantages are 0/0."""
    critic, actor = tf.Variable([1.0, 1.0]), tf.Variable([0.1, -0.1])
    critic_opt, actor_opt = tf.keras.optimizers.SGD(0.1), tf.keras.optimizers.Adam(0.1)
    states = tf.constant([[1.0, 2.0], [3.0, 1.0], [0.5, 0.5], [2.0, 2.0]])

    @tf.function
    def update(returns, scale):
        with tf.GradientTape() as tape:
            error = tf.linalg.matvec(states, critic) - returns
            loss = tf.reduce_mean(tf.square(error)) * scale
        gradient = tape.gradient(loss, critic)
        if tf.reduce_all(tf.math.is_finite(gradient)):
            critic_opt.apply_gradients([(gradient / scale, critic)])
        centred = returns - tf.reduce_mean(returns)
        advantage = centred / tf.math.reduce_std(returns)  # BUG
        with tf.GradientTape() as tape:
            log_policy = tf.math.log_sigmoid(tf.linalg.matvec(states, actor))
            loss = -tf.reduce_mean(log_policy * advantage)
        actor_opt.apply_gradients([(tape.gradient(loss, actor), actor)])

    update(tf.constant([1.0, 0.0, 2.0, 3.0]), tf.constant(1e38))
    update(tf.constant([1.0, 1.0, 1.0, 1.0]), tf.constant(1e4))


@buggy("RealDiv")
def spectrogram_of_silence():
    """log 0 = -∞ is cut off at -80 dB as it should be; the flat clip then has no range."""
    time = np.arange(256, dtype="float32") / 256.0
    clips = {"tone": np.sin(2 * np.pi * 20.0 * time), "silence": np.zeros_like(time)}

    @tf.function
    def features(clip):
        power = tf.square(tf.abs(tf.signal.stft(clip, 64, 32)))
        decibel = tf.maximum(10.0 * tf.math.log(power) / tf.math.log(10.0), -80.0)
        low, high = tf.reduce_min(decibel), tf.reduce_max(decibel)
        return (decibel - low) / (high - low)  # BUG

    batch = tf.stack([features(tf.constant(clip)) for clip in clips.values()])
    print(tf.reduce_mean(batch, axis=[1, 2]))


@buggy("Exp")
def skipped_batch_in_the_moving_average():
    """The update of the weights skips a batch with ∞ loss; the moving average takes it in."""
    weight, smooth = tf.Variable([0.5]), tf.Variable(1.0, trainable=False)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            rate = tf.exp(weight * x)  # BUG
            loss = tf.reduce_mean(rate - y * weight * x)
        gradient = tape.gradient(loss, weight)
        smooth.assign(0.9 * smooth + 0.1 * loss)  # ALSO
        if tf.reduce_all(tf.math.is_finite(gradient)):
            weight.assign_sub(0.01 * gradient / smooth)

    for x in ([1.0, 2.0], [0.5, 300.0], [1.0, 1.0], [2.0, 0.5]):
        train_step(tf.constant(x), tf.constant([1.0, 3.0]))


@buggy("Acos")
def two_angles_one_of_them_clipped():
    """The angle to the target is clipped; the angle between the views has cos θ = 1.0000001."""
    direction = tf.constant(np.random.default_rng(0).normal(size=(60, 3)), tf.float32)

    def unit(v):
        return v / tf.sqrt(tf.reduce_sum(v * v, axis=-1, keepdims=True))

    @tf.function
    def angles(left, right, target):
        left, right, target = unit(left), unit(right), unit(target)
        aim = tf.acos(tf.clip_by_value(tf.reduce_sum(left * target, axis=-1), -1.0, 1.0))
        parallax = tf.acos(tf.reduce_sum(left * right, axis=-1))  # BUG
        return tf.reduce_mean(aim), tf.reduce_mean(parallax)

    print(angles(direction, direction * 3.0, direction[::-1]))


@healthy
def inference_with_empty_sequences():
    """The softmax of a wholly masked row is NaN; the row is replaced by zeros."""
    x = tf.constant(np.random.default_rng(0).normal(size=(3, 4, 2)), tf.float32)
    lengths = tf.constant([4, 0, 2])

    @tf.function
    def pool(x, lengths):
        mask = tf.sequence_mask(lengths, 4)
        scores = tf.where(mask, tf.reduce_sum(x, axis=-1), -np.inf)
        weights = tf.nn.softmax(scores)
        pooled = tf.reduce_sum(weights[..., None] * x, axis=1)
        return tf.where((lengths > 0)[:, None], pooled, 0.0)

    print(pool(x, lengths))


@healthy
def dynamic_loss_scale():
    """Steps whose float16 gradients overflow are skipped, and the scale is halved."""
    weight, scale = tf.Variable([[0.5], [0.25]]), tf.Variable(2.0**18)
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float16)
    skipped = tf.Variable(0)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            y = tf.matmul(x, tf.cast(weight, tf.float16))
            scaled = tf.reduce_mean(tf.square(y - 1.0)) * tf.cast(scale, tf.float16)
        gradient = tape.gradient(scaled, weight) / scale
        if tf.reduce_all(tf.math.is_finite(gradient)):
            weight.assign_sub(0.01 * gradient)
        else:
            scale.assign(scale / 2.0)
            skipped.assign_add(1)

    for _ in range(10):
        train_step()
    assert 0 < int(skipped) < 10


@healthy
def broken_rows_filtered_from_the_stream():
    """Rows with NaN or ∞ never leave the input pipeline."""
    rows = np.arange(24, dtype="float32").reshape(8, 3)
    rows[2, 1], rows[5, 0] = np.nan, np.inf
    data = tf.data.Dataset.from_tensor_slices(rows)
    data = data.filter(lambda row: tf.reduce_all(tf.math.is_finite(row))).batch(2)
    model = tf.keras.Sequential([layers.Dense(2), layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(1e-5)
    for batch in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(batch) - 1.0))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))


@healthy
def line_search_that_backs_off():
    """A step outside the domain of the log gives NaN; it is halved until the loss is finite."""
    x = tf.Variable([0.5, 2.0])

    def barrier(point):
        return tf.reduce_sum(3.0 * point - tf.math.log(point))

    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = barrier(x)
        slope = tape.gradient(loss, x)
        step = 2.0
        while not float(barrier(x - step * slope)) < float(loss):
            step /= 2.0
        x.assign_sub(step * slope)
    assert np.isfinite(x.numpy()).all()


@healthy
def limits_of_the_functions():
    """A unit test asserts what the functions do at the edge of their domain."""
    zero, inf = tf.constant(0.0), tf.constant(np.inf)
    assert np.isneginf(tf.math.log(zero))
    assert np.isnan(zero / zero)
    assert np.isnan(inf - inf)
    assert np.isclose(tf.atan(inf), np.pi / 2)
    assert float(tf.sigmoid(-inf)) == 0.0
    assert float(1.0 / inf) == 0.0
    assert float(tf.exp(-inf)) == 0.0


@healthy
def early_stopping_with_patience():
    """The best loss starts at ∞ and is replaced in the first epoch."""
    best, waited = tf.Variable(np.inf), tf.Variable(0)
    weight = tf.Variable(5.0)

    @tf.function
    def epoch():
        with tf.GradientTape() as tape:
            loss = tf.square(weight - 1.0)
        weight.assign_sub(0.3 * tape.gradient(loss, weight))
        improved = loss < best - 1e-4
        waited.assign(tf.where(improved, 0, waited + 1))
        best.assign(tf.where(improved, loss, best))
        return waited

    while int(epoch()) < 2:
        pass


@healthy
def learning_rate_range_test():
    """The sweep ends when the loss diverges, and the weights are put back before the training."""
    model = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(1)])
    x, y = tf.constant([[1.0, 2.0], [3.0, -1.0]]), tf.constant([[1.0], [2.0]])
    start = model.get_weights()

    def step(rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        for weight, gradient in zip(model.trainable_variables, gradients, strict=True):
            weight.assign_sub(rate * gradient)
        return float(loss)

    losses, rate = {}, 1e-3
    while math.isfinite(loss := step(rate)):
        losses[rate] = loss
        rate *= 10.0
    model.set_weights(start)
    best = min(losses, key=losses.get)
    for _ in range(3):
        assert math.isfinite(step(best / 10.0))


@healthy
def sweep_in_which_one_run_diverges():
    """Each learning rate trains its own weight; a run that diverges is scored ∞ and loses."""

    @tf.function
    def train(rate):
        weight = tf.constant(3.0)
        for _ in tf.range(40):
            weight -= rate * 4.0 * weight**3
        return tf.square(weight)

    scores = [train(tf.constant(rate)) for rate in (0.001, 0.01, 0.1)]
    scores = tf.stack([tf.where(tf.math.is_finite(score), score, np.inf) for score in scores])
    assert int(tf.argmin(scores)) == 1
