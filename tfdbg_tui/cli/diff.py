"""Compare two runs of a program: what is finite in the first and NaN or infinite in the second.

    tfdbg-tui diff GOOD BAD
    tfdbg-tui diff GOOD BAD --json | jq '.bad_in_second[0].bad'
    tfdbg-tui diff LOGDIR LOGDIR --first-run 363d37fa --second-run 9ae5bc4a

Tensors are paired by the function that they are in, their name and their op type; eager ones by
their op type and the text of their source line.  The n-th computation of one is compared with the
n-th of the other.  Where a program has been changed, names may have moved to other ops.

Exit codes: 0 no difference; 1 a difference; 2 no answer; 3 no difference in what both have on
record, but that is not everything.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tfdbg_tui.cli import exit_codes
from tfdbg_tui.cli.options import LOGDIR_HELP
from tfdbg_tui.cli.output import as_wide_as_the_terminal, put
from tfdbg_tui.diagnosis import (
    SCHEMA_VERSION,
    bad_elements_text,
    counts_text,
    diagnose,
    paragraph,
    verdict_text,
)
from tfdbg_tui.logdir import LogdirError, open_run
from tfdbg_tui.logdir.text import counted, printable, with_blanks
from tfdbg_tui.query import compare
from tfdbg_tui.storage.urls import without_secrets

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.diagnosis import Report
    from tfdbg_tui.query import Comparison, Difference, TensorRow

    Reports = tuple[Report, Report]

_SHOWN = 5  # differences of each kind
_INDENT = 17
_LABELS = ("first", "second")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    for name in _LABELS:
        parser.add_argument(name, metavar=name.upper(), type=without_secrets, help=LOGDIR_HELP)
        parser.add_argument(
            f"--{name}-run", metavar="ID", help=f"which run, where the {name} holds several"
        )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print how two runs differ; return the exit code that tells it.

    Raises:
        LogdirError: A logdir is unusable, or both are the same run.
    """
    first = open_run(args.first, args.first_run)
    second = open_run(args.second, args.second_run)
    if first.files.identity == second.files.identity:
        raise LogdirError(
            "both are the same run; --first-run and --second-run choose among those of a logdir"
        )
    reports = diagnose(first), diagnose(second)
    comparison = compare(first, second)
    if args.json:
        put(json.dumps(_to_json(comparison, reports), indent=2))
    else:
        with as_wide_as_the_terminal():
            put("\n".join(_lines(comparison, reports)))
    if comparison.differs:
        return exit_codes.BAD
    return exit_codes.CLEAN if _is_whole(comparison, reports) else exit_codes.INCOMPLETE


def _is_whole(comparison: Comparison, reports: Reports) -> bool:
    return comparison.is_whole and not any(report.gaps for report in reports)


def _to_json(comparison: Comparison, reports: Reports) -> dict[str, Any]:
    """Return what `_lines` tells, for programs; tensors have the columns of ``query --json``."""
    first, second = (
        {"logdir": report.logdir, "run_id": report.run_id, "verdict": report.verdict}
        for report in reports
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "first": first,
        "second": second,
        "paired": comparison.paired,
        "only_in_first": comparison.alone[0],
        "only_in_second": comparison.alone[1],
        "uncompared": comparison.uncompared,
        "complete": _is_whole(comparison, reports),
        "bad_in_second": [difference.to_json() for difference in comparison.bad_in_second],
        "bad_in_first": [difference.to_json() for difference in comparison.bad_in_first],
        "bad_only_in_first": [row.values() for row in comparison.bad_alone[0]],
        "bad_only_in_second": [row.values() for row in comparison.bad_alone[1]],
    }


def _lines(comparison: Comparison, reports: Reports) -> Iterator[str]:
    for label, report in zip(_LABELS, reports, strict=True):
        yield paragraph(label, f"{report.logdir}: {verdict_text(report)}")
    yield ""
    if not comparison.differs:
        yield _verdict_on_equals(comparison, reports)
    for label, other, rows, report in zip(
        _LABELS, _LABELS[::-1], comparison.bad_alone, reports, strict=True
    ):
        if rows:
            count = counted(len(rows), "tensor")
            yield f"bad in the {label}, not in the {other} at all: {count}"
        for number, row in enumerate(rows[:_SHOWN], 1):
            yield from ("", *_heading(number, row, ""))
            yield paragraph(label, _values(row))
            yield from _causes(row, report)
        yield from _more(rows)
        if rows:
            yield ""
    pairs = (
        (comparison.bad_in_second, "second", reports[1]),
        (comparison.bad_in_first, "first", reports[0]),
    )
    for differences, where, report in pairs:
        if differences:
            count = counted(len(differences), "tensor")
            yield f"bad in the {where} only: {count}, in order of time"
        for number, difference in enumerate(differences[:_SHOWN], 1):
            yield from ("", *_difference(number, difference, where, report))
        yield from _more(differences)
    yield from _not_compared(comparison)


def _more(listed: Sequence[object]) -> Iterator[str]:
    if len(listed) > _SHOWN:
        yield from ("", paragraph("", f"… {len(listed) - _SHOWN:,} more: see --json"))


def _verdict_on_equals(comparison: Comparison, reports: Reports) -> str:
    if not comparison.paired:
        return "not compared: the two have no tensor in common"
    same = f"no difference: {_tensors(comparison.paired)} finite, or bad, in both alike"
    return same if _is_whole(comparison, reports) else f"{same}, but that is not everything"


def _difference(number: int, difference: Difference, where: str, report: Report) -> Iterator[str]:
    bad, good = difference.bad, difference.good
    yield from _heading(number, bad, f", computation {difference.number:,}")
    rows = (good, bad) if where == "second" else (bad, good)
    for label, row in zip(_LABELS, rows, strict=True):
        yield paragraph(label, _values(row))
    yield from _causes(bad, report)


def _heading(number: int, row: TensorRow, computation: str) -> Iterator[str]:
    """Tell which tensor it is, and where it is computed."""
    function = f" in {row.function}" if row.function else ""
    step = "" if row.step is None else f", step {row.step}"
    what = f"{row.name} ({row.op_type or 'unknown op'}){function}{step}"
    yield printable(f"{number}. {what}{computation}")
    if row.location:
        yield paragraph("where", f"{row.location.file}:{row.location.line}")
        yield " " * _INDENT + printable(with_blanks(row.location.code or ""))


def _causes(row: TensorRow, report: Report) -> Iterator[str]:
    for root in report.roots:
        if root.event == row.event:
            yield paragraph("cause", f"{root.title} [{root.certainty}]. {root.fix}")


def _values(row: TensorRow) -> str:
    places = bad_elements_text(row.summary)
    where = f", at {places}" if places else ""
    event = "execution" if row.event.kind == "execution" else "graph execution"
    return f"{counts_text(row.summary)}{where} ({event} {row.event.index:,})"


def _not_compared(comparison: Comparison) -> Iterator[str]:
    """Tell what only one of the two has on record."""
    for label, count in zip(_LABELS, comparison.alone, strict=True):
        if count:
            yield from ("", paragraph("note", f"{_tensors(count)} only in the {label}"))
    if comparison.uncompared:
        text = f"{_tensors(comparison.uncompared)} bad in a computation that the other run "
        yield from ("", paragraph("note", text + "has not on record"))


def _tensors(count: int) -> str:
    return "1 tensor is" if count == 1 else f"{count:,} tensors are"
