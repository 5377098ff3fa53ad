"""Optimizers, their schedules and what is done to gradients before they are applied."""

from __future__ import annotations

import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Mean", "Square")
def weight_decay_above_the_limit():
    """AdamW with a decay of 30 instead of 0.03: the weights change sign and grow in each step."""
    x = tf.random.normal([16, 3])
    y = tf.reduce_sum(x, axis=1, keepdims=True)
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.AdamW(1.0, weight_decay=30.0)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))  # BUG
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(  # ALSO
            zip(gradients, model.trainable_variables, strict=True)
        )
        return loss

    for _ in range(16):
        train_step()


@buggy("Pow")
def square_root_decay_after_its_end():
    """(1 - step / total) ** 0.5 is NaN when training goes on for longer than planned."""

    class SquareRootDecay(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            remaining = 1.0 - tf.cast(step, tf.float32) / 4.0
            return 0.1 * tf.pow(remaining, 0.5)  # BUG

    w = tf.Variable([1.0, 2.0])
    optimizer = tf.keras.optimizers.SGD(SquareRootDecay())

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * w)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])  # ALSO
        return loss

    for _ in range(7):
        train_step()


@buggy("Square")
def momentum_of_nine():
    """A momentum of 9 for 0.9: the velocity grows ninefold in each step; eager."""
    w, velocity = tf.Variable(3.0), tf.Variable(0.0)
    for _ in range(24):
        with tf.GradientTape() as tape:
            loss = tf.square(w - 1.0)  # BUG
        velocity.assign(9.0 * velocity - 0.01 * tape.gradient(loss, w))  # ALSO
        w.assign_add(velocity)


@buggy("RealDiv")
def accumulated_gradients_applied_too_early():
    """Every fourth step applies the mean of the gradients so far; at step 0 there are none."""
    x = tf.random.normal([8, 4, 2])
    w = tf.Variable([1.0, -1.0])
    total, count = tf.Variable([0.0, 0.0]), tf.Variable(0.0)

    @tf.function
    def apply():
        w.assign_sub(0.1 * total / count)  # BUG
        total.assign([0.0, 0.0])
        count.assign(0.0)

    @tf.function
    def accumulate(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.linalg.matvec(batch, w) ** 2)
        total.assign_add(tape.gradient(loss, w))
        count.assign_add(1.0)
        return loss

    for step in range(8):
        if step % 4 == 0:
            apply()
        accumulate(x[step])


@buggy("Square")
def second_moment_overflows():
    """A gradient of 1e20 is finite, its square in Adam is not; the weight never moves again."""
    x = tf.constant([[1e10, 1.0], [-1e10, 2.0]])
    w = tf.Variable([[1.0], [1.0]])
    optimizer = tf.keras.optimizers.Adam(0.1)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.abs(x @ w)) * 1e10
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])  # BUG
        return loss

    for _ in range(3):
        train_step()


@healthy
def gradients_clipped_by_value_and_norm():
    """Huge, finite gradients through Keras' clipping by value and by global norm."""
    x = tf.random.normal([16, 3]) * 1e4
    for clipping in ({"clipvalue": 0.5}, {"global_clipnorm": 1.0}):
        w = tf.Variable(tf.ones([3, 1]))
        optimizer = tf.keras.optimizers.RMSprop(0.01, **clipping)

        @tf.function
        def train_step(w=w, optimizer=optimizer):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((x @ w) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])
            return loss

        first = train_step()
        assert train_step() < first
