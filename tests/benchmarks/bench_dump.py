"""What a dump costs: step time without, with TensorFlow's writer, and with ours.

    python tests/benchmarks/bench_dump.py [--programs mnist cnn ...] [--modes ADAPTIVE ...]

Each measurement is a process of its own, in which blocks of steps without and with the dump take
turns, so that each pair of blocks is timed within seconds of each other.  Prints a Markdown table:
the milliseconds of a step (median of a block, then of all blocks), and the ratio of the two blocks
of a pair (median of all pairs, and the lowest and highest).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

BLOCKS = 9
STEPS = {
    "mnist": 25,
    "mnist_bad": 25,
    "cnn": 40,
    "transformer": 6,
    "transformer_jit": 6,
    "eager": 25,
    "loop": 10,
    "data": 5,
    "lstm": 10,
    "steps_per_execution": 10,
}
"""Steps in a block."""
EAGER_OPS = 200


def mnist(bad: bool = False) -> Callable[[], object]:
    """Two dense layers, three small functions, tape and Adam outside: mostly eager.

    Args:
        bad: Whether the logarithm meets zeros in the first step, so that all is NaN after it.
    """
    import tensorflow as tf

    tf.keras.utils.set_random_seed(1)
    x = tf.random.normal([100, 784])
    y = tf.one_hot(tf.random.uniform([100], 0, 10, tf.int32), 10)
    stddev = 1.0 if bad else 0.03
    weights = [
        tf.Variable(tf.random.truncated_normal([784, 500], stddev=stddev)),
        tf.Variable(tf.zeros([500])),
        tf.Variable(tf.random.truncated_normal([500, 10], stddev=stddev)),
        tf.Variable(tf.zeros([10])),
    ]

    @tf.function
    def dense(w: Any, b: Any, inputs: Any, activation: Any) -> Any:
        return activation(tf.matmul(inputs, w) + b)

    @tf.function
    def model(inputs: Any) -> Any:
        hidden = dense(weights[0], weights[1], inputs, tf.nn.relu)
        return tf.nn.softmax(dense(weights[2], weights[3], hidden, tf.identity))

    @tf.function
    def loss(probs: Any, labels: Any) -> Any:
        probs = probs if bad else tf.clip_by_value(probs, 1e-6, 1.0)
        return tf.reduce_mean(-labels * tf.math.log(probs))

    optimizer = tf.keras.optimizers.Adam(1e-4)

    def step() -> object:
        with tf.GradientTape() as tape:
            value = loss(model(x), y)
        gradients = tape.gradient(value, weights)
        optimizer.apply_gradients(zip(gradients, weights, strict=True))
        return value.numpy()

    return step


def cnn() -> Callable[[], object]:
    """A small convolutional network's compiled `train_function`, batch 64."""
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(1)
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(16, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(64, activation="relu"),
            layers.Dense(10),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"], jit_compile=False)
    batch = tf.random.normal([64, 28, 28, 1]), tf.random.uniform([64], 0, 10, tf.int32)
    data = tf.data.Dataset.from_tensors(batch).repeat()
    model.make_train_function()
    iterator = iter(data)
    return lambda: {k: float(v) for k, v in model.train_function(iterator).items()}


def transformer(jit: bool = False) -> Callable[[], object]:
    """A training step of a two-layer Transformer, width 256, batch 16, length 128, as one graph."""
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(1)
    layers = keras.layers
    tokens = layers.Input((128,), dtype="int32")
    hidden = layers.Embedding(1000, 256)(tokens)
    for _ in range(2):
        attended = layers.MultiHeadAttention(4, 64)(hidden, hidden)
        hidden = layers.LayerNormalization()(hidden + attended)
        wide = layers.Dense(1024, activation="gelu")(hidden)
        hidden = layers.LayerNormalization()(hidden + layers.Dense(256)(wide))
    model = keras.Model(tokens, layers.Dense(1000)(hidden))
    optimizer = keras.optimizers.Adam(1e-4)
    optimizer.build(model.trainable_variables)
    x = tf.random.uniform([16, 128], 0, 1000, tf.int32)

    @tf.function(jit_compile=jit)
    def train(x: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=x, logits=logits)
            value = tf.reduce_mean(losses)
        gradients = tape.gradient(value, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return value

    return lambda: train(x).numpy()


def eager() -> Callable[[], object]:
    """A chain of small eager ops, some frames deep."""
    import tensorflow as tf

    x = tf.ones([100])

    def deep(frames: int) -> object:
        if frames:
            return deep(frames - 1)
        y = x
        for _ in range(EAGER_OPS):
            y = tf.add(y, x)
        return y.numpy()

    return lambda: deep(30)


def loop() -> Callable[[], object]:
    """500 iterations of a loop of three small ops."""
    import tensorflow as tf

    @tf.function
    def iterate(x: Any) -> Any:
        for _ in tf.range(500):
            x = tf.sin(x) * 1.01 + 0.1
        return x

    x = tf.ones([16])
    return lambda: iterate(x).numpy()


def data() -> Callable[[], object]:
    """2,000 elements of a `tf.data` map of three small ops."""
    import tensorflow as tf

    def pipeline() -> object:
        numbers = tf.data.Dataset.range(2000)
        return list(numbers.map(lambda i: tf.cast(i, tf.float32) * 2.0 + 1.0).batch(2000))

    return pipeline


def fit_step(
    layers: list[object], shape: tuple[int, ...], **compile_options: int
) -> Callable[[], float]:
    """Return a step of `fit` of a small model, batch 32, several batches a step where asked for."""
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input(shape), *layers, keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=False, **compile_options)
    batch = tf.random.normal([32, *shape]), tf.random.normal([32, 1])
    model.make_train_function()
    iterator = iter(tf.data.Dataset.from_tensors(batch).repeat())
    return lambda: float(model.train_function(iterator)["loss"])


def lstm() -> Callable[[], object]:
    """A training step of an LSTM over 20 time steps, which is a loop."""
    import keras

    return fit_step([keras.layers.LSTM(32)], (20, 16))


def steps_per_execution() -> Callable[[], object]:
    """Ten training steps in one call."""
    import keras

    return fit_step([keras.layers.Dense(64, "relu")], (16,), steps_per_execution=10)


PROGRAMS: dict[str, Callable[[], Callable[[], object]]] = {
    "mnist": mnist,
    "mnist_bad": lambda: mnist(bad=True),
    "cnn": cnn,
    "transformer": transformer,
    "transformer_jit": lambda: transformer(jit=True),
    "eager": eager,
    "loop": loop,
    "data": data,
    "lstm": lstm,
    "steps_per_execution": steps_per_execution,
}


def times(
    step: Callable[[], object], count: int, mark: Callable[[int], AbstractContextManager[None]]
) -> list[float]:
    """Return the milliseconds of each of `count` steps."""
    result = []
    for number in range(count):
        begin = time.perf_counter()
        with mark(number):
            step()
        result.append((time.perf_counter() - begin) * 1e3)
    return result


@contextlib.contextmanager
def dumping(writer: str, mode: str, every: int, root: str) -> Iterator[None]:
    """Dump with one writer."""
    import tensorflow as tf

    import tfdbg_tui

    if writer == "tensorflow":
        # It can neither go on in a directory, nor instrument or let go of what was traced before.
        directory = tempfile.mkdtemp(dir=root)
        tf.debugging.experimental.enable_dump_debug_info(directory, mode, -1)
        yield
        tf.debugging.experimental.disable_dump_debug_info()
    else:
        tfdbg_tui.enable_dump_debug_info(root, mode, -1, every=every)
        yield
        tfdbg_tui.disable_dump_debug_info()


def measure(program: str, writer: str, mode: str, every: int) -> dict[str, Any]:
    """Time one program with one writer, in this process."""
    import tfdbg_tui

    count = STEPS[program] if every == 1 else 2 * every
    middle = statistics.median if every == 1 else statistics.fmean
    step = PROGRAMS[program]()
    times(step, 5, tfdbg_tui.step)
    none, dumped = [], []
    with tempfile.TemporaryDirectory() as root:
        for block in range(BLOCKS):
            none.append(middle(times(step, count, tfdbg_tui.step)))
            with dumping(writer, mode, every, root):
                dumped_step = PROGRAMS[program]() if writer == "tensorflow" else step
                if writer == "tensorflow" or not block:
                    times(dumped_step, 2 * every + 3, tfdbg_tui.step)
                dumped.append(middle(times(dumped_step, count, tfdbg_tui.step)))
    return {"none": none, "dumped": dumped}


def measured(program: str, writer: str, mode: str, every: int) -> dict[str, Any] | None:
    """Run `measure` in a process of its own; None where the program fails."""
    arguments = ["--one", program, writer, mode, str(every)]
    process = subprocess.run(
        [sys.executable, __file__, *arguments], capture_output=True, text=True, check=False
    )
    if process.returncode:
        return None
    return dict(json.loads(process.stdout.strip().splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS), choices=PROGRAMS)
    parser.add_argument(
        "--modes", nargs="+", default=["ADAPTIVE", "CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH"]
    )
    parser.add_argument("--every", type=int, default=10, help="the sampled measurement")
    parser.add_argument("--writers", nargs="+", default=["tensorflow", "ours"])
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        program, writer, mode, every = args.one
        print(json.dumps(measure(program, writer, mode, int(every))))
        return
    print("| program | mode | writer | none, ms | dumped, ms | ratio | lowest, highest |")
    print("|---|---|---|--:|--:|--:|--:|")
    for program in args.programs:
        cases = [(w, m, 1) for m in args.modes for w in args.writers]
        if "ours" in args.writers and args.every > 1:
            cases.append(("ours", args.modes[0], args.every))
        for writer, mode, every in cases:
            if writer == "tensorflow" and mode == "ADAPTIVE":
                continue
            result = measured(program, writer, mode, every)
            name = mode if every == 1 else f"{mode}, one step in {every}"
            if result is None:
                print(f"| {program} | {name} | {writer} | | fails | | |", flush=True)
                continue
            ratios = [d / n for d, n in zip(result["dumped"], result["none"], strict=True)]
            none, dumped = (statistics.median(result[key]) for key in ("none", "dumped"))
            print(
                f"| {program} | {name} | {writer} | {none:.1f} | {dumped:.1f} "
                f"| {statistics.median(ratios):.2f} | {min(ratios):.2f}, {max(ratios):.2f} |",
                flush=True,
            )
            if program == "eager":
                cost = (dumped - none) * 1e3 / EAGER_OPS
                print(f"| | added a op | {writer} | | {cost:.1f} us | | |", flush=True)


if __name__ == "__main__":
    main()
