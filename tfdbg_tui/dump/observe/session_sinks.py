"""The sinks that look at the tensors of one run of a session.

They are shared by all runs that compute the same tensors.  Only what comes in or after a v1 loop
has sinks for one set of fetches: they wait for each other, so that records come in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.observe import instrument, observed, run_order
from tfdbg_tui.dump.observe.groups import Dump, Group
from tfdbg_tui.dump.observe.places import RunFeeds, V1Graph
from tfdbg_tui.dump.observe.references import When
from tfdbg_tui.dump.observe.v1_loops import V1Loop
from tfdbg_tui.dump.tensorflow import devices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tfdbg_tui.dump.encode.group_plan import Row
    from tfdbg_tui.dump.observe.graphs import GraphDefinitions, RecordedOp
    from tfdbg_tui.dump.observe.observed import Observed
    from tfdbg_tui.dump.observe.v1_control_flow import ControlFlow, Loops, Position
    from tfdbg_tui.dump.observe.v1_loops import InV1Loop
    from tfdbg_tui.dump.options import Options

    Places = dict[Position, list[Observed]]


@dataclass(frozen=True, slots=True)
class SharedSink:
    """A sink, its group, the tensors that it records, and all those that it looks at."""

    sink: Any
    group: Group
    records: frozenset[str]
    looks_at: frozenset[str]


SharedSinks = dict[tuple[When, bool], list[SharedSink]]
"""By when they run, and by whether tensors may have other shapes than known."""


class SinkMaker:
    """Adds sinks to a graph.

    Args:
        dump: Takes the values.
        options: The user's.
        graphs: Knows the graph.
        graph: The session's.
        ops: Its ops by their names.
        feeds: What a run is fed with.
        doubtful: Whether tensors may have other shapes than known.
    """

    def __init__(
        self,
        dump: Dump,
        options: Options,
        graphs: GraphDefinitions,
        graph: Any,
        ops: Mapping[str, RecordedOp],
        feeds: RunFeeds,
        *,
        doubtful: bool,
    ) -> None:
        self._dump = dump
        self._options = options
        self._graphs = graphs
        self.graph = graph
        self._ops = ops
        self.feeds = feeds
        self.doubtful = doubtful

    def add(
        self,
        place: V1Graph | InV1Loop,
        items: Sequence[Observed],
        names: set[str],
        after: Sequence[Any],
        *,
        overwritten: bool,
    ) -> SharedSink:
        """Return a new sink.

        Args:
            place: Takes the ops.
            items: What it records.
            names: The tensors that may be looked at.
            after: Ops that it waits for.
            overwritten: Whether the run that follows overwrites the tensors.
        """
        graph_id = self._graphs.graph_id(self.graph)
        options, devices_here = self._options, devices.Names()

        def input_row(tensor: Any) -> Row | None:
            maker = observed.maker_of(tensor, self._ops)
            if tensor.name not in names or maker is None or not observed.fits_numpy(tensor):
                return None
            return observed.row_of(
                *(tensor, graph_id, maker, options),
                shapes_doubtful=self.doubtful,
                names=devices_here,
            )

        iteration = place.iteration
        plan = observed.plan_of(
            items,
            options,
            options.mode,
            iterated=iteration is not None,
            measured=options.measures,
            overwritten=overwritten,
        )
        group = Group(plan, self._dump)
        self._graphs.keep(self.graph, group)
        sink = instrument.add_group(place, items, group, iteration, input_row, after, place.serial)
        records = frozenset(row.tensor_name for row in plan.rows)
        others = frozenset(row.tensor_name for row in plan.extra_rows)
        return SharedSink(place.called(sink), group, records, records | others)


class RunSinks:
    """Finds the sinks for the tensors of one run among those of its graph, or adds them.

    Args:
        maker: Adds them.
        shared: Those that are there.
        flow: Where the ops of the run are.
        copies: What runs in place of ops of the program, by the names of these.

    Attributes:
        groups: Those of the sinks found that run once, with the names of what they record.
    """

    def __init__(
        self,
        maker: SinkMaker,
        shared: SharedSinks,
        flow: ControlFlow,
        copies: Mapping[str, Any],
    ) -> None:
        self._maker = maker
        self._shared = shared
        self._flow = flow
        self._copies = copies
        self.groups: dict[Group, frozenset[str]] = {}
        self._made: list[tuple[Position, list[Any]]] = []
        self._loops: dict[str, V1Loop] = {}

    def before(self, items: Sequence[Observed], names: set[str]) -> list[Any]:
        """Return the sinks to run before the program's run.

        Args:
            items: What is recorded of the run.
            names: The tensors that may be looked at then.
        """
        return self._of(items, names, When.BEFORE, self._outside)

    def along(self, items: Sequence[Observed], names: set[str]) -> list[Any]:
        """Return the sinks to run in the program's run.

        Args:
            items: What is recorded of the run.
            names: The tensors that may be looked at then.
        """
        places = _by_position(items, self._flow)
        found: list[Any] = []
        for position, loop in self._steps(places, ()):
            if loop is None:
                sinks = self._of(
                    places[position], names, When.RUNNING, self._outside, self._passed(position)
                )
                self._made.append((position, sinks))
                found += sinks
            else:
                before = self._before(position)
                found += self._in_loop((loop,), places, names, self._maker.feeds.serial, before)
        return found

    def _steps(self, places: Places, loops: Loops) -> list[tuple[Position, str | None]]:
        """Return where to look at tensors just inside of some loops, in the order of their making.

        Returns:
            Positions of tensors, and those of further loops, with their names.
        """
        depth = len(loops)
        inside = [position for position in places if position.loops[:depth] == loops]
        further = sorted({p.loops[depth] for p in inside if p.loops[depth:]})
        steps = [
            *((position, None) for position in inside if position.loops == loops),
            *((self._flow.entry(name), name) for name in further),
        ]
        return sorted(steps, key=lambda s: (len(s[0].passed), len(s[0].branches), s[1] is not None))

    def _passed(self, position: Position) -> list[Any]:
        """Return what runs when the loops have ended that a position outside of loops is after."""
        loops = [self._loops[name] for name in position.passed if name in self._loops]
        # Where a branch with a loop is not taken, nothing that waits for the loop would run.
        return [
            loop.done
            for loop in loops
            if loop.inside == position.loops and loop.around <= position.branches
        ]

    def _before(self, position: Position) -> list[Any]:
        """Return the sinks outside of loops that run before a loop does."""
        return [
            sink
            for made, sinks in self._made
            if made.passed <= position.passed and made.branches <= position.branches
            for sink in sinks
        ]

    def _outside(self) -> V1Graph:
        return V1Graph(self._maker.graph, self._maker.feeds, self._copies)

    def _in_loop(
        self,
        loops: Loops,
        places: Places,
        names: set[str],
        serial: Any,
        before: Sequence[Any],
    ) -> list[Any]:
        """Return the sinks of a loop and of those inside of it, which wait for one another."""
        loop = V1Loop(self._maker.graph, self._flow, loops, serial, before)
        self._loops[loops[-1]] = loop
        found: list[Any] = []
        ran: list[Any] = []  # in each iteration
        for position, name in self._steps(places, loops):
            in_body = position.branches >= loop.body
            if name is not None:
                after = ran if in_body else []
                found += self._in_loop((*loops, name), places, names, loop.serial, after)
                sinks = [self._loops[name].done]
                branches = self._loops[name].around
            else:
                place = partial(loop.place, position.branches, list(ran) if in_body else [])
                items, branches = places[position], position.branches
                sinks = self._of(items, names, When.RUNNING, place, shared=False)
                found += sinks
            if in_body and sinks:
                ran += loop.joined(sinks, branches)
        loop.close(ran)
        return found

    def _of(
        self,
        items: Sequence[Observed],
        names: set[str],
        when: When,
        place: Callable[[], V1Graph | InV1Loop],
        after: Sequence[Any] = (),
        *,
        shared: bool = True,
    ) -> list[Any]:
        """Return the sinks of some tensors that are in one place."""
        items = [item for item in items if item.tensor.name in names]
        overwritten = when is When.BEFORE
        shared = shared and not after and (overwritten or not self._copies)
        key = when, self._maker.doubtful
        known = self._shared.setdefault(key, []) if shared else []
        missing = {item.tensor.name: item for item in items}
        found: list[SharedSink] = []
        for sink in sorted(known, key=lambda sink: -len(sink.records)):
            if sink.looks_at <= names and sink.records <= missing.keys():
                found.append(sink)
                for name in sink.records:
                    del missing[name]
        # What another run computes too is likely to be computed by the next: a sink of its own.
        elsewhere = frozenset().union(*(sink.records for sink in known))
        for is_elsewhere in (True, False):
            new = [item for name, item in missing.items() if (name in elsewhere) is is_elsewhere]
            others = {item.tensor.name for item in items}.difference(i.tensor.name for i in new)
            for part in run_order.parts_of(new, others, self._flow.ops):
                for group in observed.groups_of(part):
                    made = self._maker.add(place(), group, names, after, overwritten=overwritten)
                    known.append(made)
                    found.append(made)
        self.groups.update((s.group, s.records) for s in found if not s.group.plan.iterated)
        return [sink.sink for sink in found]


def _by_position(items: Iterable[Observed], flow: ControlFlow) -> Places:
    """Group tensors by where they are."""
    found: Places = {}
    for item in items:
        found.setdefault(flow.position(item.tensor.op), []).append(item)
    return found
