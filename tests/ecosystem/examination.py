"""Run a program of the ecosystem plain and under ``tfdbg-tui run``, and compare.

A program prints its numbers as lines ``result NAME VALUES`` (values with ``repr``, so to the bit).
A planted bug is marked on its line: ``# BUG Log: the probabilities may be 0``, with the types that
its root op may have, separated by ``|``.  A program without such a line is healthy.
"""

from __future__ import annotations

import ast
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PROGRAMS = Path(__file__).parent / "programs"
_EXACT = Path(__file__).parent / "exact.py"
_ROOT = Path(__file__).parents[2]
_SECONDS = 600
_BUG = re.compile(r"#\s*BUG ([\w|]+):")
_ENDED = re.compile(r"^The program: ended with exit code (\d+)$", re.MULTILINE)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|inf|nan)\b")
_LAST_BITS = 1e-3  # relative to the largest number of a line; results that differ more are others


@dataclass(frozen=True)
class Program:
    """One program: what it imports, and the bug that it holds."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def missing(self) -> list[str]:
        """The packages that it imports and that are not installed."""
        return sorted(name for name in self._imports() if find_spec(name) is None)

    @property
    def bug(self) -> Bug | None:
        """The planted bug, or None for a healthy program."""
        for number, line in enumerate(self.path.read_text().splitlines(), 1):
            if found := _BUG.search(line):
                return Bug(frozenset(found[1].split("|")), number)
        return None

    def _imports(self) -> Iterator[str]:
        for node in ast.walk(ast.parse(self.path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.partition(".")[0]


@dataclass(frozen=True)
class Bug:
    """A planted bug: the types that its root op may have, and its line."""

    op_types: frozenset[str]
    line: int


@dataclass(frozen=True)
class Outcome:
    """How one run of a program ended, and what it printed."""

    exit_code: int
    output: str

    @property
    def results(self) -> tuple[str, ...]:
        """The lines with results."""
        return tuple(line for line in self.output.splitlines() if line.startswith("result "))


@dataclass(frozen=True)
class Examination:
    """A program, plain and dumped.

    Attributes:
        program: The program.
        plain: Its run in plain Python.
        dumped: Its run under the dump writer.
        exit_code: Of ``tfdbg-tui run``.
        report: What ``--json`` printed; empty where nothing could be diagnosed.
    """

    program: Program
    plain: Outcome
    dumped: Outcome
    exit_code: int
    report: dict[str, Any] = field(repr=False)

    @property
    def verdict(self) -> str:
        return str(self.report.get("verdict", "none"))

    @property
    def ran(self) -> bool:
        """Whether the dumped program ended as the plain one did."""
        return self.plain.exit_code == self.dumped.exit_code

    @property
    def same(self) -> str:
        """How the results compare: "bits", "last bits" or "other"."""
        if self.plain.results == self.dumped.results:
            return "bits"
        return "last bits" if _close(self.plain.results, self.dumped.results) else "other"

    @property
    def false_alarm(self) -> bool:
        """Whether a healthy program is called bad, or trouble that is none is proposed."""
        return self.program.bug is None and self.verdict in ("bad", "suspect")

    @property
    def missed(self) -> bool:
        """Whether a program with a bug is not called bad."""
        return self.program.bug is not None and self.verdict != "bad"

    @property
    def wrong_root(self) -> bool:
        """Whether the first root of a program with a bug is another op or line than the bug's."""
        bug = self.program.bug
        if bug is None or self.verdict != "bad":
            return False
        root = self.report["roots"][0]
        line = (root["location"] or {}).get("line")
        return root["op_type"] not in bug.op_types or line != bug.line

    @property
    def ok(self) -> bool:
        """Whether the debugger did what it promises."""
        return (
            self.ran
            and self.same != "other"
            and self.verdict in ("clean", "bad")
            and not (self.false_alarm or self.missed or self.wrong_root)
        )


def programs(names: Iterable[str] = ()) -> list[Program]:
    """Return the programs, or those whose names hold one of the words given."""
    found = [Program(path) for path in sorted(PROGRAMS.glob("*.py"))]
    words = list(names)
    return [each for each in found if not words or any(word in each.name for word in words)]


def examine(
    program: Program, mode: str = "ADAPTIVE", *, exact: bool = False, plain: Outcome | None = None
) -> Examination:
    """Run a program plain and dumped.

    Args:
        program: The program.
        mode: Tensor debug mode of the dump.
        exact: Without the optimizer passes that a dump hinders, in both runs.
        plain: How the plain run ended, where that is known.
    """
    arguments = [*([str(_EXACT)] if exact else []), str(program.path)]
    plain = plain or run_plain(arguments)
    with tempfile.TemporaryDirectory(prefix=f"{program.name}.") as scratch:
        options = ["--logdir", str(Path(scratch, "logdir")), "--tensor-debug-mode", mode]
        command = _run(
            ["-m", "tfdbg_tui", "run", "--headless", "--json", *options, *arguments], scratch
        )
    try:
        report = json.loads(command.stdout)
    except ValueError:
        report = {}
    ended = _ENDED.search(command.stderr)
    dumped = Outcome(int(ended[1]) if ended else -1, command.stderr)
    return Examination(program, plain, dumped, command.returncode, report)


def run_plain(arguments: list[str]) -> Outcome:
    """Run a program in plain Python."""
    with tempfile.TemporaryDirectory(prefix="plain.") as scratch:
        ended = _run(arguments, scratch)
    return Outcome(ended.returncode, ended.stdout + ended.stderr)


def _run(arguments: list[str], scratch: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"}
    environment["PYTHONPATH"] = os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=scratch,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_SECONDS,
        check=False,
    )


def _close(plain: tuple[str, ...], dumped: tuple[str, ...]) -> bool:
    """Whether lines of numbers differ by no more than rounding makes of them."""
    if len(plain) != len(dumped):
        return False
    for left, right in zip(plain, dumped, strict=True):
        if _NUMBER.sub("#", left) != _NUMBER.sub("#", right):
            return False
        ours, theirs = ([float(n) for n in _NUMBER.findall(line)] for line in (left, right))
        scale = max((abs(n) for n in ours if math.isfinite(n)), default=0.0)
        if not all(_near(a, b, _LAST_BITS * scale) for a, b in zip(ours, theirs, strict=True)):
            return False
    return True


def _near(left: float, right: float, tolerance: float) -> bool:
    if not (math.isfinite(left) and math.isfinite(right)):
        return str(left) == str(right)
    return abs(left - right) <= tolerance
