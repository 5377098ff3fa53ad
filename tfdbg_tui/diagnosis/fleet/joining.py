"""From the summaries of processes to one report for each job."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tfdbg_tui.diagnosis.fleet import members as about
from tfdbg_tui.diagnosis.fleet.across import explained
from tfdbg_tui.diagnosis.fleet.jobs import group_jobs
from tfdbg_tui.diagnosis.fleet.origins import Origin, find_origins
from tfdbg_tui.diagnosis.fleet.programs import differences
from tfdbg_tui.diagnosis.fleet.report import FleetReport, FleetRoot, JobReport, Unread
from tfdbg_tui.diagnosis.fleet.skew import clock_skew
from tfdbg_tui.diagnosis.report.verdicts import verdict_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from tfdbg_tui.diagnosis.fleet.meetings import RootPlace
    from tfdbg_tui.diagnosis.fleet.report import Via
    from tfdbg_tui.diagnosis.fleet.summary import LocalRoot, WorkerSummary


def join(summaries: Iterable[WorkerSummary], unread: Iterable[Unread] = ()) -> FleetReport:
    """Return the report on the jobs that some processes are of.

    Args:
        summaries: The processes, in any order.
        unread: What could not be summarised.
    """
    jobs = tuple(map(_job, group_jobs(summaries)))
    return FleetReport(jobs, tuple(sorted(unread, key=lambda one: one.path)))


def _job(members: Sequence[WorkerSummary]) -> JobReport:
    skew = clock_skew(members)
    origins = _in_order(members, skew, find_origins(members, skew))
    alike: dict[Hashable, list[Origin]] = {}
    for origin in origins:
        alike.setdefault(_identity(_root(members, origin)), []).append(origin)
    harmful = [group for group in alike.values() if _harms(members, group)]
    harmless = [group for group in alike.values() if not _harms(members, group)]
    suspects: dict[Hashable, list[tuple[int, LocalRoot]]] = {}
    for number, member in enumerate(members):
        for suspect in member.suspects:
            suspects.setdefault(_identity(suspect), []).append((number, suspect))
    able = frozenset(about.able(members))
    gaps = _gaps(members)
    notes = (*differences(members), *about.notes(members, skew))
    return JobReport(
        members=tuple(members),
        verdict=verdict_of(bad=bool(harmful), incomplete=bool(gaps), suspect=bool(suspects)),
        roots=tuple(_fleet_root(members, able, group) for group in harmful),
        harmless=tuple(_fleet_root(members, able, group) for group in harmless),
        suspects=tuple(_suspect(members, able, found) for found in suspects.values()),
        gaps=gaps,
        notes=notes,
        skew=skew,
    )


def _root(members: Sequence[WorkerSummary], origin: Origin) -> LocalRoot:
    worker, number = origin.place
    return members[worker].roots[number]


def _in_order(
    members: Sequence[WorkerSummary], skew: Sequence[float | None], origins: Iterable[Origin]
) -> list[Origin]:
    """Return origins in order of time: by steps, then collectives, then clocks.

    Those of processes that count steps of their own stand where their clocks put them.
    """

    def time(origin: Origin) -> float:
        return _root(members, origin).wall_time - (skew[origin.place[0]] or 0.0)

    def order(origin: Origin) -> tuple[int, int, float]:
        root = _root(members, origin)
        return root.step or 0, root.crossings, time(origin)

    beside = about.beside(members)
    ordered = sorted((one for one in origins if one.place[0] not in beside), key=order)
    for origin in sorted((one for one in origins if one.place[0] in beside), key=time):
        later = (n for n, other in enumerate(ordered) if time(other) > time(origin))
        ordered.insert(next(later, len(ordered)), origin)
    return ordered


def _identity(root: LocalRoot) -> Hashable:
    """Return what two processes have alike where the same line does the same wrong."""
    finding = root.finding
    location = finding["location"] or {"line": None, "code": ""}
    names = ("rule", "op_type", "op_name", "graph")
    return *(finding[name] for name in names), location["line"], location["code"]


def _harms(members: Sequence[WorkerSummary], group: Sequence[Origin]) -> bool:
    """Whether a bad value got anywhere that matters, on any process.

    Processes cannot tell by themselves that what came out of a collective had not gone in.
    """
    if any(origin.unseen is not None and origin.unseen[1] for origin in group):
        return True
    places = [place for place, _ in _consequences(group)]
    places += [origin.place for origin in group]
    return any(not members[worker].roots[number].harmless for worker, number in places)


def _consequences(group: Iterable[Origin]) -> list[tuple[RootPlace, Via]]:
    """Return what other processes got of some origins, and how."""
    spreads = dict.fromkeys(spread for origin in group for spread in origin.spreads)
    return [link for spread in spreads for link in spread.consequences]


def _fleet_root(
    members: Sequence[WorkerSummary], able: frozenset[int], group: Sequence[Origin]
) -> FleetRoot:
    first = group[0]
    root = _root(members, first)
    workers = tuple(sorted({origin.place[0] for origin in group}))
    links = _consequences(group)
    places = {origin.place for origin in group} | {place for place, _ in links}
    found = [members[worker].roots[number].finding["alerts"] for worker, number in places]
    spreads = dict.fromkeys(spread for origin in group for spread in origin.spreads)
    reached = [one for spread in spreads for one in spread.reached if one[0] not in workers]
    finding, card = explained(root, first, members)
    return FleetRoot(
        finding=finding,
        card=card,
        workers=workers,
        alike=_all_have_it(members, able, workers),
        alone=_only_one_has_it(able, workers),
        reached=tuple(sorted({worker for worker, _ in reached})),
        via=tuple(dict.fromkeys(via for _, via in reached)),
        alerts=sum(found),
        when=root.when,
        links=(
            *((*origin.place, None) for origin in group),
            *((*place, via) for place, via in links),
        ),
    )


def _suspect(
    members: Sequence[WorkerSummary],
    able: frozenset[int],
    found: Sequence[tuple[int, LocalRoot]],
) -> FleetRoot:
    root = found[0][1]
    workers = tuple(worker for worker, _ in found)
    alerts = sum(each.finding["alerts"] for _, each in found)
    return FleetRoot(
        root.finding,
        root.card,
        workers,
        alike=_all_have_it(members, able, workers),
        alone=_only_one_has_it(able, workers),
        reached=(),
        via=(),
        alerts=alerts,
        when=root.when,
    )


def _all_have_it(
    members: Sequence[WorkerSummary], able: frozenset[int], workers: Sequence[int]
) -> bool:
    return able <= set(workers) and (len(able) > 1 or members[workers[0]].task is None)


def _only_one_has_it(able: frozenset[int], workers: Sequence[int]) -> bool:
    return len(workers) == 1 < len(able) and able.issuperset(workers)


def _gaps(
    members: Sequence[WorkerSummary],
) -> tuple[tuple[tuple[int, ...], dict[str, Any]], ...]:
    """Return what is not on record, once for all processes that say the same of themselves."""
    found: dict[str, list[int]] = {}
    idle = about.served(members)
    for number, member in enumerate(members):
        for gap in member.gaps if number not in idle else ():
            found.setdefault(json.dumps(gap), []).append(number)
    own = [(tuple(workers), json.loads(gap)) for gap, workers in found.items()]
    return (*own, *(((), gap) for gap in about.missing(members)))
