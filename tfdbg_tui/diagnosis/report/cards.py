"""What there is to say of a finding, part by part: what happened, how that is known, why, the fix.

The one wording for the pane Cause, the command line and the clipboard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tfdbg_tui.diagnosis.function_names import readable_function
from tfdbg_tui.diagnosis.layers import breadcrumb
from tfdbg_tui.diagnosis.report.when import iteration_text
from tfdbg_tui.diagnosis.values import bad_elements_text
from tfdbg_tui.logdir.text import counted

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.locations import Location
    from tfdbg_tui.diagnosis.report.chains import Chain, GroupKind
    from tfdbg_tui.diagnosis.report.findings import Finding

_NO_HARM = "None: no NaN or ∞ got anywhere that matters."

_OTHERS = 4  # layers, or changes, beside the first that are told

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


def parts(chain: Chain) -> tuple[Part, ...]:
    """Return what there is to say of a tensor's chain."""
    return finding_parts(chain.finding, chain.kind) if chain.finding else _healthy(chain)


def finding_parts(finding: Finding, kind: GroupKind) -> tuple[Part, ...]:
    """Return what there is to say of a finding.

    Args:
        finding: The finding.
        kind: What became of it.
    """
    found = [Part("", finding.title, "title"), Part("harm", _NO_HARM * (kind == "benign"))]
    found.append(Part("workers", finding.workers))
    if finding.location is not None:
        found.append(Part("where", place_text(finding.location), "source"))
    if finding.differentiated_at is not None:
        found.append(Part("", f"differentiated at {place_text(finding.differentiated_at)}"))
    found += [
        Part("op", _op(finding)),
        Part("layer", breadcrumb(finding.layer)),
        Part("also in", _others(finding)),
        Part("variable", ", ".join(finding.variables)),
        Part("makes" if finding.in_gradient else "takes", _beside_layer(finding)),
        Part("evidence", finding.evidence),
        Part("elements", bad_elements_text(finding.summary)),
        Part("why", finding.why),
        Part("fix", finding.fix),
    ]
    if finding.suggestion is not None:
        for change in (finding.suggestion, *finding.other_suggestions[:_OTHERS]):
            old, new = _rewritten(change)
            label = "here" if change == finding.suggestion else ""
            found += [Part(label, old, "removed"), Part("", new, "added")]
    if finding.alerts:
        found.append(Part(*alerts_text(kind, finding.alerts)))
    return tuple(part for part in found if part.text)


def alerts_text(kind: GroupKind, alerts: int) -> tuple[str, str]:
    """Return how many tensors have a finding, with the heading."""
    if kind == "suspect":
        return "seen", f"in {counted(alerts, 'computed tensor')}"
    return "alerts", "1 goes back to this" if alerts == 1 else f"{alerts:,} go back to this"


def expression(chain: Chain) -> str:
    """Return the user's expression that should change; "" where it is not known."""
    return _rewritten(chain.finding.suggestion)[0] if chain.finding else ""


def fix(finding: Finding) -> str:
    """Return what copying the fix copies: the new expression, where there is one, else words."""
    _, new = _rewritten(finding.suggestion)
    return new or finding.fix


def _healthy(chain: Chain) -> tuple[Part, ...]:
    link = chain.links[-1]
    if link.is_bad:
        said = f"{link.name} was recorded after the last diagnosis. The next one is under way."
        return Part("", "Not diagnosed yet", "title"), Part("why", said)
    said = f"{link.name} is finite, and so are its inputs, as far as they are recorded."
    if link.summary is None or link.summary.has_inf_or_nan is None:
        said = f"Whether {link.name} held a NaN or ∞ was not recorded, and none in its inputs."
    return Part("", "Nothing bad leads here", "title"), Part("why", said)


def _rewritten(suggestion: str | None) -> tuple[str, str]:
    """Return the user's expression as it is, and as it should be; "" where it is not known."""
    old, _, new = (suggestion or "").partition(" → ")
    return old, new


def place_text(location: Location) -> str:
    """Return a line as ``file:line in function``."""
    return f"{location.file}:{location.line} in {location.function}"


def _beside_layer(finding: Finding) -> str:
    layer = breadcrumb(finding.input_layer)
    what = "the gradient for the result of" if finding.in_gradient else "the result of"
    return f"{what} {layer}" if layer else ""


def _others(finding: Finding) -> str:
    shown = [breadcrumb(layer) for layer in finding.other_layers[:_OTHERS]]
    more = len(finding.other_layers) - _OTHERS
    return ", ".join([*shown, *([f"{more:,} more"] if more > 0 else [])])


def _op(finding: Finding) -> str:
    name = f"{finding.op_name or readable_function(finding.op_type)}:{finding.event.slot}"
    op_type = f" ({finding.op_type})" if finding.op_name else ""
    graph = f" in {readable_function(finding.graph)}" if finding.graph else ""
    step = f"made ahead of {finding.when}" if finding.made_ahead and finding.when else finding.when
    when = filter(None, (step, iteration_text(finding.iteration)))
    return ", ".join([f"{name}{op_type}{graph}", *when])
