"""Run the trainings with the dump, and print what is told of each beside its label.

    python -m tests.trainings                # all: about half an hour
    python -m tests.trainings 004 062        # some

Exit code 0 if no healthy one is called bad or suspect, else 1.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras  # noqa: F401  # so that each process need not
import tensorflow as tf  # noqa: F401

import tfdbg_tui
from tfdbg_tui.diagnosis.report.diagnosis import diagnose
from tfdbg_tui.logdir import open_run

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import Finding

HERE = Path(__file__).parent
LABELS: dict[str, Any] = json.loads((HERE / "labels.json").read_text())
TOLD = ("bad", "suspect")
DIVERGED = {
    *("training-diverges", "grew-until-overflow", "diverged-until-overflow"),
    "loss-without-lower-bound",
    *("diverged-until-exp-overflow", "steps-too-long", "numbers-explode"),
    "huge-from-the-first-step",
}
RULES = {
    "dead-relu": {"dead-relu"},
    "diverges": {*DIVERGED, "grew-over-iterations"},
    "overflows": {"exp-overflow"},
    "near-overflow": {
        *("near-overflow", "half-precision-overflow", "grew-until-overflow", "softmax-by-hand")
    },
    "exploding-slot": {"optimizer-slot-exploded", "squared-gradient-overflow", *DIVERGED},
    "loss-scale-stuck-or-falling": {
        *("all-steps-skipped", "most-steps-skipped", "loss-scale-below-one")
    },
    "most-steps-skipped": {"all-steps-skipped", "most-steps-skipped"},
    "bad-batch": {
        *("bad-argument", "bad-array", "bad-pipeline-input", "bad-python-value", "bad-data"),
        *("mean-of-nothing", "overflowed-at-once", "batch-far-from-others", *DIVERGED),
    },
    "saturated": {"saturated-activation", "saturated-softmax", "log-of-softmax"},
    "vanishing-gradients": {
        *("vanishing-gradient", "output-cancelled", "gradient-underflow", "norm-of-one")
    },
    "layer-never-changes": {"layer-never-changes", "no-gradient"},
}
"""Of each cause the rules that name it."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.trainings")
    parser.add_argument("numbers", nargs="*", metavar="NUMBER", help="of programs; all by default")
    numbers = parser.parse_args().numbers or sorted(LABELS)
    verdicts: Counter[tuple[bool, bool]] = Counter()
    right_cause, layers = 0, Counter[bool]()
    for number in numbers:
        with tempfile.TemporaryDirectory() as logdir:
            run_dumped(HERE / "programs" / f"{number}.py", logdir)
            report = diagnose(open_run(logdir))
        label = LABELS[number]
        verdicts[label["sick"], report.verdict in TOLD] += 1
        findings = (*report.roots, *report.suspects)
        rules = [finding.rule for finding in findings]
        causes = [label["cause"], *label.get("also", ())] if label["sick"] else []
        right_cause += any(not RULES[cause].isdisjoint(rules) for cause in causes)
        if label["layer"]:
            name = label["layer"].split("/")[-1]
            layers[any(name in layers_of(finding) for finding in findings)] += 1
        told = f"{label['cause'] or 'healthy':30} {report.verdict:10}"
        print(f"{number} {told} {' '.join(rules)}", flush=True)
    sick, healthy = (verdicts[kind, True] + verdicts[kind, False] for kind in (True, False))
    print(
        f"sick: told {verdicts[True, True]} of {sick}, {right_cause} by a cause that was labelled"
    )
    print(f"layer: right in {layers[True]} of {layers.total()}")
    print(f"healthy: told {verdicts[False, True]} of {healthy}")
    return 1 if verdicts[False, True] else 0


def layers_of(finding: Finding) -> set[str]:
    """Returns the names of the layers that a finding names, of those around them, and of variables.

    The name of a variable of a layer that was never called begins with that of the layer.
    """
    layers = (finding.layer, finding.input_layer, *finding.other_layers)
    named = {part.name for layer in layers if layer for part in layer.parts}
    return named.union(*(name.split("/") for name in finding.variables))


def run_dumped(program: Path, logdir: str) -> None:
    """Runs a program in a process of its own, with the dump."""
    process = os.fork()
    if process:
        os.waitpid(process, 0)
        return
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
        os.dup2(nowhere.fileno(), sys.stderr.fileno())
    tfdbg_tui.enable_dump_debug_info(logdir, "ADAPTIVE", -1)
    sys.argv = [str(program)]
    try:
        runpy.run_path(str(program), run_name="__main__")
    finally:
        tfdbg_tui.disable_dump_debug_info()
        os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
