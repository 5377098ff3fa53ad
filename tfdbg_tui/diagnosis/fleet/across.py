"""What is found out about a root only by looking at all members of its job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfdbg_tui.diagnosis.report.words import paragraph
from tfdbg_tui.logdir.text import printable, with_blanks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.diagnosis.fleet.origins import Origin
    from tfdbg_tui.diagnosis.fleet.summary import LocalRoot, WorkerSummary

_ADDS = ("all-reduce", "reduce-scatter")


def explained(
    root: LocalRoot, origin: Origin, members: Sequence[WorkerSummary]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the finding of a root and its card, as they are with all members in view.

    Args:
        root: The root, as its process has it.
        origin: Where it came from.
        members: All members of the job.
    """
    if origin.unseen is None:
        return root.finding, root.card
    crossing, nobody = origin.unseen
    if nobody and crossing.family in _ADDS:
        said = {
            "rule": "overflow-across-workers",
            "certainty": "proved",
            "title": f"Overflow in the {crossing.family}",
            "evidence": f"{len(members)} members put in finite values → NaN or ∞ out",
            "why": "Each member's value is finite, and their sum is too large for the type.",
            "fix": "Scale the values down before they are added up, or add them up as a mean or in "
            "a wider type.",
        }
    elif nobody:
        return root.finding, root.card
    else:
        said = {
            "rule": "from-unseen-worker",
            "certainty": "likely",
            "title": "NaN or ∞ came from a worker that is not on record",
            "evidence": f"what this worker put into the {crossing.family} was finite, as far as it "
            "is on record; it came out with NaN or ∞, and no other member on record put that in",
            "why": "A collective brings in what any member of its group puts in.",
            "fix": "Give the logdirs of all workers, or record those that have none.",
        }
    finding = {**root.finding, **said}
    return finding, tuple(_card(finding))


def _card(finding: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the card of a finding whose words are not those of a single run."""
    location = finding["location"]
    yield f"{finding['title']}  [{finding['certainty']}]"
    if location is not None:
        yield paragraph("where", f"{location['file']}:{location['line']} in {location['function']}")
        yield " " * 17 + printable(with_blanks(location["code"]))
    yield paragraph("op", f"{finding['op_name'] or finding['op_type']} ({finding['op_type']})")
    for label in ("evidence", "why", "fix"):
        yield paragraph(label, finding[label])
