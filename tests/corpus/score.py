"""Scores the diagnosis of recorded programs with a known truth.

    python -m tests.corpus.score DIRECTORY...

where a directory is one that `python -m tests.corpus.record --out DIRECTORY` has written.  Prints
what went wrong and a table: root op and line right, proved wrongly, false alarms.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdbg_tui import diagnose, open_run


@dataclass(frozen=True)
class Outcome:
    """What is said of a program, and whether that is true.

    Attributes:
        program: The truth about it, as in `index.json`.
        report: The report on it, as JSON.
    """

    program: dict[str, Any]
    report: dict[str, Any]

    @property
    def root(self) -> dict[str, Any] | None:
        """The first root."""
        roots: list[dict[str, Any]] = self.report["roots"]
        return roots[0] if roots else None

    @property
    def right(self) -> bool:
        """Whether a healthy program is called clean, a buggy one by its op and line."""
        if self.program["healthy"]:
            return bool(self.report["verdict"] == "clean")
        return self.root is not None and all(_right(self.root, self.program))

    @property
    def line(self) -> str:
        """What is said, for a table: verdict, rule, certainty, op type, line and whether right."""
        root = self.root
        said = (root["rule"], root["certainty"], root["op_type"]) if root else ("", "", "")
        place = str(root["location"]["line"]) if root and root["location"] else ""
        right = "right" if self.right else "wrong"
        return "\t".join((self.program["name"], self.report["verdict"], *said, place, right))


def outcomes(directory: Path) -> list[Outcome]:
    """Diagnoses the programs of a directory that `record` has written, or `pack`."""
    return [
        Outcome(program, diagnose(open_run(directory / program["logdir"])).to_json())
        for program in json.loads((directory / "index.json").read_text())
    ]


def score(found: list[Outcome]) -> tuple[Counter[str], list[str]]:
    """Returns totals, and one sentence for each program that is diagnosed wrongly."""
    totals: Counter[str] = Counter()
    failures = []
    for outcome in found:
        program, report = outcome.program, outcome.report
        if program["healthy"]:
            totals["healthy"] += 1
            totals["false alarms"] += not outcome.right
            if not outcome.right:
                failures.append(f"{program['name']}: healthy, but {_short(report)}")
            continue
        totals["buggy"] += 1
        op, line = _right(outcome.root, program) if outcome.root else (False, False)
        totals["op right"] += op
        totals["line right"] += line
        totals["both right"] += op and line
        totals["proved"] += bool(outcome.root) and outcome.root["certainty"] == "proved"
        totals["proved wrongly"] += sum(
            root["certainty"] == "proved" and not all(_right(root, program))
            for root in report["roots"]
        )
        totals["more than one root"] += len(report["roots"]) > 1
        if not outcome.right:
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
        totals, failures = score(outcomes(directory))
        print(directory)
        for failure in failures:
            print(f"  {failure}")
        for name, number in totals.items():
            print(f"  {name:20} {number:5}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
