"""Run tests that an installed package brings along, plain and with a dump on, and compare them.

    python -m tests.ecosystem.own_tests keras/src/layers/core sonnet/src/nets

A directory's tests run in one process.  Keras, Sonnet and TensorFlow Recommenders have theirs in
their wheels.  Exit code 0 if each test ended in the same way in both, else 1.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from tfdbg_tui import diagnose, open_run

_INSTALLED = Path(sysconfig.get_path("purelib"))
_HERE = Path(__file__).parent
_REPOSITORY = _HERE.parents[1]
_FAILED = ("failure", "error")


def outcomes(directory: str, scratch: Path, logdir: Path | None) -> dict[str, str]:
    """Returns how each test of a directory of a package ended.

    Args:
        directory: Below the installed packages.
        scratch: Where to put the results.
        logdir: Where to dump; None for a plain run.
    """
    results = scratch / "results.xml"
    results.unlink(missing_ok=True)
    tests = sorted(map(str, (_INSTALLED / directory).glob("*_test.py")))
    environment = {**os.environ, "TFDBG_OWN_TESTS": str(logdir or "")}
    environment["PYTHONPATH"] = str(_REPOSITORY)
    command = [sys.executable, "-m", "pytest", "-q", "-c", str(_HERE / "own_tests.ini")]
    command += ["-p", "tests.ecosystem.own_tests_dump", f"--junitxml={results}", *tests]
    subprocess.run(command, env=environment, cwd=scratch, capture_output=True, check=False)
    found = ElementTree.parse(results).iter("testcase") if results.exists() else ()
    return {f"{case.get('classname')}.{case.get('name')}": _ended(case) for case in found}


def _ended(case: ElementTree.Element) -> str:
    kinds = [child.tag for child in case if child.tag in (*_FAILED, "skipped")]
    return kinds[0] if kinds else "passed"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.ecosystem.own_tests")
    parser.add_argument("directories", nargs="+", metavar="DIRECTORY")
    args = parser.parse_args()
    differences = 0
    for directory in args.directories:
        with tempfile.TemporaryDirectory() as scratch:
            logdir = Path(scratch, "logdir")
            plain = outcomes(directory, Path(scratch), None)
            dumped = outcomes(directory, Path(scratch), logdir)
            other = sorted(n for n in {**plain, **dumped} if plain.get(n) != dumped.get(n))
            verdict = diagnose(open_run(logdir)).verdict if logdir.exists() else "no dump"
        counts = ", ".join(f"{count} {ended}" for ended, count in Counter(plain.values()).items())
        print(f"{directory:40} {counts}; {len(other)} end otherwise; {verdict}", flush=True)
        for name in other:
            print(f"    {name}: {plain.get(name)} plain, {dumped.get(name)} dumped", flush=True)
        differences += len(other) + (not plain)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
