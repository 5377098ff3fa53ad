"""Places with alerts, and groups of them that go back to one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.additions import Addition
    from tfdbg_tui.diagnosis.roots.alert_sites import AlertSite


@dataclass(eq=False, slots=True)
class AlertNode:
    """A place with alerts, and which other one made it bad.

    Attributes:
        site: The place.
        time: When its first alert happened: a time, and a finer one within a call.
        parent: The place whose bad tensor came in; None for a root.
        inferred: Whether the link to the parent is a conclusion.
        open: Whether an input is unknown, so that the bad values may have come from there.
        is_parent: Whether it is, or has been, the parent of another.
    """

    site: AlertSite
    time: tuple[float, float]
    parent: AlertNode | None = None
    inferred: bool = False
    open: bool = False
    is_parent: bool = False


@dataclass(eq=False, slots=True)
class Root:
    """What made a group of alerts.

    Attributes:
        node: The place that made the first of them.
        members: Places of all of them, in order of time.
        contained: Whether no bad value got anywhere that matters.
        first_tensors: The first tensor, and those of other places with the same bug.
        addition: What its op has made bad of its own, where it was given bad elements as well.
        unsure: Whether its inputs, finite as they are, may be consequences of an earlier root; or
            nothing uses it, unlike another root.
        guessed: Groups that were counted with it for want of a better root: what made them bad is
            not on record.
    """

    node: AlertNode
    members: list[AlertNode] = field(default_factory=list)
    contained: bool = False
    first_tensors: list[TensorEvent] = field(default_factory=list)
    addition: Addition | None = None
    unsure: bool = False
    guessed: list[Root] = field(default_factory=list)

    @property
    def event(self) -> TensorEvent:
        """The first bad tensor."""
        return self.node.site.first

    @property
    def alerts(self) -> int:
        """Number of alerts that come from it."""
        return sum(node.site.alerts for node in self.members)


def top_of(node: AlertNode) -> AlertNode:
    """Return the place that made another one bad."""
    while node.parent is not None:
        node = node.parent
    return node


def tops_of(nodes: Iterable[AlertNode]) -> dict[AlertNode, AlertNode]:
    """Return `top_of` of each of many places; each link is followed once."""
    tops: dict[AlertNode, AlertNode] = {}
    for node in nodes:
        path = []
        while node not in tops and node.parent is not None:
            path.append(node)
            node = node.parent
        top = tops.setdefault(node, node)
        tops.update(dict.fromkeys(path, top))
    return tops


def made_bad_by(source: AlertNode, nodes: Sequence[AlertNode]) -> dict[AlertNode, None]:
    """Return those of many places that are one, or bad because of it; a link is followed once."""
    known = {source: True}
    for node in nodes:
        path, above = [], node
        while above not in known and above.parent is not None:
            path.append(above)
            above = above.parent
        known.update(dict.fromkeys(path, known.get(above, False)))
    return {node: None for node in nodes if known.get(node)}


def joined(one: Root, another: Root) -> Root:
    """Make one root of two with the same bug; return it."""
    first, other = sorted((one, another), key=lambda root: root.node.time)
    first.first_tensors += other.first_tensors
    first.contained = False
    count_with(other, first)
    return first


def count_with(group: Root, root: Root) -> None:
    """Make a group part of a root."""
    group.node.parent, group.node.inferred = root.node, True
    root.members += group.members
