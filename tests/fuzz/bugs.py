"""Random programs with bugs at known lines, and with NaN and ∞ that do no harm: are roots those?

    python -m tests.fuzz.bugs --cases 100 --seed 1

Each line computes a vector of four numbers from the one before, in functions that are called in
many ways: by branches, loops, pipelines, Python, through variables, lists, tables and texts.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tfdbg_tui.diagnosis import diagnose
from tfdbg_tui.logdir import open_run

_BUGS = {
    "tf.math.log(tf.nn.relu(x - {c}))": "Log",
    "1.0 / tf.nn.relu(x - {c})": "RealDiv",
    "tf.sqrt(x - {c})": "Sqrt",
    "tf.math.rsqrt(tf.nn.relu(x - {c}))": "Rsqrt",
    "tf.pow(x - {c}, 0.5)": "Pow",
    "tf.math.acos(x + {c})": "Acos",
    "tf.math.log1p(-x - {c})": "Log1p",
    "tf.exp(x * 1000.0)": "Exp",
    "tf.square(x * 1e25)": "Square",
    "x + tf.reduce_mean(x[:0])": "Mean",
    "x + tf.reduce_prod(x + 1e12)": "Prod",
    "(x - tf.reduce_mean(x)) / tf.math.reduce_std(x * 0.0)": "RealDiv",
    "tf.cast(tf.cast(x * 1e6, tf.float16), tf.float32)": "Cast",
}
"""What makes NaN or ∞, given a limit in the range of the numbers, and the op that does."""

_HARMLESS = (
    "tf.where(x > {c}, tf.math.log(tf.nn.relu(x - {c})), 0.0)",
    "tf.nn.softmax(tf.where(x >= tf.reduce_max(x), x, -np.inf))",
    "tf.reduce_logsumexp(tf.where(x >= tf.reduce_max(x), x, -np.inf))",
    "tf.reduce_min(tf.where(x >= tf.reduce_max(x), x, np.inf))",
    "tf.math.divide_no_nan(x, tf.nn.relu(x - {c}))",
    "tf.minimum(1.0 / tf.nn.relu(x - {c}), 5.0)",
    "tf.exp(tf.math.log(tf.nn.relu(x - {c})))",
    "1.0 / (1.0 + tf.exp(x * 1000.0))",
    "tf.where(tf.math.is_finite(tf.sqrt(x - {c})), 1.0, 2.0)",
)

_STEPS = (
    "x * 0.5 + 0.5",
    "tf.abs(x) * 0.7 + 0.2",
    "tf.reverse(x, [0])",
    "tf.concat([x[1:], x[:1]], 0)",
    "tf.linalg.matvec(tf.eye(4) * 0.9 + 0.05, x)",
    "tf.sqrt(tf.abs(x) + 0.1)",
    "tf.cumsum(x) * 0.3 + 0.1",
    "tf.gather(x, [3, 1, 0, 2])",
    "tf.stack(tf.unstack(x))",
    "tf.cast(tf.cast(x, tf.float64), tf.float32)",
)

_WAYS = {
    "x = f{k}(x)": "",
    "x = tf.cond(tf.size(x) > 1, lambda: f{k}(x), lambda: x * 2.0)": "",
    "x = tf.switch_case(tf.constant(1), [lambda: x, lambda: f{k}(x)])": "",
    "x = tf.while_loop(lambda i, _: i < 2, lambda i, x: (i + 1, f{k}(x)), [0, x])[1]": "",
    "x = tf.map_fn(f{k}, tf.stack([x, x * 0.9]))[0]": "",
    "x = tf.scan(lambda x, _: f{k}(x), tf.range(2), initializer=x)[-1]": "",
    "x = tf.recompute_grad(f{k})(x)": "",
    "x = tf.ensure_shape(tf.py_function(f{k}, [x], tf.float32), [4])": "",
    "x = tf.ensure_shape(tf.io.parse_tensor(tf.io.serialize_tensor(f{k}(x)), tf.float32), [4])": "",
    "x = tf.TensorArray(tf.float32, 2).write(0, x).write(1, f{k}(x)).stack()[1]": "",
    "v{k}.assign(f{k}(x)); x = v{k} * 0.9": "v{k} = tf.Variable(tf.ones([4]))",
    "q{k}.enqueue(f{k}(x)); x = q{k}.dequeue()": (
        "q{k} = tf.queue.FIFOQueue(4, [tf.float32], [[4]])"
    ),
    "t{k}.insert([1], f{k}(x)[None]); x = tf.ensure_shape(t{k}.lookup([1])[0], [4])": (
        "t{k} = tf.lookup.experimental.DenseHashTable(tf.int32, tf.float32, [0.0] * 4, -1, -2)"
    ),
}
"""How a function `f{k}` is called, and what has to be there before."""

_MAIN = {
    "eager": "result = run(x)",
    "function": "result = tf.function(run)(x)",
    "pipeline": "result = next(iter(tf.data.Dataset.from_tensors(x).map(run)))",
}
_LIMITS = "0.9", "1.1", "1.3"


@dataclass(frozen=True)
class Program:
    """A program of a seed.

    Attributes:
        text: Its text; the global variable `result` is what it computes.
        bugs: The op that makes NaN or ∞ in a line with a bug, by the number of the line.
    """

    text: str
    bugs: dict[int, str]


def program(seed: int) -> Program:
    """Return the program of a seed."""
    rng = random.Random(seed)
    lines = ["import numpy as np", "import tensorflow as tf"]
    bugs: dict[int, str] = {}
    calls: list[str] = []
    needed: list[str] = []
    for k in range(rng.randint(3, 6)):
        lines += rng.choice(([], ["@tf.function"]))
        lines.append(f"def f{k}(x):")
        lines += [f"    x = {rng.choice(_STEPS)}" for _ in range(rng.randint(0, 2))]
        kind, limit = rng.random(), rng.choice(_LIMITS)
        if kind < 0.15:
            bug, op_type = rng.choice(list(_BUGS.items()))
            lines.append(f"    x = {bug.format(c=limit)}")
            bugs[len(lines)] = op_type
        elif kind < 0.5:
            lines.append(f"    x = x + 0.1 * {rng.choice(_HARMLESS).format(c=limit)}")
        lines += [f"    x = {rng.choice(_STEPS)}", "    return x"]
        call, before = rng.choice(list(_WAYS.items()))
        calls.append(call.format(k=k))
        needed.append(before.format(k=k))
    lines += [*needed, "def run(x):", *(f"    {call}" for call in calls), "    return x"]
    numbers = [rng.choice((0.4, 0.7, 1.0, 1.2, 1.6, 2.1)) for _ in range(4)]
    lines += [f"x = tf.constant({numbers})", rng.choice(list(_MAIN.values()))]
    return Program("\n".join(lines) + "\n", bugs)


def wrong(seed: int, directory: Path) -> str:
    """Run the program of a seed without a dump and with one; return what is wrong, or ""."""
    import tfdbg_tui

    path, logdir = directory / f"bugs{seed}.py", directory / f"logdir{seed}"
    made = program(seed)
    path.write_text(made.text)
    plain = _run(path)
    tfdbg_tui.enable_dump_debug_info(str(logdir), "ADAPTIVE", circular_buffer_size=-1)
    try:
        dumped = _run(path)
    finally:
        tfdbg_tui.disable_dump_debug_info()
    if not np.allclose(plain, dumped, rtol=1e-3, atol=1e-3, equal_nan=True):
        return f"the result is {dumped}, not {plain}"
    roots = {
        root.location.line if root.location else 0: root.op_type
        for root in diagnose(open_run(logdir)).roots
    }
    if roots.items() - made.bugs.items():
        return f"the roots are {roots}, the bugs {made.bugs}"
    if not (np.isfinite(plain).all() or roots):
        return f"no root, and the result is {plain}"
    return ""


def _run(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)  # AutoGraph asks there
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[path.stem]
    return module.result.numpy()


def main() -> None:
    """Try programs, and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    args = parser.parse_args()
    seeds = range(args.seed, args.seed + args.cases)
    found = 0
    for seed in seeds:
        with tempfile.TemporaryDirectory() as directory:
            told = wrong(seed, Path(directory))
        if told:
            print(f"seed {seed}: {told}", flush=True)
            found += 1
    print(f"seeds {seeds[0]} to {seeds[-1]}: {found} wrong")


if __name__ == "__main__":
    main()
