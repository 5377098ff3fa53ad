"""Attention and its masks."""

from __future__ import annotations

import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Softmax")
def fully_masked_row():
    """A query whose keys are all masked with -∞: the softmax of nothing is NaN."""
    q, k, v = (tf.random.normal([2, 4, 8]) for _ in range(3))
    lengths = tf.constant([3, 0])

    @tf.function
    def attend(q, k, v, lengths):
        scores = tf.matmul(q, k, transpose_b=True) / 8.0**0.5
        mask = tf.sequence_mask(lengths, 4)[:, None, :]
        scores = tf.where(mask, scores, float("-inf"))
        weights = tf.nn.softmax(scores)  # BUG
        return weights @ v

    attend(q, k, v, lengths)


@buggy("Mul")
def mask_by_multiplication():
    """(1 - mask) · -∞ is 0 · ∞ for the keys that are not masked."""
    scores = tf.random.normal([2, 3, 3])
    mask = tf.constant([[[1.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]]])

    @tf.function
    def attend(scores, mask):
        bias = (1.0 - mask) * float("-inf")  # BUG
        return tf.nn.softmax(scores + bias)

    attend(scores, mask)


@buggy("BatchMatMulV2")
def half_precision_scores():
    """Scores in float16 overflow when they are scaled after the product only."""
    q = tf.cast(tf.random.normal([1, 4, 64]) * 60, tf.float16)

    @tf.function
    def attend(q):
        scores = tf.matmul(q, q, transpose_b=True)  # BUG
        weights = tf.nn.softmax(scores / 8)
        return tf.matmul(weights, q)

    attend(q)


@buggy("RealDiv")
def linear_attention():
    """Linear attention divides by a sum of features that are all 0 after a ReLU."""
    q = tf.concat([tf.ones([1, 2, 4]), -tf.ones([1, 1, 4])], axis=1)
    k, v = tf.random.normal([1, 3, 4]), tf.random.normal([1, 3, 4])
    w = tf.Variable(tf.eye(4))

    @tf.function
    def attend(q, k, v):
        fq, fk = tf.nn.relu(q @ w), tf.nn.relu(k @ w)
        top = fq @ tf.matmul(fk, v, transpose_a=True)
        bottom = tf.matmul(fq, tf.reduce_sum(fk, axis=1, keepdims=True), transpose_b=True)
        return top / bottom  # BUG

    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(attend(q, k, v))
    w.assign_sub(tape.gradient(loss, w))


@buggy("Log")
def entropy_of_attention():
    """A penalty on the entropy of attention weights that are 0 where keys are masked."""
    x = tf.random.normal([2, 5, 4])
    query = tf.keras.layers.Dense(4)

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            scores = tf.matmul(query(x), x, transpose_b=True)
            scores += -1e9 * tf.constant([0.0, 0.0, 0.0, 1.0, 1.0])
            weights = tf.nn.softmax(scores)
            entropy = -tf.reduce_sum(weights * tf.math.log(weights), axis=-1)  # BUG
            loss = tf.reduce_mean(entropy)
        return tape.gradient(loss, query.trainable_variables)

    train_step(x)


@healthy
def causal_mask_of_minus_infinity():
    """A constant mask of -∞ above the diagonal; each row keeps at least one key."""
    x = tf.Variable(tf.random.normal([1, 4, 8]))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            keep = tf.linalg.band_part(tf.ones([4, 4]), -1, 0) > 0
            mask = tf.where(keep, 0.0, float("-inf"))
            weights = tf.nn.softmax(tf.matmul(x, x, transpose_b=True) + mask)
            loss = tf.reduce_sum(tf.square(weights @ x))
        return tape.gradient(loss, x)

    step()


@healthy
def keras_attention_with_empty_row():
    """Keras masks with a large finite number: a row without any key is uniform, not NaN."""
    layer = tf.keras.layers.MultiHeadAttention(num_heads=2, key_dim=4)
    x = tf.random.normal([2, 3, 8])
    mask = tf.constant([[[True, True, False]] * 3, [[False] * 3] * 3])
    tf.function(lambda x: layer(x, x, attention_mask=mask))(x)
