"""Attention, its masks, and what is drawn from its outputs."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Softmax")
def causal_mask_meets_left_padding():
    """Each mask leaves every query a key; in the batch that is padded on the left, both do not."""
    lengths = [[6, 6], [6, 6], [6, 4]]
    x = tf.random.normal([3, 2, 6, 4])
    kernel = tf.Variable(tf.random.normal([4, 12]))
    causal = tf.where(tf.linalg.band_part(tf.ones([6, 6]), -1, 0) > 0, 0.0, -np.inf)

    @tf.function
    def train_step(x, lengths):
        padding = tf.range(6)[None, :] < 6 - lengths[:, None]
        with tf.GradientTape() as tape:
            query, key, value = tf.split(x @ kernel, 3, axis=2)
            scores = tf.matmul(query, key, transpose_b=True) / 2.0 + causal
            scores = tf.where(padding[:, None, :], -np.inf, scores)
            weights = tf.nn.softmax(scores)  # BUG
            loss = tf.reduce_mean((weights @ value) ** 2)
        kernel.assign_sub(0.01 * tape.gradient(loss, kernel))
        return loss

    for batch, length in zip(x, lengths, strict=True):
        train_step(batch, tf.constant(length))


@buggy("Cast")
def a_billion_in_half_precision():
    """-1e9 becomes -∞ when it is cast to the scores' float16, and 0 · -∞ is NaN."""

    class Scores(tf.keras.layers.Layer):
        def call(self, scores, mask):
            mask = tf.cast(mask, scores.dtype)
            penalty = tf.cast(tf.constant([-1e9]), scores.dtype)  # BUG
            return tf.nn.softmax(scores + (1.0 - mask) * penalty)

    scores = Scores(dtype="mixed_float16")
    mask = tf.constant([[True, True, False], [True, True, True]])
    tf.function(scores)(tf.random.normal([2, 3]), mask)


@buggy("RealDiv")
def sinkhorn_attention_underflows():
    """Scores / 0.02 are exponentiated; a row that underflows to zeros is then normalised."""
    scores = tf.Variable([[1.0, 0.5, 0.2], [-2.5, -3.0, -2.2], [0.1, 0.3, 0.9]])

    @tf.function
    def transport():
        plan = tf.exp(scores / 0.02)
        for _ in tf.range(3):
            plan = plan / tf.reduce_sum(plan, axis=1, keepdims=True)  # BUG
            plan = plan / (tf.reduce_sum(plan, axis=0, keepdims=True) + 1e-9)
        return tf.reduce_sum(plan * scores)

    transport()


@healthy
def attention_block_by_block():
    """The running maximum of a blockwise softmax starts at -∞; whole blocks may be masked."""
    query, key, value = tf.unstack(tf.random.normal([3, 8, 4]))
    allowed = tf.linalg.band_part(tf.ones([8, 8], tf.bool), -1, 0)

    @tf.function
    def attend():
        largest = tf.fill([8, 1], -np.inf)
        total, output = tf.zeros([8, 1]), tf.zeros([8, 4])
        for start in tf.range(0, 8, 2):
            scores = tf.matmul(query, key[start : start + 2], transpose_b=True)
            scores = tf.where(allowed[:, start : start + 2], scores, -np.inf)
            new = tf.maximum(largest, tf.reduce_max(scores, axis=1, keepdims=True))
            shrink, weights = tf.exp(largest - new), tf.exp(scores - new)
            total = total * shrink + tf.reduce_sum(weights, axis=1, keepdims=True)
            output = output * shrink + weights @ value[start : start + 2]
            largest = new
        return output / total

    scores = tf.where(allowed, tf.matmul(query, key, transpose_b=True), -1e9)
    np.testing.assert_allclose(attend(), tf.nn.softmax(scores) @ value, rtol=1e-3, atol=1e-5)


@healthy
def sampling_from_the_best_words():
    """All but the best words are set to -∞ before one is drawn, in a loop over positions."""
    embedding = tf.keras.layers.Embedding(20, 8)
    dense = tf.keras.layers.Dense(20)

    @tf.function
    def next_word(words):
        logits = dense(tf.reduce_mean(embedding(words), axis=1)) * 30.0
        threshold = tf.math.top_k(logits, 3).values[:, -1:]
        logits = tf.where(logits < threshold, -np.inf, logits)
        order = tf.argsort(logits, direction="DESCENDING")
        probabilities = tf.nn.softmax(tf.gather(logits, order, batch_dims=1))
        beyond = tf.cumsum(probabilities, axis=1, exclusive=True) > 0.9
        kept = tf.where(beyond, -np.inf, tf.gather(logits, order, batch_dims=1))
        drawn = tf.random.categorical(kept, 1, seed=1)
        return tf.gather(order, drawn, batch_dims=1)

    embedding.build((None,))
    dense.build((None, 8))
    words = tf.constant([[1, 2], [3, 4]])
    for _ in range(3):
        words = tf.concat([words, next_word(words)], axis=1)
    assert words.shape == (2, 5)


@healthy
def decoder_in_fit():
    """Causal attention with a padding mask, in Keras' fit; padding is on the right."""
    words = np.random.default_rng(0).integers(1, 12, size=(8, 6))
    words[1, 3:] = 0
    words[5, 1:] = 0
    inputs = tf.keras.Input((6,), dtype="int32")
    hidden = tf.keras.layers.Embedding(12, 8, mask_zero=True)(inputs)
    attended = tf.keras.layers.MultiHeadAttention(2, 4)(hidden, hidden, use_causal_mask=True)
    hidden = tf.keras.layers.LayerNormalization()(hidden + attended)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(12)(hidden))
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0)
    model.compile("adam", loss)
    history = model.fit(words, np.roll(words, -1, axis=1), batch_size=4, epochs=2, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
