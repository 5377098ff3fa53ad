"""A custom training loop that turns to NaN on the one batch that holds an empty sentence.

The bug
    Sentences are padded with word 0, and `sentence_vector` averages the vectors of the real words:
    sum / number of words. A sentence without a word divides 0 by 0. The NaN reaches the loss of
    the whole batch, then every gradient, then every weight.

See it
    python examples/masked_mean.py --dump_dir /tmp/masked_mean_logdir
    tfdbg-tui /tmp/masked_mean_logdir

What the debugger shows
    The first alert is `truediv:0` (op type RealDiv) in `train_step`: as many NaNs as a word vector
    has numbers, from one zero in the count of words. No alert before that step.

The fix
    `tf.math.divide_no_nan`, which makes 0 / 0 = 0 (`--fix` does that), or no empty sentences.
"""

from __future__ import annotations

import argparse

import numpy as np
import tensorflow as tf

WORDS, VECTOR_SIZE, BATCH, MAX_LENGTH = 200, 16, 32, 12


def sentences(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draws word ids [count, MAX_LENGTH], padded with 0, and whether low words prevail [count]."""
    words = rng.integers(1, WORDS, size=(count, MAX_LENGTH))
    lengths = rng.integers(3, MAX_LENGTH + 1, size=count)
    lengths[5 * BATCH + 7] = 0  # the empty sentence
    words *= np.arange(MAX_LENGTH) < lengths[:, None]
    labels = ((words > 0) & (words < WORDS // 2)).sum(1) * 2 > lengths
    return words, labels.astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dump_dir", help="write a logdir here, for tfdbg-tui to open")
    parser.add_argument("--fix", action="store_true", help="divide safely")
    args = parser.parse_args()
    if args.dump_dir:
        import tfdbg_tui

        tfdbg_tui.enable_dump_debug_info(args.dump_dir, "FULL_HEALTH", circular_buffer_size=-1)
    tf.keras.utils.set_random_seed(0)

    vectors = tf.Variable(tf.random.normal([WORDS, VECTOR_SIZE], stddev=0.1), name="vectors")
    weights = tf.Variable(tf.random.normal([VECTOR_SIZE, 1], stddev=0.1), name="weights")
    optimizer = tf.keras.optimizers.Adam(0.05)
    divide = tf.math.divide_no_nan if args.fix else tf.divide

    def sentence_vector(words):
        mask = tf.cast(words > 0, tf.float32)[:, :, None]
        total = tf.reduce_sum(tf.gather(vectors, words) * mask, axis=1)
        return divide(total, tf.reduce_sum(mask, axis=1))  # BUG: the count of words may be 0

    @tf.function
    def train_step(words, labels):
        with tf.GradientTape() as tape:
            logits = tf.squeeze(tf.matmul(sentence_vector(words), weights), axis=1)
            losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, [vectors, weights])
        optimizer.apply_gradients(zip(gradients, [vectors, weights], strict=True))
        return loss

    words, labels = sentences(8 * BATCH, np.random.default_rng(0))
    dataset = tf.data.Dataset.from_tensor_slices((words, labels)).batch(BATCH)
    for step, batch in enumerate(dataset):
        print(f"Loss at step {step}: {float(train_step(*batch)):.3f}")


if __name__ == "__main__":
    main()
