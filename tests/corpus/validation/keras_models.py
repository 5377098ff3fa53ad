"""Keras: metrics, constraints, callbacks, strategies and layers of one's own."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def correlation_as_a_metric():
    """The loss is fine; a metric correlates predictions that are all the same: 0 / 0."""
    x = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
    y = x.sum(1, keepdims=True)

    def correlation(y_true, y_pred):
        a, b = y_true - tf.reduce_mean(y_true), y_pred - tf.reduce_mean(y_pred)
        spread = tf.sqrt(tf.reduce_sum(a * a) * tf.reduce_sum(b * b))
        return tf.reduce_sum(a * b) / spread  # BUG

    model = tf.keras.Sequential(
        [tf.keras.Input((3,)), tf.keras.layers.Dense(1, kernel_initializer="zeros")]
    )
    model.compile("adam", "mae", metrics=["mse", correlation])
    model.fit(x, y, batch_size=8, epochs=1, verbose=0)


@buggy("Exp")
def exponential_output_for_prices():
    """An exponential output unit, on features that nobody scaled."""
    rng = np.random.default_rng(1)
    area = rng.uniform(30, 300, size=(32, 2)).astype("float32")
    price = area.sum(1, keepdims=True) * 10
    inputs = tf.keras.Input((2,))
    hidden = tf.keras.layers.Dense(4, "relu", kernel_initializer="ones")(inputs)
    outputs = tf.keras.layers.Dense(1, "exponential", kernel_initializer="ones")(hidden)
    model = tf.keras.Model(inputs, outputs)
    model.compile("adam", "mean_squared_logarithmic_error")
    model.fit(area, price, batch_size=8, epochs=1, verbose=0)  # BUG


@buggy("ReadVariableOp", "AssignVariableOp", kind="input")
def learning_rate_from_a_callback():
    """A callback computes a rate with numpy: 0.1 / 0 is ∞ in the second epoch."""
    x = np.random.default_rng(2).normal(size=(8, 2)).astype("float32")

    class Decay(tf.keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            with np.errstate(divide="ignore"):
                rate = np.float32(0.1) / np.float32(1 - epoch)
            self.model.optimizer.learning_rate.assign(rate)  # BUG

    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    model.fit(x, x.sum(1), batch_size=4, epochs=2, verbose=0, callbacks=[Decay()])  # ALSO


@buggy("RealDiv")
def constraint_on_a_column_of_zeros():
    """A custom constraint divides columns by their length, and one column is zeros."""

    class UnitColumns(tf.keras.constraints.Constraint):
        def __call__(self, w):
            return w / tf.norm(w, axis=0, keepdims=True)  # BUG

    kernel = np.ones((3, 2), "float32")
    kernel[:, 1] = 0.0
    inputs = tf.keras.Input((3,))
    hidden = tf.keras.layers.Dense(
        2,
        "relu",
        kernel_initializer=lambda shape, dtype=None: kernel,
        kernel_constraint=UnitColumns(),
    )(inputs)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(hidden))
    model.compile("sgd", "mse", jit_compile=False)
    x = np.random.default_rng(3).uniform(size=(12, 3)).astype("float32")
    model.fit(x, x.sum(1), batch_size=4, epochs=1, verbose=0)  # ALSO


@buggy("RealDiv")
def distributed_mean_over_labelled_rows():
    """A replica's batch has no label, and its loss is divided by their number."""
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    x = tf.random.normal([12, 3])
    y = tf.constant([1.0, -1, 2, -1, 3, 1, -1, 2, -1, -1, -1, -1])
    with strategy.scope():
        w = tf.Variable(tf.ones([3]))
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)

    def step(x, y):
        labelled = tf.cast(y >= 0, tf.float32)
        with tf.GradientTape() as tape:
            errors = (tf.linalg.matvec(x, w) - y) ** 2 * labelled
            loss = tf.reduce_sum(errors) / tf.reduce_sum(labelled)  # BUG
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    @tf.function
    def train_step(batch):
        return strategy.reduce("SUM", strategy.run(step, args=batch), axis=None)

    for batch in strategy.experimental_distribute_dataset(dataset):
        train_step(batch)


@buggy("Rsqrt")
def custom_normalisation_layer():
    """A layer of three uses a moment of its input without any epsilon; it is the last one."""

    class Rescale(tf.keras.layers.Layer):
        def __init__(self, epsilon, **kwargs):
            super().__init__(**kwargs)
            self.epsilon = epsilon

        def call(self, x):
            power = tf.reduce_mean(x * x, axis=-1, keepdims=True)
            return x * tf.math.rsqrt(power + self.epsilon)  # BUG

    model = tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            Rescale(1e-6),
            tf.keras.layers.Dense(4, "relu", kernel_initializer="ones"),
            Rescale(1e-6),
            tf.keras.layers.Dense(3, "relu", kernel_initializer="ones", use_bias=False),
            Rescale(0.0),
            tf.keras.layers.Dense(1),
        ]
    )
    model.compile("sgd", "mse")
    x = np.random.default_rng(4).normal(size=(8, 4)).astype("float32")
    model.fit(x, x[:, 0], batch_size=4, epochs=1, verbose=0)


@healthy
def sparse_labels_with_an_ignored_class():
    """Label -1 stands for unknown and is ignored; extreme logits, sample weights of 0."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(16, 4)).astype("float32") * 1e3
    y = rng.integers(-1, 3, size=16)
    y[:4] = -1
    weights = (rng.uniform(size=16) > 0.5).astype("float32")
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-1)
    model.compile("adam", loss)
    history = model.fit(
        x, y, sample_weight=weights, batch_size=4, shuffle=False, epochs=2, verbose=0
    )
    assert np.isfinite(history.history["loss"]).all()


@healthy
def callbacks_that_start_at_infinity():
    """Early stopping, a falling rate and a check for NaN, with a validation split."""
    x = np.random.default_rng(6).normal(size=(24, 3)).astype("float32")
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
    history = model.fit(
        x,
        x.sum(1),
        validation_split=0.25,
        batch_size=6,
        epochs=3,
        verbose=0,
        callbacks=[
            tf.keras.callbacks.EarlyStopping(patience=1, restore_best_weights=True),
            tf.keras.callbacks.ReduceLROnPlateau(patience=1),
            tf.keras.callbacks.TerminateOnNaN(),
        ],
    )
    assert np.isfinite(history.history["val_loss"]).all()
