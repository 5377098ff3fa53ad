"""Checks the truth about the programs against a second witness: TensorFlow's `check_numerics`.

    python -m tests.corpus.verify [NAME...]            (about three minutes)

It stops a program at the first op that gives a NaN or ∞. That is the root of most buggy programs;
it is not where the first ∞ is meant to be there, as in a mask. Run this after a change of the
corpus, and have a reason for each program that it names.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import sys
import traceback

import tensorflow as tf

from .record import reset
from .registry import PARTS, Program, programs, select

OP_TYPE = re.compile(r'NaN in output \d+ of (?:graph|eagerly-executing) op "(.*?)"')


def first_bad_op(program: Program) -> tuple[str | None, set[int]]:
    """Runs a program until an op gives NaN or ∞.

    Returns:
        The op's type, or None if the program ended well, and the lines of the program in the
        stack trace of that op.
    """
    reset()
    tf.debugging.enable_check_numerics()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            program.function()
    except tf.errors.InvalidArgumentError as error:
        message = str(error)
        frames = traceback.extract_tb(error.__traceback__)
    else:
        return None, set()
    finally:
        tf.debugging.disable_check_numerics()
    lines = {
        int(line)
        for pair in re.findall(r"\(L(\d+)\)|line (\d+), in", message)
        for line in pair
        if line
    }
    lines |= {frame.lineno for frame in frames if frame.filename == program.file}
    return OP_TYPE.search(message)[1], lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="programs, or themes; all if none")
    parser.add_argument("--part", choices=PARTS, help="all parts if none")
    args = parser.parse_args()

    wrong = 0
    selected = select(programs(args.part), args.names)
    buggy = [program for program in selected if not program.healthy]
    for program in buggy:
        op_type, lines = first_bad_op(program)
        right_op = op_type and any(
            op_type == root or (root.startswith("__") and root in op_type)
            for root in program.root_ops
        )
        if not right_op or not lines & set(program.root_lines):
            wrong += 1
            print(f"{program.part} {program.name}: the first bad op is {op_type}")
    print(f"{len(buggy) - wrong} of {len(buggy)} agree with check_numerics")
    return 0


if __name__ == "__main__":
    sys.exit(main())
