"""A digit classifier whose accuracy never leaves chance: where does the first NaN come from?

This is our version of the program of TensorFlow's Debugger V2 tutorial: two dense layers of plain
`tf.Variable`s, a hand-written cross entropy, and a `tf.GradientTape` around two `tf.function`s.

The bug
    `loss` takes `tf.math.log(probs)` of a softmax. In float32 a softmax that is sure of itself
    returns exact zeros, and log(0) is -∞. Then 0 · -∞ = NaN, the gradients are NaN, Adam writes NaN
    into every weight, and `argmax` of NaNs is always class 0: the accuracy stays near 0.1.

See it
    python examples/debug_mnist.py --dump_dir /tmp/mnist_logdir
    tfdbg-tui /tmp/mnist_logdir

What the debugger shows
    Hundreds of alerts, and one root: press `a` for the first alert, `Log:0` in `loss`. It holds as
    many -∞ as its input, the `probs` that `model` returned, holds zeros. The Stack Trace and Source
    Code panes stand on the line marked BUG below.

The fix
    Keep the probabilities away from zero before the logarithm (`--fix` does that), or give the
    logits to `tf.nn.softmax_cross_entropy_with_logits`, which never computes log(0).
"""

from __future__ import annotations

import argparse
import socket
import sys

import numpy as np
import tensorflow as tf

IMAGE_SIZE = 28
HIDDEN_SIZE = 500
NUM_LABELS = 10
TEST_SIZE = 1000
SEED = 10


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--max_steps", type=int, default=10, help="training steps")
    parser.add_argument("--train_batch_size", type=int, default=100)
    parser.add_argument("--learning_rate", type=float, default=0.025)
    parser.add_argument("--data_dir", help="directory of mnist.npz (default: Keras' own)")
    add_switch(parser, "--fake_data", "use generated digits instead of MNIST")
    add_switch(parser, "--fix", "keep the probabilities away from zero, so that training works")
    add_switch(parser, "--check_numerics", "stop at the first NaN or ∞, without a dump")
    parser.add_argument("--dump_dir", help="write a logdir here, for tfdbg-tui to open")
    parser.add_argument(
        "--dump_tensor_debug_mode",
        choices=(
            "NO_TENSOR",
            "CURT_HEALTH",
            "CONCISE_HEALTH",
            "FULL_HEALTH",
            "SHAPE",
            "FULL_TENSOR",
            "ADAPTIVE",
        ),
        default="FULL_HEALTH",
    )
    parser.add_argument(
        "--dump_circular_buffer_size",
        type=int,
        default=-1,
        help="keep the last N events only; -1 (the default) keeps all of them",
    )
    parser.add_argument(
        "--dump_writer",
        choices=("tfdbg_tui", "tensorflow"),
        default=default_dump_writer(),
        help="who writes the logdir: this package (default), or TensorFlow itself",
    )
    add_switch(parser, "--use_random_config_path", "accepted as TensorFlow's example does; unused")
    return parser.parse_args()


def add_switch(parser: argparse.ArgumentParser, name: str, help_text: str) -> None:
    """Adds a flag that works as `--name` and, as in TensorFlow's own example, `--name true`."""
    parser.add_argument(
        name,
        type=lambda text: text.lower() in ("true", "t", "1", "yes"),
        nargs="?",
        const=True,
        default=False,
        help=help_text,
    )


def default_dump_writer() -> str:
    try:
        from tfdbg_tui import enable_dump_debug_info  # noqa: F401
    except ImportError:
        return "tensorflow"
    return "tfdbg_tui"


def enable_dump(args: argparse.Namespace) -> None:
    if args.dump_writer == "tfdbg_tui":
        from tfdbg_tui import enable_dump_debug_info as enable
    else:
        enable = tf.debugging.experimental.enable_dump_debug_info
    enable(
        args.dump_dir,
        tensor_debug_mode=args.dump_tensor_debug_mode,
        circular_buffer_size=args.dump_circular_buffer_size,
    )


# ---- Data --------------------------------------------------------------------------------------

# The digits 0 to 9, five pixels wide and seven high: one number a row, one bit a pixel.
GLYPHS = (
    (14, 17, 19, 21, 25, 17, 14), (4, 12, 4, 4, 4, 4, 14), (14, 17, 1, 2, 4, 8, 31),
    (31, 2, 4, 2, 1, 17, 14), (2, 6, 10, 18, 31, 2, 2), (31, 16, 30, 1, 1, 17, 14),
    (6, 8, 16, 30, 17, 17, 14), (31, 1, 2, 4, 8, 8, 8), (14, 17, 17, 14, 17, 17, 14),
    (14, 17, 17, 15, 1, 2, 12),
)  # fmt: skip


