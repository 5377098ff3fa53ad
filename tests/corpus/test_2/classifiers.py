"""Classifiers and the losses that people write for them."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Log")
def logistic_regression_on_separable_data():
    """Custom train_step with a cross entropy by hand; a sure prediction makes 1 - p exactly 0."""

    class Logistic(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.out = tf.keras.layers.Dense(1, activation="sigmoid")

        def call(self, x):
            return self.out(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                p = self(x, training=True)
                positive = y * tf.math.log(p)
                negative = (1.0 - y) * tf.math.log(1.0 - p)  # BUG
                loss = -tf.reduce_mean(positive + negative)
            grads = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(grads, self.trainable_variables, strict=True))
            return {"loss": loss}

    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, size=(64, 1)).astype("float32")
    x = np.concatenate([(2 * y - 1) * 6 + rng.normal(size=(64, 1)), y * 3], axis=1)
    model = Logistic()
    model.compile(optimizer=tf.keras.optimizers.SGD(2.0))
    model.fit(x.astype("float32"), y, epochs=3, batch_size=16, verbose=0)


@buggy("Log")
def focal_loss_without_clipping():
    """Focal loss as a Loss class; the probability of the true class underflows in the softmax."""

    class FocalLoss(tf.keras.losses.Loss):
        def __init__(self, gamma=2.0):
            super().__init__()
            self.gamma = gamma

        def call(self, y_true, y_pred):
            pt = tf.reduce_sum(y_true * y_pred, axis=-1)
            log_pt = tf.math.log(pt)  # BUG
            return -((1.0 - pt) ** self.gamma) * log_pt

    rng = np.random.default_rng(3)
    x = rng.normal(size=(24, 6)).astype("float32")
    x[12:15] *= 400.0
    labels = tf.one_hot(np.arange(24) % 3, 3)
    model = tf.keras.Sequential(
        [
            tf.keras.Input((6,)),
            tf.keras.layers.Dense(3, kernel_initializer=tf.keras.initializers.Orthogonal(seed=2)),
            tf.keras.layers.Softmax(),
        ]
    )
    model.compile(optimizer="adam", loss=FocalLoss())
    model.fit(x, labels, batch_size=8, shuffle=False, verbose=0)


@buggy("Log")
def reverse_cross_entropy():
    """Symmetric cross entropy for noisy labels: the reverse term is p · log(one-hot label)."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(32, 4)).astype("float32")
    y = rng.integers(0, 5, size=32)

    def symmetric_cross_entropy(y_true, logits):
        y_true = tf.one_hot(tf.cast(tf.reshape(y_true, [-1]), tf.int32), 5)
        ce = tf.nn.softmax_cross_entropy_with_logits(y_true, logits)
        p = tf.nn.softmax(logits)
        rce = -tf.reduce_sum(p * tf.math.log(y_true), axis=-1)  # BUG
        return 0.1 * ce + rce

    model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(5)])
    model.compile("rmsprop", symmetric_cross_entropy)
    model.fit(x, y, batch_size=16, epochs=1, verbose=0)


@buggy("Log")
def ordinal_thresholds_too_close():
    """Probability of a rank = difference of two sigmoids, and both are 1 for a far example."""
    w = tf.Variable(tf.ones([3, 1]))
    cuts = tf.Variable([-1.0, 0.0, 1.0])
    opt = tf.keras.optimizers.Adam(0.05)

    @tf.function
    def train(x, rank):
        with tf.GradientTape() as tape:
            eta = tf.matmul(x, w)
            cdf = tf.sigmoid(cuts[tf.newaxis, :] - eta)
            cdf = tf.pad(cdf, [[0, 0], [1, 0]])
            cdf = tf.pad(cdf, [[0, 0], [0, 1]], constant_values=1.0)
            prob = tf.gather(cdf, rank + 1, batch_dims=1) - tf.gather(cdf, rank, batch_dims=1)
            nll = -tf.reduce_mean(tf.math.log(prob))  # BUG
        opt.apply_gradients(zip(tape.gradient(nll, [w, cuts]), [w, cuts], strict=True))
        return nll

    data = np.random.default_rng(5).normal(size=(5, 6, 3)).astype("float32")
    data[3, 2] = -20.0
    for x in data:
        train(tf.constant(x), tf.constant([0, 1, 2, 3, 1, 2]))


@buggy("RealDiv")
def jaccard_loss_of_background():
    """Soft IoU without smoothing; a picture has no foreground and the net predicts none."""
    rng = np.random.default_rng(1)
    images = rng.uniform(size=(8, 6, 6, 1)).astype("float32")
    masks = (images > 0.6).astype("float32")
    images[5] = 0.0
    masks[5] = 0.0

    def jaccard(y_true, y_pred):
        inter = tf.reduce_sum(y_true * y_pred, axis=(1, 2, 3))
        union = tf.reduce_sum(y_true + y_pred - y_true * y_pred, axis=(1, 2, 3))
        return 1.0 - inter / union  # BUG

    conv = tf.keras.layers.Conv2D(1, 3, padding="same", activation="relu", use_bias=False)
    model = tf.keras.Sequential([tf.keras.Input((6, 6, 1)), conv])
    model.compile("adam", jaccard, metrics=["accuracy"])
    model.fit(images, masks, batch_size=4, shuffle=False, epochs=1, verbose=0)


@buggy("Log")
def zero_weight_times_infinite_loss():
    """Ignored examples get weight 0, but their own loss is -log 0 = ∞; eager evaluation."""
    probs = tf.constant([[0.7, 0.3, 0.0], [0.2, 0.8, 0.0], [0.5, 0.25, 0.25]])
    labels = tf.constant([0, 2, 1])
    weights = tf.constant([1.0, 0.0, 1.0])
    picked = tf.gather(probs, labels, batch_dims=1)
    nll = -tf.math.log(picked)  # BUG
    loss = tf.reduce_sum(nll * weights) / tf.reduce_sum(weights)
    assert np.isnan(loss)


@healthy
def logits_of_five_hundred():
    """Very sure logits with from_logits=True losses; a wrong one costs 500 and no more."""
    logits = tf.Variable([[500.0], [-500.0], [400.0]])
    target = tf.constant([[1.0], [0.0], [0.0]])
    bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = bce(target, logits)
        logits.assign_sub(10.0 * tape.gradient(loss, logits))
        return loss

    for _ in range(3):
        assert np.isfinite(step())


@healthy
def kl_by_xlogy():
    """KL divergence with xlogy: 0 · log 0 is 0 where a class does not occur."""
    p = tf.constant([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    logits = tf.Variable(tf.zeros([2, 3]))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            log_q = tf.nn.log_softmax(logits)
            kl = tf.reduce_mean(tf.reduce_sum(tf.math.xlogy(p, p) - p * log_q, axis=-1))
        logits.assign_sub(tape.gradient(kl, logits))
        return kl

    for _ in range(3):
        assert np.isfinite(step())
