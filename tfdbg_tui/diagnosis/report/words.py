"""Reports and chains as plain text: for a log, or to be pasted into a message."""

from __future__ import annotations

import contextlib
import textwrap
from contextvars import ContextVar
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.function_names import readable_function
from tfdbg_tui.diagnosis.report.cards import finding_parts, parts, place_text
from tfdbg_tui.diagnosis.report.when import in_words
from tfdbg_tui.diagnosis.values import counts_text
from tfdbg_tui.logdir.text import counted, printable, with_blanks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.diagnosis.locations import Location
    from tfdbg_tui.diagnosis.report.cards import Part
    from tfdbg_tui.diagnosis.report.chain_links import Link
    from tfdbg_tui.diagnosis.report.chains import Chain, GroupKind
    from tfdbg_tui.diagnosis.report.findings import Finding, Report
    from tfdbg_tui.diagnosis.report.headroom import Headroom
    from tfdbg_tui.diagnosis.report.verdicts import Verdict

_WIDEST, _NARROWEST = 96, 40  # columns of a report
_width = ContextVar("width", default=_WIDEST)
_LABEL = 11
_CHAIN_HEAD = 6
_CHAIN_TAIL = 3
HARMLESS_TITLE = "Harmless (not counted as a defect):"
_MARKS = {"removed": "- ", "added": "+ "}


def to_text(report: Report) -> str:
    """Return a report as text; strings of the logdir are made safe to print."""
    parts = [verdict_text(report)]
    for number, finding in enumerate(report.roots, 1):
        parts.append(_finding(finding, "root", f"{number}. "))
    if report.suspects:
        parts.append(suspects_title(bad=bool(report.roots)))
        parts += [_finding(finding, "suspect", "- ") for finding in report.suspects]
    if report.benign:
        parts.append(HARMLESS_TITLE)
        parts += _harmless(report.benign)
    parts += [_note("missing", str(gap)) for gap in report.gaps]
    parts += [_note("note", problem) for problem in report.problems]
    if report.looked_for and not report.roots:
        parts.append(paragraph("looked for", report.looked_for))
    if report.headroom:
        parts.append(paragraph("closest", _closest(report.headroom)))
    return "\n\n".join(parts)


def suspects_title(*, bad: bool) -> str:
    """Return what stands above suspects; of a run that is bad they are what it suffers besides."""
    return "Suspects:" if bad else "Suspects (no NaN or ∞ so far):"


def chain_to_text(chain: Chain) -> str:
    """Return all that is known of a tensor: its card, and every tensor of its chain."""
    card = _card(parts(chain), chain.finding)
    return "\n".join([*card, *_links(chain.links, len(chain.links))])


def _note(label: str, text: str) -> str:
    """Return a note, with the command to run, if there is one, in a line to be copied."""
    sentences, _, command = text.partition("\n")
    note = paragraph(label, sentences)
    return f"{note}\n\n      {printable(command)}" if command else note


def verdict_text(report: Report) -> str:
    """Return the verdict in a line."""
    roots, suspects = len(report.roots), len(report.suspects)
    line = verdict_line(report.verdict, report.alerts, roots, suspects, report.problems)
    if report.roots and report.first_bad:
        return f"{line}; first bad {in_words(report.first_bad)}"
    return line


def verdict_line(
    verdict: Verdict,
    alerts: int,
    roots: int,
    suspects: int,
    problems: Sequence[str],
    where: str = "",
) -> str:
    """Return a verdict in words.

    Args:
        verdict: The verdict.
        alerts: Number of alerts.
        roots: Number of roots.
        suspects: Number of suspects.
        problems: What is wrong with the files, or not known of them.
        where: Of what the alerts are, as " on 3 processes".
    """
    found = f"{counted(alerts, 'alert')}{where}"
    if alerts and not roots:
        found += ", harmless as far as seen" if verdict == "incomplete" else ", harmless"
    rest = {
        "bad": f", {counted(roots, 'root')}",
        "incomplete": f"{', silent defects' * bool(suspects)}, but not everything is on record",
        "suspect": ", but silent defects",
        "clean": ", as far as the dump tells" if problems else "",
    }
    return f"{verdict}: {found}{rest[verdict]}"


