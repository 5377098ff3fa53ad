"""What the Cause pane says, part by part: what happened, how that is known, why, and the fix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tfdbg_tui.diagnosis.values import counts_text
from tfdbg_tui.tui.way import is_bad

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.locations import Location
    from tfdbg_tui.diagnosis.report.findings import Finding
    from tfdbg_tui.tui.way import GroupKind, Way

_HARM: dict[str, str] = {
    "suspect": "No NaN and no ∞ has come of it so far.",
    "benign": "None: no NaN or ∞ got anywhere that matters.",
}

_LABEL = 10

PartKind = Literal["title", "source", "text", "removed", "added"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the card.

    Attributes:
        label: Its heading; "" to go on with the part before.
        text: What it says.
        kind: How it looks.
    """

    label: str
    text: str
    kind: PartKind = "text"


def parts(way: Way) -> tuple[Part, ...]:
    """Return what there is to say of a tensor's way."""
    return _cause(way.finding, way.kind) if way.finding else _healthy(way)


def expression(way: Way) -> str:
    """Return the user's expression that should change; "" where it is not known."""
    return _rewritten(way.finding)[0] if way.finding else ""


def fix(finding: Finding) -> str:
    """Return what copying the fix copies: the new expression, where there is one, else words."""
    _, new = _rewritten(finding)
    return new or finding.fix


def as_text(way: Way) -> str:
    """Return the whole card, and the way, as lines to paste into a message."""
    lines: list[str] = []
    for part in parts(way):
        if part.kind == "title":
            certainty = f" [{way.finding.certainty}]" if way.finding else ""
            lines.append(part.text + certainty)
            continue
        mark = {"removed": "- ", "added": "+ "}.get(part.kind, "")
        lines.append(f"  {part.label:{_LABEL}}{mark}{part.text}")
        if part.kind == "source" and way.finding and way.finding.location:
            lines.append(f"  {'':{_LABEL}}    {way.finding.location.code}")
    for number, link in enumerate(way.links):
        graph = f" in {link.graph}" if link.graph else ""
        guess = " (inferred)" if link.inferred else ""
        label = "chain" if not number else ""
        lines.append(f"  {label:{_LABEL}}{link.name}{graph}{guess}: {counts_text(link.summary)}")
    return "\n".join(lines)


def _healthy(way: Way) -> tuple[Part, ...]:
    name = way.links[-1].name
    if is_bad(way.links[-1]):
        return (
            Part("", "Not diagnosed yet", "title"),
            Part(
                "why", f"{name} was recorded after the last diagnosis. The next one is under way."
            ),
        )
    said = f"{name} is finite, and so are its inputs, as far as they are recorded."
    summary = way.links[-1].summary
    if summary is None or summary.has_inf_or_nan is None:
        said = f"Whether {name} held a NaN or ∞ was not recorded, and none in its inputs."
    return Part("", "Nothing bad leads here", "title"), Part("why", said)


def _cause(finding: Finding, kind: GroupKind | None) -> tuple[Part, ...]:
    old, new = _rewritten(finding)
    found = [Part("", finding.title, "title"), Part("harm", _HARM.get(kind or "root", ""))]
    if finding.location is not None:
        found.append(Part("where", _place(finding.location), "source"))
    if finding.differentiated_at is not None:
        found.append(Part("", f"differentiated at {_place(finding.differentiated_at)}"))
    found += [
        Part("op", _op(finding)),
        Part("evidence", finding.evidence),
        Part("why", finding.why),
        Part("fix", finding.fix),
    ]
    if old and new:
        found += [Part("here", old, "removed"), Part("", new, "added")]
    if finding.alerts:
        suspect = kind == "suspect"
        said = "tensors show it" if suspect else "go back to this"
        found.append(Part("seen" if suspect else "alerts", f"{finding.alerts:,} {said}"))
    return tuple(part for part in found if part.text)


def _rewritten(finding: Finding) -> tuple[str, str]:
    """Return the user's expression as it is, and as it should be; "" where it is not known."""
    old, _, new = (finding.suggestion or "").partition(" → ")
    return old, new


def _place(location: Location) -> str:
    return f"{location.file}:{location.line} in {location.function}"


def _op(finding: Finding) -> str:
    name = f"{finding.op_name or finding.op_type}:{finding.event.slot}"
    op_type = f" ({finding.op_type})" if finding.op_name else ""
    graph = f" in {finding.graph}" if finding.graph else ""
    step = "" if finding.step is None else f", step {finding.step:,}"
    return f"{name}{op_type}{graph}{step}"
