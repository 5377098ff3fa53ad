"""Random programs of nested calls, branches, loops and gradients: are sources the true ones?

    python -m tests.fuzz.programs --cases 20 --seed 100

Each is recorded with all its values (FULL_TENSOR).  No two of its scalars are alike, so an op's
value says whether what is told to be its inputs are: it must be what the op makes of their values.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdbg_tui.diagnosis import Dataflow, TensorEvent
from tfdbg_tui.logdir import Run, open_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FORMULAS: dict[str, Callable[..., Any]] = {
    "AddV2": np.add,
    "AddN": lambda *values: sum(values),
    "Cos": np.cos,
    "Maximum": np.maximum,
    "Mul": np.multiply,
    "Neg": np.negative,
    "Sin": np.sin,
    "Sub": np.subtract,
    "Tanh": np.tanh,
    "TanhGrad": lambda tanh, gradient: gradient * (1 - tanh * tanh),
}
_DEPTH = 2  # branches and loops inside of each other, in a function
_MAIN = """
@tf.function
def gradient(a, b):
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        result = {last}(a, b)
    found = tape.gradient(result, [a, b], unconnected_gradients="zero")
    return found[0] * 0.717 + found[1]

def main():
    for start in (0.3, 1.3):
        {main}(tf.constant(start, tf.float64), tf.constant(-0.7, tf.float64))
"""


class Writer:
    """Writes a program; all that it computes counts for its result, so nothing is left out.

    Args:
        rng: Where chance comes from.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._lines = ["import tensorflow as tf"]
        self._functions: list[str] = []
        self._names = 0

    def program(self) -> str:
        """Return the text of a program, with a function `main`."""
        for number in range(self._rng.choice((1, 2, 2, 3))):
            self._lines += ["@tf.function", f"def f{number}(a, b):", "    total = a * 0.77"]
            variables = ["a", "b"]
            self._block(variables, _DEPTH, 1)
            self._block(variables, _DEPTH, 1)
            self._lines.append(f"    return {self._value(variables)} + total")
            self._functions.append(f"f{number}")
        last = self._functions[-1]
        main = self._rng.choice((last, "gradient"))
        return "\n".join(self._lines) + _MAIN.format(last=last, main=main)

    def _block(self, variables: list[str], depth: int, indent: int) -> None:
        rng, pad = self._rng, "    " * indent
        for _ in range(rng.randint(1, 3)):
            kind = rng.random()
            if depth and kind < 0.2:
                self._lines.append(f"{pad}if {rng.choice(variables)} > {rng.uniform(-0.6, 0.6)}:")
                self._block(variables[:], depth - 1, indent + 1)
                if rng.random() < 0.7:
                    self._lines.append(f"{pad}else:")
                    self._block(variables[:], depth - 1, indent + 1)
            elif depth and kind < 0.4:
                self._lines.append(f"{pad}for _ in tf.range({rng.randint(0, 3)}):")
                self._block(variables[:], depth - 1, indent + 1)
            else:
                self._assign(variables, pad, is_inside=depth < _DEPTH)

    def _assign(self, variables: list[str], pad: str, *, is_inside: bool) -> None:
        """Write an assignment, inside of branches and loops to a variable that there is."""
        rng = self._rng
        name = rng.choice(variables)
        value = self._value(variables)
        if self._functions and rng.random() < 0.4:
            value = f"{rng.choice(self._functions)}({rng.choice(variables)}, {name})"
        if not is_inside and rng.random() < 0.5:
            self._names += 1
            name = f"v{self._names}"
            variables.append(name)
        self._lines.append(f"{pad}{name} = {value}")
        self._lines.append(f"{pad}total = total * {rng.uniform(0.3, 0.8)} + {name}")

    def _value(self, variables: list[str]) -> str:
        one, other = self._rng.choice(variables), self._rng.choice(variables)
        number = self._rng.uniform(-1, 1)
        forms = (
            *("{0} + {1}", "{0} - {1}", "{0} * {1}", "tf.maximum({0}, {1})"),
            *("tf.sin({0})", "tf.tanh({0})", "{0} * {2}", "{0} + {2}"),
        )
        return self._rng.choice(forms).format(one, other, number)


