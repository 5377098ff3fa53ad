"""Counts what a screen is worth: its blank cells, and the keys that lead to ten answers.

    python tests/benchmarks/bench_screen.py [LOGDIR ...]

opens recorded logdirs of tests/data (or those named) on their roots, and prints which share of the
screen's cells lies in blank runs of four and more; then presses the keys for each question on the
recorded digit classifier, checks that the answer is on the screen, and prints how many keys it
took.  Characters that are typed count as keys, and so does Enter.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench_reader import RECORDED

from tfdbg_tui.tui.app import TfdbgApp

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZES = ((80, 24), (120, 40), (200, 60))
NAMES = ("mnist", "control_flow", "full_tensor")
BLANK = re.compile(" {4,}")
QUESTIONS: tuple[tuple[str, tuple[str, ...], str], ...] = (  # the question, the keys, the answer
    ("Which op made the first NaN or ∞, and what is the fix?", (), "fix: tf.math.log(tf.clip"),
    ("Why, from its inputs on?", ("w",), "3 zeros in"),
    ("What was it computed from?", ("o",), "Softmax:0"),
    (
        "Which tensors of its line are bad in step 6?",
        ("L", "backslash", *" step=6 bad", "enter"),
        "step…: 2",
    ),
    ("Which tensor holds most zeros?", ("alt+3", "s", "z", "enter", "g"), "by zero"),
    ("Which holds the largest number?", ("alt+3", "s", *"max", "enter", "g"), "by max"),
    ("Where does step 6 begin?", ("colon", *"step:6", "enter"), "811 of 1,062"),
    ("Which Softmaxes ran?", ("alt+3", "backslash", *"type=Softmax", "enter"), "type=Softmax: 16"),
    ("In which steps was it bad?", ("V",), "5 bad; 0 of 8 measured"),
    ("What is tensor 88?", ("alt+3", "8", "8", "G"), "88 of 320"),
)


async def screen_after(logdir: str, size: tuple[int, int], keys: Sequence[str]) -> str:
    """Return what is on the screen when a logdir has been opened and keys have been pressed."""
    app = TfdbgApp(logdir, fresh=True, digit_seconds=3600.0)
    async with app.run_test(size=size) as pilot:
        while app.session.snapshot is None or app.session.snapshot.explanation is None:
            await pilot.pause(0.05)
        for key in keys:
            await pilot.press(key)
        await pilot.pause(1.0)  # for what is found in threads
        strips = app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def blank_share(screen: str) -> float:
    """Return which share of the cells lies in blank runs."""
    blank = sum(len(match.group()) for match in BLANK.finditer(screen))
    return blank / len(screen.replace("\n", ""))


async def print_tables(logdirs: Sequence[str], classifier: str) -> None:
    print("| logdir | size | blank cells |\n|---|---|--:|")
    for logdir in logdirs:
        for columns, rows in SIZES:
            share = blank_share(await screen_after(logdir, (columns, rows), ["alt+3"]))
            print(f"| {Path(logdir).name} | {columns}x{rows} | {share:.0%} |", flush=True)
    print("\n| question | keys | answered |\n|---|--:|---|")
    for question, keys, answer in QUESTIONS:
        found = answer in " ".join((await screen_after(classifier, (120, 40), keys)).split())
        print(f"| {question} | {len(keys)} | {'yes' if found else 'NO'} |", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        os.environ["XDG_STATE_HOME"] = directory
        for name in NAMES:
            with tarfile.open(RECORDED.parent / f"{name}.tar.xz") as archive:
                archive.extractall(directory, filter="data")
        recorded = [os.path.join(directory, name) for name in NAMES]
        asyncio.run(print_tables(sys.argv[1:] or recorded, recorded[0]))


if __name__ == "__main__":
    main()
