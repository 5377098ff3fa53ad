"""Run the programs of the ecosystem plain and dumped, and print the table.

    python -m tests.ecosystem                      # all whose packages are installed
    python -m tests.ecosystem keras tfp_nuts       # those whose names hold a word
    python -m tests.ecosystem --mode FULL_HEALTH --exact

Exit code 0 if the debugger did what it promises on each, else 1.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.ecosystem.examination import Examination, examine, programs

if TYPE_CHECKING:
    from collections.abc import Iterable


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.ecosystem")
    parser.add_argument("words", nargs="*", metavar="WORD", help="programs whose names hold it")
    parser.add_argument("--mode", default="ADAPTIVE", help="tensor debug mode (default: ADAPTIVE)")
    parser.add_argument(
        "--exact", action="store_true", help="without remapping and arithmetic optimization"
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep outputs and reports here")
    args = parser.parse_args()
    done: list[Examination] = []
    for program in programs(args.words):
        if program.missing:
            print(f"{program.name:28} not run: needs {', '.join(program.missing)}", flush=True)
            continue
        try:
            examination = examine(program, args.mode, exact=args.exact)
        except subprocess.TimeoutExpired as error:
            print(f"{program.name:28} NOT ENDED after {error.timeout:.0f} s", flush=True)
            done.append(None)
            continue
        print(_line(examination), flush=True)
        if args.keep:
            _keep(examination, args.keep)
        done.append(examination)
    print(_summary(done))
    return 0 if all(each is not None and each.ok for each in done) else 1


def _line(examination: Examination) -> str:
    report, bug = examination.report, examination.program.bug
    roots = [
        f"{root['op_type']}:{(root['location'] or {}).get('line')}"
        for root in report.get("roots", ())
    ]
    if bug:
        roots.append(f"(expected {'|'.join(sorted(bug.op_types))}:{bug.line})")
    return " ".join(
        [
            f"{examination.program.name:28}",
            "ok  " if examination.ok else "FAIL",
            f"exit {examination.plain.exit_code}/{examination.dumped.exit_code}",
            f"{examination.same:9}",
            f"{examination.verdict:10}",
            *roots,
        ]
    )


def _summary(done: Iterable[Examination | None]) -> str:
    tried = list(done)
    ended = [each for each in tried if each is not None]
    same = Counter(each.same for each in ended)
    return (
        f"tried {len(tried)}, ran {sum(each.ran for each in ended)}, "
        f"same to the bit {same['bits']}, in all but the last bits {same['last bits']}, "
        f"other {same['other']}, false alarms {sum(each.false_alarm for each in ended)}, "
        f"missed {sum(each.missed for each in ended)}, "
        f"wrong roots {sum(each.wrong_root for each in ended)}, "
        f"incomplete {sum(each.verdict == 'incomplete' for each in ended)}, "
        f"no verdict {sum(each.verdict == 'none' for each in ended)}"
    )


def _keep(examination: Examination, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    name = examination.program.name
    (directory / f"{name}.plain.txt").write_text(examination.plain.output)
    (directory / f"{name}.dumped.txt").write_text(examination.dumped.output)
    (directory / f"{name}.json").write_text(json.dumps(examination.report, indent=2))


if __name__ == "__main__":
    sys.exit(main())
