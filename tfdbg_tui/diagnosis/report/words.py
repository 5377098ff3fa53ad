"""The report as plain text, readable in a log."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.values import counts_text
from tfdbg_tui.logdir.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.report.chains import Link
    from tfdbg_tui.diagnosis.report.findings import Finding, Report

_WIDTH = 96
_LABEL = 11
_CHAIN_HEAD = 6
_CHAIN_TAIL = 3


def to_text(report: Report) -> str:
    """Return a report as text; strings of the logdir are made safe to print."""
    parts = [_verdict(report)]
    for number, finding in enumerate(report.roots, 1):
        parts.append(_finding(finding, f"{number}. "))
    if report.suspects:
        parts.append("Suspects (no NaN or ∞ so far):")
        parts += [_finding(finding, "- ") for finding in report.suspects]
    if report.benign:
        parts.append("Harmless (not counted as trouble):")
        parts += [_short(finding) for finding in report.benign]
    parts += [_note("missing", str(gap)) for gap in report.gaps]
    parts += [_note("note", problem) for problem in report.problems]
    if report.looked_for and not report.roots:
        parts.append(_paragraph("looked for", report.looked_for))
    return "\n\n".join(parts)


def _note(label: str, text: str) -> str:
    """Return a note, with the command to run, if there is one, in a line to be copied."""
    sentences, _, command = text.partition("\n")
    note = _paragraph(label, sentences)
    return f"{note}\n\n      {printable(command)}" if command else note


def _verdict(report: Report) -> str:
    alerts = _alerts(report.alerts)
    if report.roots:
        count = len(report.roots)
        return f"bad: {alerts}, {count} root{'s' * (count != 1)}"
    harmless = ", harmless" if report.alerts else ""
    if report.verdict == "incomplete":
        return f"incomplete: {alerts}{harmless}, but not everything is on record"
    if report.suspects:
        return f"suspect: {alerts} that matter{'s' * (report.alerts == 1)}, but silent trouble"
    return f"clean: {alerts}{harmless}" + (", as far as this dump tells" if report.problems else "")


def _alerts(count: int) -> str:
    return f"{count:,} alert{'s' * (count != 1)}"


def _finding(finding: Finding, bullet: str) -> str:
    lines = [f"{bullet}{finding.title}  [{finding.certainty}]"]
    if finding.location is not None:
        place = finding.location
        lines.append(_paragraph("where", f"{place.file}:{place.line} in {place.function}"))
        if place.code:
            lines.append(" " * (_LABEL + 2) + "    " + printable(place.code)[:_WIDTH])
    if finding.differentiated_at is not None:
        place = finding.differentiated_at
        where = f"differentiated at {place.file}:{place.line} in {place.function}"
        lines.append(_paragraph("", where))
    lines.append(_paragraph("op", _op(finding)))
    lines.append(_paragraph("evidence", finding.evidence))
    lines.append(_paragraph("why", finding.why))
    lines.append(_paragraph("fix", finding.fix))
    if finding.suggestion:
        lines.append(_paragraph("here", finding.suggestion))
    lines += _chain(finding.chain)
    if finding.alerts:
        lines.append(_paragraph("alerts", f"{finding.alerts:,} go back to this"))
    return "\n".join(lines)


def _op(finding: Finding) -> str:
    name = finding.op_name or finding.op_type
    parts = [f"{name}:{finding.event.slot}"]
    if finding.op_name:
        parts.append(f"({finding.op_type})")
    if finding.graph:
        parts.append(f"in {finding.graph},")
    parts.append(f"{finding.event.kind.replace('_', ' ')} {finding.event.index:,}")
    if finding.step is not None:
        parts.append(f"in step {finding.step:,}")
    if finding.device:
        parts.append(f"on {finding.device.rpartition('/device:')[2] or finding.device}")
    return " ".join(parts)


def _short(finding: Finding) -> str:
    place = finding.location
    where = f"  {place.file}:{place.line}" if place else ""
    text = f"{finding.title}: {finding.evidence}; {_alerts(finding.alerts)}.{where}"
    return _paragraph("-", text)


def _chain(chain: Sequence[Link]) -> list[str]:
    if len(chain) < 2:
        return []
    shown: list[Link | None] = list(chain)
    if len(chain) > _CHAIN_HEAD + _CHAIN_TAIL + 1:
        shown = [*chain[:_CHAIN_HEAD], None, *chain[-_CHAIN_TAIL:]]
    lines: list[str] = []
    for link in shown:
        label = "chain" if not lines else ""
        if link is None:
            skipped = len(chain) - _CHAIN_HEAD - _CHAIN_TAIL
            text = f"… {skipped:,} more"
        else:
            graph = f" in {link.graph}" if link.graph else ""
            guess = " (inferred)" if link.inferred else ""
            text = f"{link.name}{graph}{guess}: {counts_text(link.summary)}"
        lines.append(f"  {label:{_LABEL}}{printable(text)}")
    return lines


def _paragraph(label: str, text: str) -> str:
    first = f"  {label:{_LABEL}}"
    return textwrap.fill(
        printable(text),
        _WIDTH,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
