"""Small TensorFlow programs, dumped with TensorFlow's writer or ours, for the tests to compare.

    python dumped_programs.py WRITER DIRECTORY PROGRAM:MODE ...

Each program gets ``DIRECTORY/PROGRAM-MODE`` as its dump root and leaves its results, for the
bit-for-bit comparison, in ``results.json``.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf


def eager() -> Any:
    x = tf.constant([[1.0, 0.0], [-2.0, 4.0]])
    y = tf.math.log(x)
    tf.unique(tf.constant([3, 1, 3]))
    z = tf.cast(y, tf.bfloat16) + tf.cast(1e-40, tf.bfloat16)
    small = tf.constant([1e-42, -1e-42, 0.0, -0.0, 2.0]) * 1.0
    wide = tf.cast(x, tf.float64) / 0.0
    half = tf.cast(x, tf.float16) * tf.constant(60000.0, tf.float16)
    empty = tf.zeros([0, 3]) + 1.0
    return [y, z, small, wide, half, empty, tf.reduce_sum(y) * tf.Variable(2.0)]


def functions() -> Any:
    weights = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @tf.function
    def inner(a, b):
        return tf.matmul(a, b), tf.reduce_max(a)

    @tf.function
    def outer(x):
        product, top = inner(x, weights)
        if tf.reduce_sum(product) > 0.0:
            product = tf.math.log(product - 9.0)
        for _ in tf.range(3):
            product *= top
        return tf.reduce_mean(product)

    return [outer(tf.ones([2, 3])), outer(tf.ones([4, 3]) / 2.0)]


def gradient() -> Any:
    weights = tf.Variable(tf.ones([3, 2]))

    @tf.function
    def product(x):
        return tf.matmul(x, weights) * 1.0

    @tf.function
    def loss(x):
        return tf.reduce_mean(tf.math.log(product(x) - 3.0))

    results = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            value = loss(tf.ones([2, 3]))
        grads = tape.gradient(value, weights)
        weights.assign_sub(grads * 0.1)
        results += [value, grads]
    return results


def dtypes() -> Any:
    @tf.function
    def mixed(x):
        half = tf.cast(x, tf.float16) * 30000.0
        brain = tf.cast(x, tf.bfloat16) / tf.zeros([], tf.bfloat16)
        double = tf.sqrt(tf.cast(x, tf.float64))
        number = tf.cast(x * 2.0, tf.int32)
        text = tf.strings.as_string(number)
        return half, brain, double, number > 1, text

    large = tf.reshape(tf.range(3000, dtype=tf.float32) - 1000.0, [3, 1000])
    return [*mixed(tf.constant([-1.0, 0.0, 3.0])), *mixed(large)[:4]]


def strings() -> Any:
    @tf.function
    def lengths(text):
        joined = tf.strings.join([text, "0"])
        return tf.strings.length(joined), tf.strings.to_number(joined + ".5", tf.float32)

    text = tf.strings.join([tf.constant("1"), "2"])
    return [text, *lengths(text), tf.strings.split("a b\0 c")]


def wrong_shapes() -> Any:
    """Nothing but our own ops would notice that the shapes set by hand are wrong."""

    @tf.function
    def inner(x):
        return tf.sin(x) * tf.ones([3, 1]), tf.reduce_sum(x)

    @tf.function
    def outer(x):
        four = tf.py_function(lambda v: np.full([4], v), [x], tf.float32)
        four.set_shape([3])
        right = tf.ones([3]) * x
        pair = inner(four), inner(right)
        for _ in tf.range(2):
            four, right = tf.exp(four) - 1.0, right + x
        return four, pair, right

    return tf.nest.flatten([outer(tf.constant(0.5)), inner(tf.ones([3]))])


def keras_fit() -> Any:
    import keras

    keras.utils.set_random_seed(3)
    model = keras.Sequential(
        [
            keras.layers.Dense(4, activation="relu"),
            keras.layers.Dropout(0.5),
            keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse", jit_compile=False)
    x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3)
    history = model.fit(x, x[:, :1], batch_size=4, epochs=2, verbose=0)
    return [tf.constant(history.history["loss"]), *model.get_weights()]


PROGRAMS: dict[str, Callable[[], Any]] = {
    f.__name__: f for f in (eager, functions, gradient, dtypes, strings, wrong_shapes, keras_fit)
}


def digest(results: Any) -> list[str]:
    arrays = map(np.asarray, results)
    data = (repr(a.tolist()).encode() if a.dtype == object else a.tobytes() for a in arrays)
    return [hashlib.sha256(item).hexdigest() for item in data]


def main() -> None:
    writer, directory, *cases = sys.argv[1:]
    results = {}
    for case in cases:
        program, mode = case.split(":")
        root = os.path.join(directory, f"{program}-{mode}")
        if writer == "tensorflow":
            tf.debugging.experimental.enable_dump_debug_info(root, mode, -1)
        elif writer == "ours":
            import tfdbg_tui

            tfdbg_tui.enable_dump_debug_info(root, mode, -1)
        results[case] = digest(PROGRAMS[program]())
        if writer == "tensorflow":
            tf.debugging.experimental.disable_dump_debug_info()
        elif writer == "ours":
            tfdbg_tui.disable_dump_debug_info()
    with open(os.path.join(directory, "results.json"), "w") as file:
        json.dump(results, file)


if __name__ == "__main__":
    main()
