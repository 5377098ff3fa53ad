"""Metric learning in which no loss is ever NaN, yet the weights are: the gradient of a distance.

The bug
    `distance` is a square root. Its value at 0 is fine, its slope there is infinite: for a pair of
    equal items the backward pass computes 1 / (2 · sqrt(0)) = ∞, and ∞ · 0 = NaN. One such pair
    in a batch is enough to lose every weight.

See it
    python examples/distance_gradient.py --dump_dir /tmp/distance_logdir
    tfdbg-tui /tmp/distance_logdir

What the debugger shows
    The forward pass of the step is healthy; the first alert is a `SqrtGrad` in the backward
    pass. It holds as many ∞ as the `Sqrt` that it belongs to gave zeros. The loss turns to
    NaN only in the step after.

The fix
    Keep the square root away from 0 by adding a tiny number below it (`--fix` does that), or train
    on squared distances.
"""

from __future__ import annotations

import argparse

import numpy as np
import tensorflow as tf

ITEM_SIZE, EMBEDDING_SIZE, BATCH, MARGIN = 20, 8, 32, 1.0


def pairs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draws two batches of items [BATCH, ITEM_SIZE], and 1.0 for each pair of one class [BATCH]."""
    centers = np.random.default_rng(1).normal(size=(4, ITEM_SIZE))
    kinds = rng.integers(0, 4, size=(2, BATCH))
    left, right = centers[kinds] + rng.normal(scale=0.3, size=(2, BATCH, ITEM_SIZE))
    same = kinds[0] == kinds[1]
    return left.astype(np.float32), right.astype(np.float32), same.astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dump_dir", help="write a logdir here, for tfdbg-tui to open")
    parser.add_argument("--fix", action="store_true", help="keep the square root away from zero")
    args = parser.parse_args()
    if args.dump_dir:
        import tfdbg_tui

        tfdbg_tui.enable_dump_debug_info(args.dump_dir, "FULL_HEALTH", circular_buffer_size=-1)
    tf.keras.utils.set_random_seed(0)

    weights = tf.Variable(tf.random.normal([ITEM_SIZE, EMBEDDING_SIZE], stddev=0.2), name="weights")
    optimizer = tf.keras.optimizers.Adam(0.01)
    smallest = 1e-12 if args.fix else 0.0

    def distance(left, right):
        difference = tf.matmul(left, weights) - tf.matmul(right, weights)
        squares = tf.reduce_sum(tf.square(difference), axis=1)
        return tf.sqrt(squares + smallest)  # BUG: the slope of sqrt at 0 is infinite

    @tf.function
    def train_step(left, right, same):
        with tf.GradientTape() as tape:
            apart = distance(left, right)
            loss = tf.reduce_mean(same * apart + (1 - same) * tf.nn.relu(MARGIN - apart))
        optimizer.apply([tape.gradient(loss, weights)], [weights])
        return loss

    rng = np.random.default_rng(0)
    for step in range(10):
        left, right, same = pairs(rng)
        if step == 4:  # an item meets itself
            right[0], same[0] = left[0], 1.0
        print(f"Loss at step {step}: {float(train_step(left, right, same)):.3f}")


if __name__ == "__main__":
    main()