def _closest(headroom: Headroom) -> str:
    where = f" at {place_text(headroom.location)}" if headroom.location else ""
    told = f"{headroom.number}, {headroom.name}{where}"
    return f"to the limit of its type: {told}. Not looked at: {headroom.left_out}."


def card_of(finding: Finding, kind: GroupKind) -> list[str]:
    """Return all that is known of a finding, line by line, the title first."""
    return _finding(finding, kind, "").split("\n")


def _finding(finding: Finding, kind: GroupKind, bullet: str) -> str:
    shown: list[Link | None] = list(finding.chain)
    if len(shown) > _CHAIN_HEAD + _CHAIN_TAIL + 1:
        shown = [*shown[:_CHAIN_HEAD], None, *shown[-_CHAIN_TAIL:]]
    links = _links(shown, len(finding.chain)) if len(shown) > 1 else []
    return "\n".join([*_card(finding_parts(finding, kind), finding, bullet), *links])


def _card(parts: Sequence[Part], finding: Finding | None, bullet: str = "") -> Iterator[str]:
    """Yield the lines of a card."""
    for part in parts:
        text = _MARKS.get(part.kind, "") + part.text
        if part.kind == "title":
            yield f"{bullet}{text}" + (f"  [{finding.certainty}]" if finding else "")
            continue
        if part.label == "op" and finding is not None:
            text += _recorded(finding)
        yield paragraph(part.label, text)
        if part.kind == "source" and finding and finding.location and finding.location.code:
            yield from (" " * (_LABEL + 6) + text for text in _code(finding.location))


def _code(location: Location) -> Iterator[str]:
    """Yield a line of code, and marks below what ran of it, where it does more than that."""
    code, columns = printable(with_blanks(location.code)), location.columns
    if columns is None:
        yield _cut(code)
        return
    before, text = location.code[: columns[0]], location.code[slice(*columns)]
    start, width = (len(printable(with_blanks(part))) for part in (before, text))
    left_out = max(0, start + width - _WIDEST + 2)
    if left_out and left_out >= start:  # There is no room for all of it.
        yield _cut(code)
        return
    yield _cut("…" * bool(left_out) + code[left_out:])
    yield " " * (start - left_out + bool(left_out)) + "^" * width


def _cut(code: str) -> str:
    return code if len(code) <= _WIDEST else code[: _WIDEST - 1] + "…"


def _recorded(finding: Finding) -> str:
    """Return where the dump has the tensor of a finding, and on which device it was computed."""
    device = finding.device or ""
    event = f"{finding.event.kind.replace('_', ' ')} {finding.event.index:,}"
    return f"; {event}" + (f" on {device.rpartition('/device:')[2]}" if device else "")


def _harmless(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a paragraph for each cause, and one for those that only their ops tell apart."""
    alike: dict[tuple[str, str, Location | None], list[Finding]] = {}
    for finding in findings:
        alike.setdefault((finding.title, finding.evidence, finding.location), []).append(finding)
    for (title, evidence, place), found in alike.items():
        where = f"  {place.file}:{place.line}" if place else ""
        ops = f" of {len(found):,} ops" if len(found) > 1 else ""
        alerts = counted(sum(finding.alerts for finding in found), "alert")
        yield paragraph("-", f"{title}: {evidence}; {alerts}{ops}.{where}")


def _links(links: Sequence[Link | None], number: int) -> Iterator[str]:
    """Yield a line for each of some links; None stands for those of `number` that are left out."""
    for position, link in enumerate(links):
        label = "" if position else "chain"
        if link is None:
            text = f"… {number - len(links) + 1:,} more"
        else:
            graph = f" in {readable_function(link.graph)}" if link.graph else ""
            guess = " (inferred)" if link.inferred else ""
            said = "raised an error" if link.failed else counts_text(link.summary)
            text = f"{link.name}{graph}{guess}: {said}"
        yield f"  {label:{_LABEL}}{printable(text)}"


@contextlib.contextmanager
def narrowed(columns: int) -> Iterator[None]:
    """Make reports no wider than that, for a terminal; each thread has a width of its own."""
    before = _width.set(max(_NARROWEST, min(columns, _WIDEST)))
    try:
        yield
    finally:
        _width.reset(before)


def paragraph(label: str, text: str) -> str:
    """Return a labelled paragraph of a report, its strings made safe to print."""
    first = f"  {label:{_LABEL}}"
    return textwrap.fill(
        printable(text),
        _width.get(),
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
