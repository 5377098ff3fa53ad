"""A Keras model in mixed precision that never learns, although its loss is finite all the time.

The bug
    `RootMeanSquareNorm` squares its inputs in float16, whose largest number is 65504: anything
    above 255 becomes ∞. The forward pass hides it, as x / ∞ = 0. The backward pass does not: its
    gradients are NaN, so Keras' loss scaling skips the step, and the next one, and all others.

See it
    python examples/half_precision.py --dump_dir /tmp/half_precision_logdir
    tfdbg-tui /tmp/half_precision_logdir

What the debugger shows
    The first alert is a `Square` on float16 in `RootMeanSquareNorm.call`: +∞ from finite inputs.
    Everything that follows, the skipped steps too, goes back to it.

The fix
    Square and average in float32, and cast the small result back (`--fix` does that). Scaling the
    data helps as well.
"""

from __future__ import annotations

import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras

SENSORS = 64


class RootMeanSquareNorm(keras.layers.Layer):
    """Divides each row by the root of the mean of its squares."""

    def __init__(self, in_float32: bool) -> None:
        super().__init__()
        self.in_float32 = in_float32

    def call(self, inputs):
        """Normalises `inputs` [batch, features]."""
        rows = tf.cast(inputs, tf.float32) if self.in_float32 else inputs
        squares = tf.square(rows)  # BUG: in float16, the square of 256 is ∞
        scale = tf.math.rsqrt(tf.reduce_mean(squares, axis=-1, keepdims=True) + 1e-3)
        return inputs * tf.cast(scale, inputs.dtype)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dump_dir", help="write a logdir here, for tfdbg-tui to open")
    parser.add_argument("--fix", action="store_true", help="square in float32")
    args = parser.parse_args()
    if args.dump_dir:
        import tfdbg_tui

        tfdbg_tui.enable_dump_debug_info(args.dump_dir, "FULL_HEALTH", circular_buffer_size=-1)
    keras.utils.set_random_seed(0)
    keras.mixed_precision.set_global_policy("mixed_float16")

    rng = np.random.default_rng(0)
    readings = rng.uniform(0, 255, size=(512, SENSORS)).astype(np.float32)
    labels = (readings[:, :8].mean(axis=1) > readings[:, 8:16].mean(axis=1)).astype(np.float32)

    model = keras.Sequential(
        [
            keras.Input([SENSORS]),
            keras.layers.Dense(32),
            RootMeanSquareNorm(args.fix),
            keras.layers.Dense(1, activation="sigmoid", dtype="float32"),
        ]
    )
    model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
    model.fit(readings, labels, batch_size=64, epochs=5, verbose=2)


if __name__ == "__main__":
    main()
