"""All rules as text: what the command line prints of them, and the page of the documentation."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.rules import RULES
from tfdbg_tui.diagnosis.rules.model import Rule
from tfdbg_tui.diagnosis.rules.silent.defects import DEFECTS

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.rules.model import Defect

ALL: dict[str, Defect] = {rule.id: rule for rule in (*RULES, *DEFECTS)}
"""Every rule by its id, in the order in which they are asked."""

_PAGE = """\
# Rules

What `tfdbg-tui` can say of the op that made the first NaN or ∞, and of defects that have not led
there. The first rule that fits is the answer; `tfdbg-tui rules ID` prints one of them. This page is
written by `tfdbg-tui rules --markdown > tfdbg_tui/diagnosis/rules/README.md`.

| rule | what happened | example | asked before |
|---|---|---|---|
"""


def later_rules(rule: Defect) -> list[Rule]:
    """Return the more general rules, asked later, that fit a rule's example as well."""
    if not isinstance(rule, Rule) or rule.example.case is None:
        return []
    case = rule.example.case
    return [later for later in RULES[RULES.index(rule) + 1 :] if later.match(case)]


def as_line(rule: Defect) -> str:
    """Return a rule in one line."""
    return f"{rule.id:36} {rule.title}"


def as_text(rule: Defect) -> str:
    """Return all that there is to say of a rule."""
    lines = [("why", rule.why), ("fix", rule.fix), ("example", rule.example.text)]
    case = rule.example.case
    if isinstance(rule, Rule) and case and (match := rule.match(case)):
        lines.append(("evidence", f"{match.evidence} ({match.certainty})"))
    lines += [("before", f"{later.id}: {later.title}") for later in later_rules(rule)]
    told = [fill(f"  {label:9}{text}", 100, subsequent_indent=" " * 11) for label, text in lines]
    return "\n".join((f"{rule.id}: {rule.title}", *told))


def as_markdown() -> str:
    """Return the page of the documentation that lists all rules."""
    rows = [
        f"| `{rule.id}` | {rule.title} | `{rule.example.text}` | {_before(rule)} |"
        for rule in ALL.values()
    ]
    return _PAGE + "\n".join(rows) + "\n"


def _before(rule: Defect) -> str:
    """Return the next rule that is more general; the others follow from it."""
    return next((f"`{later.id}`" for later in later_rules(rule)), "")
