"""Losses from papers, with the step that the paper does not mention left out."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Exp")
def mutual_information_by_a_critic():
    """A critic without bounds is trained to be large: the mean of its exp overflows."""
    x = tf.random.normal([16, 1])
    y = x + 0.1 * tf.random.normal([16, 1])
    critic = tf.keras.Sequential(
        [tf.keras.Input((2,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)]
    )
    optimizer = tf.keras.optimizers.SGD(40.0)

    @tf.function
    def train_step():
        shuffled = tf.roll(y, 1, axis=0)
        with tf.GradientTape() as tape:
            joint = tf.reduce_mean(critic(tf.concat([x, y], axis=1)))
            marginal = tf.exp(critic(tf.concat([x, shuffled], axis=1)))  # BUG
            loss = tf.math.log(tf.reduce_mean(marginal)) - joint
        gradients = tape.gradient(loss, critic.trainable_variables)
        optimizer.apply_gradients(zip(gradients, critic.trainable_variables, strict=True))
        return loss

    for _ in range(5):
        train_step()


@buggy("SqrtGrad")
def hellinger_distance():
    """The root of a probability that underflows to 0: no trouble forward, no slope backward."""
    target = tf.constant([[0.5, 0.3, 0.2]])
    logits = tf.Variable([[0.0, 1.0, -40.0]])

    @tf.function
    def train_step(temperature):
        with tf.GradientTape() as tape:
            p = tf.nn.softmax(logits / temperature)
            loss = tf.reduce_sum((tf.sqrt(p) - tf.sqrt(target)) ** 2)  # ALSO
        logits.assign_sub(0.1 * tape.gradient(loss, logits))  # BUG
        return loss

    for temperature in (2.0, 1.0, 0.3):
        train_step(tf.constant(temperature))


@buggy("RealDiv")
def scale_of_a_softplus_underflows():
    """A predicted deviation is softplus(-600) = 0, and an error is divided by it."""
    x = np.random.default_rng(0).normal(size=(16, 2)).astype("float32")
    y = x.sum(1)

    def likelihood(y_true, y_pred):
        mean, raw = y_pred[:, :1], y_pred[:, 1:]
        scale = tf.nn.softplus(raw)
        z = (y_true - mean) / scale  # BUG
        return tf.reduce_mean(0.5 * z**2 + tf.math.log(scale + 1e-6))

    model = tf.keras.Sequential(
        [tf.keras.Input((2,)), tf.keras.layers.Dense(2, kernel_initializer="ones")]
    )
    model.compile("sgd", likelihood, jit_compile=False)
    x[9] = -300.0
    model.fit(x, y, batch_size=4, shuffle=False, epochs=1, verbose=0)


@buggy("RealDiv")
def robust_loss_at_alpha_two():
    """The general robust loss divides by |alpha - 2|, and alpha starts at 2."""
    errors = tf.constant([0.1, -0.4, 3.0])
    alpha, scale = tf.Variable(2.0), tf.Variable(1.0)

    @tf.function
    def loss():
        distance = tf.abs(alpha - 2.0)
        squared = (errors / scale) ** 2
        inner = squared / distance + 1.0  # BUG
        return tf.reduce_mean(distance / alpha * (tf.pow(inner, alpha / 2.0) - 1.0))

    with tf.GradientTape() as tape:
        value = loss()
    tape.gradient(value, [alpha, scale])


@buggy("RealDiv")
def calibration_error_with_an_empty_bin():
    """Mean confidence in bins of confidence, some of which have no prediction; eager metric."""
    logits = tf.random.normal([40, 3]) * tf.reshape([1.0, 0.01], [2, 1, 1])
    labels = tf.random.uniform([40], maxval=3, dtype=tf.int32)
    for batch in logits:
        confidence = tf.reduce_max(tf.nn.softmax(batch), axis=1)
        right = tf.cast(tf.argmax(batch, axis=1, output_type=tf.int32) == labels, tf.float32)
        bins = tf.cast(confidence * 4.0 - 1e-6, tf.int32)
        member = tf.one_hot(tf.maximum(bins, 1), 4)[:, 1:]
        count = tf.reduce_sum(member, axis=0)
        accuracy = tf.linalg.matvec(member, right, transpose_a=True) / tf.maximum(count, 1.0)
        certainty = tf.linalg.matvec(member, confidence, transpose_a=True) / count  # BUG
        tf.reduce_sum(count / 40.0 * tf.abs(accuracy - certainty))


@healthy
def accuracy_by_class_with_nan():
    """A class that is not in the batch has no accuracy: NaN says so, and the mean leaves it out."""
    labels = tf.constant([0, 2, 2, 0, 3])
    predicted = tf.constant([0, 2, 1, 0, 3])

    @tf.function
    def mean_accuracy(labels, predicted):
        truth = tf.one_hot(labels, 5)
        right = tf.cast(labels == predicted, tf.float32)
        by_class = tf.linalg.matvec(truth, right, transpose_a=True) / tf.reduce_sum(truth, axis=0)
        known = tf.logical_not(tf.math.is_nan(by_class))
        return tf.reduce_mean(tf.boolean_mask(by_class, known))

    np.testing.assert_allclose(mean_accuracy(labels, predicted), 5 / 6, rtol=1e-6)


@healthy
def segmentation_with_smoothed_dice():
    """Empty masks and sure predictions, with a 1 above and below the fraction."""
    pictures = np.random.default_rng(1).uniform(size=(8, 8, 8, 1)).astype("float32")
    masks = (pictures > 0.7).astype("float32")
    masks[2:4] = 0.0

    def dice(y_true, y_pred):
        overlap = tf.reduce_sum(y_true * y_pred, axis=[1, 2, 3])
        total = tf.reduce_sum(y_true + y_pred, axis=[1, 2, 3])
        return 1.0 - tf.reduce_mean((2.0 * overlap + 1.0) / (total + 1.0))

    inputs = tf.keras.Input((8, 8, 1))
    down = tf.keras.layers.Conv2D(4, 3, 2, "same", activation="relu")(inputs)
    up = tf.keras.layers.Conv2DTranspose(4, 3, 2, "same", activation="relu")(down)
    both = tf.keras.layers.Concatenate()([inputs, up])
    outputs = tf.keras.layers.Conv2D(1, 1, activation="sigmoid")(both)
    model = tf.keras.Model(inputs, outputs)
    model.compile("adam", dice)
    history = model.fit(pictures, masks, batch_size=2, shuffle=False, epochs=1, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
