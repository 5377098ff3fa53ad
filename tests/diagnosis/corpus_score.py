"""Scores the diagnosis of recorded programs with a known truth.

    python tests/diagnosis/corpus_score.py DIRECTORY...

where a directory is one that `python -m tests.corpus.record --out DIRECTORY` has written.  Prints
what went wrong and a table: root op and line right, proved wrongly, false alarms.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tfdbg_tui.diagnosis.report.findings import diagnose
from tfdbg_tui.logdir import open_run


def score(directory: Path) -> tuple[Counter[str], list[str]]:
    """Returns totals, and one sentence for each program that is diagnosed wrongly."""
    totals: Counter[str] = Counter()
    failures = []
    for program in json.loads((directory / "index.json").read_text()):
        report = diagnose(open_run(directory / program["logdir"])).to_json()
        if program["healthy"]:
            totals["healthy"] += 1
            if report["verdict"] != "clean":
                totals["false alarms"] += 1
                failures.append(f"{program['name']}: healthy, but {_short(report)}")
            continue
        totals["buggy"] += 1
        first = report["roots"][0] if report["roots"] else None
        op, line = _right(first, program) if first else (False, False)
        totals["op right"] += op
        totals["line right"] += line
        totals["both right"] += op and line
        totals["proved"] += bool(first) and first["certainty"] == "proved"
        totals["proved wrongly"] += sum(
            root["certainty"] == "proved" and not all(_right(root, program))
            for root in report["roots"]
        )
        totals["more than one root"] += len(report["roots"]) > 1
        if not (op and line):
            wanted = f"{' or '.join(program['root_ops'])} in line {program['root_lines']}"
            failures.append(f"{program['name']}: {wanted}, but {_short(report)}")
    return totals, failures


def _right(root: dict[str, Any], program: dict[str, Any]) -> tuple[bool, bool]:
    op_type, place = root["op_type"], root["location"]
    op = any(
        op_type == wanted
        or (wanted.startswith("__") and op_type.startswith("__") and wanted in op_type)
        for wanted in program["root_ops"]
    )
    line = (
        bool(place)
        and place["file"] == program["file"]
        and (place["line"] in program["root_lines"])
    )
    return op, line


def _short(report: dict[str, Any]) -> str:
    findings = [*report["roots"], *report["suspects"]]
    places = [
        f"{f['op_type']} in line {f['location'] and f['location']['line']} ({f['rule']})"
        for f in findings[:3]
    ]
    return ", ".join(places) or report["verdict"]


def main() -> int:
    for directory in map(Path, sys.argv[1:]):
        totals, failures = score(directory)
        print(directory)
        for failure in failures:
            print(f"  {failure}")
        for name, number in totals.items():
            print(f"  {name:20} {number:5}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