def generated_digits(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draws `count` digits as MNIST has them: uint8 images [count, 28, 28] and labels [count]."""
    labels = rng.integers(0, NUM_LABELS, size=count)
    images = rng.integers(0, 30, size=(count, IMAGE_SIZE, IMAGE_SIZE))
    for image, label in zip(images, labels, strict=True):
        glyph = (np.array(GLYPHS[label])[:, None] >> np.arange(4, -1, -1)) & 1
        top, left = rng.integers(1, 6), rng.integers(2, 11)
        image[top : top + 21, left : left + 15] += np.kron(glyph, np.ones((3, 3), int)) * 220
    return images.astype(np.uint8), labels.astype(np.uint8)


def load_digits(args: argparse.Namespace) -> tuple[tuple, tuple]:
    """Returns ((train images, labels), (test images, labels)): MNIST, or generated digits."""
    if not args.fake_data:
        socket.setdefaulttimeout(5)  # without a network, give up soon
        try:
            if args.data_dir:
                with np.load(f"{args.data_dir}/mnist.npz") as data:
                    return (data["x_train"], data["y_train"]), (data["x_test"], data["y_test"])
            return tf.keras.datasets.mnist.load_data()
        except Exception as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            print(f"Using generated digits, as MNIST cannot be loaded: {reason}", file=sys.stderr)
    rng = np.random.default_rng(SEED)
    return generated_digits(5000, rng), generated_digits(TEST_SIZE, rng)


def format_example(images: np.ndarray, labels: np.ndarray) -> tuple[tf.Tensor, tf.Tensor]:
    """Flattens the images to rows of mean 0 and variance 1, and makes the labels one-hot rows."""
    rows = images.reshape(len(images), -1).astype(np.float32)
    rows = (rows - rows.mean()) / rows.std()
    return tf.constant(rows), tf.one_hot(labels, NUM_LABELS)


# ---- Model -------------------------------------------------------------------------------------


def dense_weights(input_size: int, output_size: int) -> tuple[tf.Variable, tf.Variable]:
    kernel = tf.random.truncated_normal([input_size, output_size], stddev=0.05)
    return tf.Variable(kernel, name="kernel"), tf.Variable(tf.zeros([output_size]), name="bias")


@tf.function
def dense_layer(weights, inputs, activation):
    kernel, bias = weights
    return activation(tf.matmul(inputs, kernel) + bias)


@tf.function
def model(images, hidden_weights, output_weights):
    hidden = dense_layer(hidden_weights, images, tf.nn.relu)
    logits = dense_layer(output_weights, hidden, tf.identity)
    return tf.nn.softmax(logits)


@tf.function
def loss(probs, labels, fix=False):
    if fix:
        probs = tf.clip_by_value(probs, 1e-20, 1.0)
    diff = -labels * tf.math.log(probs)  # BUG: probs may hold zeros
    return tf.reduce_mean(diff)


def accuracy(probs: tf.Tensor, labels: tf.Tensor) -> float:
    correct = tf.equal(tf.argmax(probs, 1), tf.argmax(labels, 1))
    return float(tf.reduce_mean(tf.cast(correct, tf.float32)))


def main() -> None:
    args = parse_arguments()
    if args.check_numerics:
        tf.debugging.enable_check_numerics()
    if args.dump_dir:
        enable_dump(args)
    tf.keras.utils.set_random_seed(SEED)

    (train_images, train_labels), (test_images, test_labels) = load_digits(args)
    test_rows, test_targets = format_example(test_images[:TEST_SIZE], test_labels[:TEST_SIZE])
    hidden_weights = dense_weights(IMAGE_SIZE**2, HIDDEN_SIZE)
    output_weights = dense_weights(HIDDEN_SIZE, NUM_LABELS)
    variables = [*hidden_weights, *output_weights]
    optimizer = tf.keras.optimizers.Adam(args.learning_rate)

    for step in range(args.max_steps):
        probs = model(test_rows, hidden_weights, output_weights)
        print(f"Accuracy at step {step}: {accuracy(probs, test_targets):.3f}")

        first = step * args.train_batch_size % len(train_images)
        batch = slice(first, first + args.train_batch_size)
        rows, targets = format_example(train_images[batch], train_labels[batch])
        with tf.GradientTape() as tape:
            probs = model(rows, hidden_weights, output_weights)
            loss_value = loss(probs, targets, args.fix)
        gradients = tape.gradient(loss_value, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))


if __name__ == "__main__":
    main()
