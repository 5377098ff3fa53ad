"""float16 and float32 side by side."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Cast")
def slope_of_a_small_probability():
    """log(p) of a softmax in float16: p is 1e-6, and its slope 1 / p does not fit into float16."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(24, 6)).astype("float32")
    x[16:] *= 30.0
    y = rng.integers(0, 4, size=24)

    def cross_entropy(y_true, y_pred):
        chosen = tf.gather(y_pred, tf.cast(y_true, tf.int32)[:, 0], batch_dims=1)
        return -tf.reduce_mean(tf.math.log(chosen))  # ALSO

    model = tf.keras.Sequential(
        [tf.keras.Input((6,)), tf.keras.layers.Dense(4, activation="softmax")]
    )
    model.compile("sgd", cross_entropy, jit_compile=False)
    model.fit(x, y[:, None], batch_size=8, shuffle=False, epochs=1, verbose=0)  # BUG


@buggy("RealDiv")
def inverse_of_a_product_of_probabilities():
    """Four probabilities of 0.01 multiply to 0 in float16; importance weights divide by that."""
    behaviour = tf.constant([[0.5, 0.6, 0.9, 0.8], [0.01, 0.01, 0.02, 0.01]], tf.float16)
    logits = tf.Variable(tf.random.normal([2, 4]))

    @tf.function
    def objective():
        target = tf.cast(tf.sigmoid(logits), tf.float16)
        weight = tf.reduce_prod(target, axis=1) / tf.reduce_prod(behaviour, axis=1)  # BUG
        return tf.reduce_mean(tf.cast(tf.minimum(weight, 10), tf.float32))

    with tf.GradientTape() as tape:
        loss = objective()
    logits.assign_sub(tape.gradient(loss, logits))


@buggy("Square")
def squared_distances_in_half_precision():
    """Coordinates in millimetres: the square of 300 does not fit into float16; steps grow."""
    target = tf.constant([[10.0, 40.0], [90.0, 5.0]])
    w = tf.Variable([[1.0, 0.0], [0.0, 1.0]])

    @tf.function
    def train_step(points):
        with tf.GradientTape() as tape:
            moved = tf.cast(points @ w, tf.float16)
            offset = moved - tf.cast(target, tf.float16)
            loss = tf.reduce_mean(tf.cast(tf.square(offset), tf.float32))  # BUG
        gradient = tape.gradient(loss, w)
        w.assign_sub(1e-6 * gradient)
        return loss

    for size in (1.0, 10.0, 300.0):
        train_step(tf.constant([[1.0, 0.5], [0.5, 1.0]]) * size)


@healthy
def saturating_cast():
    """Values far beyond float16 are cast with saturation, then scaled and summed in float32."""
    x = tf.constant([1e6, -3e7, 12.0, 65504.0])

    @tf.function
    def quantised(x):
        half = tf.saturate_cast(x, tf.float16)
        return tf.reduce_sum(tf.cast(half, tf.float32) * 1e-3)

    assert np.isfinite(quantised(x))


@healthy
def keras_scales_the_loss():
    """Keras' own loss scale starts far too high, skips some steps and then trains."""
    x = tf.random.normal([16, 4])
    model = tf.keras.Sequential(
        [tf.keras.Input((4,), dtype="float16"), tf.keras.layers.Dense(1, dtype="mixed_float16")]
    )
    optimizer = tf.keras.optimizers.LossScaleOptimizer(
        tf.keras.optimizers.Adam(0.01), initial_scale=2.0**18, dynamic_growth_steps=100
    )

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
            scaled = optimizer.scale_loss(tf.cast(loss, tf.float32))
        gradients = tape.gradient(scaled, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    before = model.layers[0].kernel.numpy()
    for _ in range(8):
        train_step()
    after = model.layers[0].kernel.numpy()
    assert np.isfinite(after).all()
    assert (before != after).any()
