"""See the package."""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import random
import shutil
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from tests.archives import extract
from tests.fuzz.app import play_app
from tests.fuzz.commands import read_everything, run_commands
from tests.fuzz.damage import damage

if TYPE_CHECKING:
    from collections.abc import Iterator

_TESTS = Path(__file__).parent.parent
_ARCHIVES = (*(_TESTS / "data").glob("*.tar.xz"), _TESTS.parent / "tfdbg_tui/cli/demo.tar.xz")
_TRACEBACK_LINES = 40


class Fuzzer:
    """Makes cases out of seeds, and counts what they come to.

    Args:
        directory: Where the recorded logdirs are extracted to, and damaged ones are made.
        more: Further logdirs to begin with.

    Attributes:
        counts: How many cases of each kind have been tried.
        findings: Seed and error of each case that failed.
    """

    def __init__(self, directory: Path, more: list[Path]) -> None:
        self._scratch = directory / "case"
        self._user = directory / "user"
        self.logdirs = [extracted(archive, directory) for archive in sorted(_ARCHIVES)] + more
        self.counts: collections.Counter[str] = collections.Counter()
        self.findings: list[tuple[int, str]] = []

    def try_one(self, seed: int, only: str | None = None) -> None:
        """Try the case that a seed stands for."""
        rng = random.Random(seed)
        kind = only or rng.choice(("commands", "commands", "commands", "app"))
        shutil.rmtree(self._scratch, ignore_errors=True)
        source = rng.choice(self.logdirs)
        shutil.copytree(source, self._scratch)
        damaged = kind != "app" or rng.random() < 0.6
        done = damage(self._scratch, self.logdirs, rng) if damaged else []
        if kind == "app" and rng.random() < 0.2:
            shutil.copytree(rng.choice(self.logdirs), self._scratch / "another")
        self.counts[kind] += 1
        try:
            with new_user(self._user):
                if kind == "app":
                    play_app(self._scratch, rng)
                else:
                    run_commands(self._scratch)
                    read_everything(self._scratch)
        except (Exception, AssertionError):
            told = "".join(traceback.format_exc().splitlines(keepends=True)[-_TRACEBACK_LINES:])
            self.findings.append((seed, told))
            print(f"\nseed {seed} ({kind}, {source.name}; {'; '.join(done)}):\n{told}", flush=True)


@contextlib.contextmanager
def new_user(home: Path) -> Iterator[None]:
    """Meanwhile, nothing is remembered of cases before, and files are written to a directory."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    before = dict(os.environ)
    os.environ |= {"XDG_CONFIG_HOME": str(home), "XDG_STATE_HOME": str(home)}
    try:
        with contextlib.chdir(home):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def extracted(archive: Path, directory: Path) -> Path:
    """Return the logdir of a recording, which is extracted into a directory of its own."""
    logdir = directory / archive.name.partition(".")[0]
    extract(archive, logdir)
    inner = [path for path in logdir.iterdir() if path.is_dir()]
    return inner[0] if inner else logdir


def main() -> int:
    """Try cases until the time is over; return 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--cases", type=int, help="end after so many, whatever the time")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    parser.add_argument("--only", choices=["commands", "app"])
    parser.add_argument("--logdir", type=Path, action="append", default=[], help="one more")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        fuzzer = Fuzzer(Path(directory), args.logdir)
        seed, deadline = args.seed, time.monotonic() + 60 * args.minutes
        while time.monotonic() < deadline and seed - args.seed != args.cases:
            fuzzer.try_one(seed, args.only)
            seed += 1
    tried = ", ".join(f"{count:,} of {kind}" for kind, count in fuzzer.counts.items())
    print(f"seeds {args.seed} to {seed - 1}: {tried}; {len(fuzzer.findings)} findings")
    return 1 if fuzzer.findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