def record(seed: int, directory: Path) -> Path:
    """Run the program of a seed, and return the logdir with all its values."""
    import tfdbg_tui

    path, logdir = directory / f"program{seed}.py", directory / f"logdir{seed}"
    path.write_text(Writer(random.Random(seed)).program())
    tfdbg_tui.enable_dump_debug_info(str(logdir), "FULL_TENSOR", circular_buffer_size=-1)
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.main()
    finally:
        tfdbg_tui.disable_dump_debug_info()
    return logdir


class Checker:
    """Checks sources and uses by the values on record.

    Args:
        run: A run in FULL_TENSOR.

    Attributes:
        checked: How many sources and uses have been looked at.
        wrong: What is not as it should be, in words.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._dataflow = Dataflow(run)
        self.checked = 0
        self.wrong: list[str] = []

    def check(self) -> None:
        """Look at all that has been computed in graphs."""
        for event in self._events():
            self._check_sources(event)
            self._check_uses(event)

    def _events(self) -> Iterator[TensorEvent]:
        """Yield the floating-point tensors of the graphs."""
        traces = self._run.graph_executions
        for row in range(len(traces)):
            tensor = traces.tensor(row)
            if tensor is not None and tensor.dtype == np.float64:
                yield TensorEvent("graph_execution", row, traces.site(row).output_slot)

    def _check_sources(self, event: TensorEvent) -> None:
        site = self._run.graph_executions.site(event.index)
        op = self._run.op(site.graph_id, site.op_name)
        formula = FORMULAS.get(op.op_type or "") if op is not None else None
        if formula is None:
            return
        self.checked += 1
        sources = [producer.event for producer in self._dataflow.producers(event)]
        values = [self._value(source) for source in sources if source is not None]
        with np.errstate(all="ignore"):
            told = len(values) == len(sources)
            if not told or not _alike(formula(*values), self._value(event)):
                self.wrong.append(f"{self._name(event)} of {[*map(self._name, sources)]}")

    def _check_uses(self, event: TensorEvent) -> None:
        for use in self._dataflow.consumers(event):
            if use.event is None or use.event.kind == "execution":
                continue
            sources = self._dataflow.producers(use.event)
            source = sources[use.input_slot].event if use.input_slot < len(sources) else None
            self.checked += 1
            if source is None or not _alike(self._value(source), self._value(event)):
                self.wrong.append(f"{self._name(event)} used by {self._name(use.event)}")

    def _value(self, event: TensorEvent) -> float:
        if event.kind == "execution":
            tensor = self._run.executions.tensor(event.index, event.slot)
        else:
            tensor = self._run.graph_executions.tensor(event.index)
        assert tensor is not None
        return float(tensor)

    def _name(self, event: TensorEvent | None) -> str:
        if event is None or event.kind == "execution":
            return str(event)
        site = self._run.graph_executions.site(event.index)
        name = f"{self._run.graphs[site.graph_id].name}/{site.op_name}"
        return f"row {event.index}: {name} = {self._value(event)}"


def _alike(one: float, other: float) -> bool:
    return bool(np.isclose(one, other, rtol=1e-9, atol=0.0, equal_nan=True))


def main() -> int:
    """Try programs; return 1 where any source was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.programs")
    parser.add_argument("--cases", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    args = parser.parse_args()
    checked, wrong = 0, 0
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(args.seed, args.seed + args.cases):
            checker = Checker(open_run(record(seed, Path(directory))))
            checker.check()
            checked, wrong = checked + checker.checked, wrong + len(checker.wrong)
            for told in checker.wrong:
                print(f"seed {seed}: {told}")
    print(f"{checked:,} sources and uses, {wrong:,} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
