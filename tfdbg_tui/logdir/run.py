"""A run: everything a logdir holds of one program, as far as it has been read."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.logdir.events import RunState
from tfdbg_tui.logdir.fit_batches import fit_batch, step_of_batch
from tfdbg_tui.logdir.text import counted
from tfdbg_tui.storage import storage_of
from tfdbg_tui.wire import codec, omissions
from tfdbg_tui.wire.events import CodeLocation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tfdbg_tui.logdir.definitions.definitions import Definitions, Stacks
    from tfdbg_tui.logdir.definitions.graphs import Graph, GraphOp
    from tfdbg_tui.logdir.definitions.variables import GradientRequest, Variable
    from tfdbg_tui.logdir.discovery import RunFiles
    from tfdbg_tui.logdir.events import (
        ExecutionKind,
        Omission,
        Problem,
        Progress,
        Site,
        SourceFile,
        StackFrame,
    )
    from tfdbg_tui.logdir.files.problems import Problems
    from tfdbg_tui.logdir.files.record_file import RecordFile
    from tfdbg_tui.logdir.fit_batches import FitBatch
    from tfdbg_tui.logdir.index.executions import Executions
    from tfdbg_tui.logdir.index.traces import GraphExecutions
    from tfdbg_tui.logdir.layers import Layer

_LEFT_OUT = {
    omissions.PAUSED: "what ran outside of pauses",
    omissions.ONLY_BAD: "what ran before its files were full, or just before something bad",
}
"""What is on record where executions were left out between others, by the kind of omission."""


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """A snapshot of a run.

    Executions, graph executions and alerts are those that had been read when it was taken.
    Graphs, stacks and sources are shared with later snapshots, so that what arrives late resolves
    in earlier ones too.

    Attributes:
        files: Where it comes from.
        executions: Ops and functions executed eagerly.
        graph_executions: Tensors computed inside graphs.
        graphs: Graphs by id.
        progress: How much has been read.
        site_numbers: Number of each site of the graph executions; it grows with later snapshots.
        state: What has become of the files.
        omissions: What the dump writer says is not on record; TensorFlow's says nothing.
    """

    files: RunFiles
    executions: Executions
    graph_executions: GraphExecutions
    graphs: Mapping[str, Graph]
    progress: Progress
    site_numbers: Mapping[Site, int]
    _definitions: Sequence[Definitions]
    _source_files: Sequence[RecordFile]
    _stacks: Stacks
    _problems: Problems
    state: RunState = field(default_factory=RunState)
    omissions: tuple[Omission, ...] = ()

    def __repr__(self) -> str:
        return "\n  ".join(f"{name}{text}" for name, text in self._repr_lines())

    def _repr_html_(self) -> str:
        rows = (
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"
            for name, text in self._repr_lines()
        )
        return f"<table>{''.join(rows)}</table>"

    def _repr_lines(self) -> list[tuple[str, str]]:
        """Return what a repr says of the run, line by line."""
        version = self.files.tensorflow_version or "unknown"
        problems, ops = self.problems, counted(self.num_graph_ops, "op")
        lines = [
            ("Run ", f"{self.files.label[:80]!r} of TensorFlow {version[:80]!r}"),
            ("directory         ", f"{self.files.directory[-200:]!r}"),
            ("executions        ", f"{len(self.executions):,}"),
            ("graph executions  ", f"{len(self.graph_executions):,}"),
            (
                "graphs            ",
                f"{len(self.graphs):,} with {ops}",
            ),
            ("alerts            ", f"{self.num_alerts:,}"),
        ]
        return lines + [("problems          ", f"{len(problems):,}")] * bool(problems)

    @property
    def is_paused(self) -> bool:
        """Whether recording has been switched off, and not on again."""
        return bool(self.pause_reason)

    @property
    def pause_reason(self) -> str:
        """Why recording has been switched off; "" where it is on."""
        return self._reason_until(omissions.PAUSED, omissions.RESUMED)

    @property
    def only_bad_reason(self) -> str:
        """Why only what is bad is recorded by now; "" where all is."""
        return self._reason_until(omissions.ONLY_BAD, omissions.ALL_AGAIN)

    def _reason_until(self, begins: str, ends: str) -> str:
        """Return why the writer said last that something begins; "" where it has said the end."""
        reasons = [omission.reason for omission in self.omissions if omission.kind == begins]
        num_ends = sum(omission.kind == ends for omission in self.omissions)
        return reasons[-1] if len(reasons) > num_ends else ""

    @property
    def pauses(self) -> tuple[int, ...]:
        """How many executions were on record each time that the user switched recording off.

        None where that tells no place among them: of several processes, and where a circular
        buffer keeps the last ones.
        """
        if len(self.files.file_sets) > 1 or self.files.circular_buffer_size:
            return ()
        return tuple(o.executions for o in self.omissions if o.kind == omissions.PAUSED)

    @property
    def limits(self) -> tuple[str, ...]:
        """Where recording was limited so that executions are missing, as a user would put it."""
        kinds = {omission.kind for omission in self.omissions if omission.count}
        return (*self.files.limits, *(text for kind, text in _LEFT_OUT.items() if kind in kinds))

    @property
    def has_all_executions(self) -> bool:
        """Whether no execution was left out between others, so that they can be counted."""
        return not any(o.kind in _LEFT_OUT and o.count for o in self.omissions)

    @property
    def has_skipped(self) -> bool:
        """Whether something that was computed is never on record: a call failed, for example."""
        kinds = omissions.SKIPPED, omissions.RESULTS_ONLY
        return any(omission.kind in kinds for omission in self.omissions)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the files, as far as it has been found by now.

        Some records turn out to be unreadable only when they are asked for.
        """
        return tuple(self._problems.snapshot())

    @property
    def connection_problem(self) -> str:
        """What is wrong at this moment with the connection to the files; "" where nothing is."""
        return storage_of(self.files.directory).problem

    @property
    def num_alerts(self) -> int:
        """Number of tensors recorded with a NaN or an infinity."""
        return len(self.executions.alert_rows) + len(self.graph_executions.alert_rows)

    @property
    def num_events(self) -> int:
        """Number of executions and graph executions."""
        return len(self.executions) + len(self.graph_executions)

    def newest_wall_time(self) -> float:
        """Return when the last event was recorded; 0.0 where there is none, or it is gone."""
        lists = (self.executions, self.graph_executions)
        times = [events.wall_times(np.array([len(events) - 1])) for events in lists if len(events)]
        return max((float(time[0]) for time in times), default=0.0)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of the hosts that recorded something."""
        return tuple(dict.fromkeys(d.host for d in self._definitions if d.host))

    @property
    def devices(self) -> tuple[str, ...]:
        """Names of the devices, of eager outputs first."""
        names = [name for d in self._definitions for name in list(d.devices.values())]
        names += [site.device for site in list(self.site_numbers) if site.device]
        return tuple(dict.fromkeys(names))

    @property
    def num_graph_ops(self) -> int:
        """Number of ops in all graphs."""
        return sum(d.num_ops for d in self._definitions)

    @property
    def num_stack_frames(self) -> int:
        """Number of distinct stack frames."""
        return sum(len(d.frames) for d in self._definitions)

    @property
    def source_paths(self) -> tuple[tuple[str, str], ...]:
        """Host and path of each source file."""
        return tuple((host, path) for d in self._definitions for host, path, _ in d.source_files)

    def op(self, graph_id: str, op_name: str) -> GraphOp | None:
        """Return an op of a graph, or None where its creation has not been recorded."""
        graph = self.graphs.get(graph_id)
        return graph.ops.get(op_name) if graph else None

    def graph_path(self, graph_id: str) -> tuple[Graph, ...]:
        """Return a graph preceded by the graphs it was built in, outermost first."""
        path: dict[str, Graph] = {}
        graph = self.graphs.get(graph_id)
        while graph is not None and graph.graph_id not in path:
            path[graph.graph_id] = graph
            graph = self.graphs.get(graph.outer_id) if graph.outer_id else None
        return tuple(reversed(path.values()))

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Keras layers and `tf.Module`s, each after the one that it is called in."""
        found = [layer for d in self._definitions for layer in list(d.layers.values())]
        inner: dict[Layer | None, dict[Layer, None]] = {}
        for layer in found:
            inner.setdefault(layer.outer, {})[layer] = None
        return tuple(_in_order(inner, None))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Variables of layers and optimizers, and those whose gradients are asked for."""
        return tuple(v for d in self._definitions for v in list(d.variables.values()))

    @property
    def gradient_requests(self) -> tuple[GradientRequest, ...]:
        """For which variables gradients are asked; one for each place and each other answer."""
        return tuple(request for d in self._definitions for request in list(d.gradient_requests))

    @property
    def gradients_given(self) -> dict[int, frozenset[int]]:
        """Stacks of the eager ops that made what a tape gave, by the stack of where it was asked.

        Only of tapes that ran eager ops.
        """
        return _by_place(d.gradients_given for d in self._definitions)

    @property
    def gradients_passed_on(self) -> dict[int, frozenset[int]]:
        """Those of `gradients_given` whose tensors other gradient ops took, too, by the place."""
        return _by_place(d.gradients_passed_on for d in self._definitions)

    def is_left_gradient(self, file_set: int, tensor_id: int) -> bool:
        """Whether an eager tensor is bad, and neither given nor used by the tape that made it.

        Told of tensors made in `gradients_given` alone, as one line may make what is and is not.
        """
        return tensor_id in self._definitions[file_set].gradients_left

    def is_read_by_python(self, file_set: int, tensor_id: int) -> bool:
        """Whether an eager tensor is bad, and Python has read it.

        Our writer alone tells of it, and of no tensor with more than a thousand elements.
        """
        return tensor_id in self._definitions[file_set].read_by_python

    def layer_of_kind(self, kind: ExecutionKind) -> Layer | None:
        """Return the layer in whose call executions of a kind ran, where that is recorded."""
        return self._definitions[kind.file_set].layers.get(kind.layer)

    def fit_batch(self, step: int) -> FitBatch | None:
        """Return which batch of Keras' `fit` a step is, where that is recorded and one alone."""
        return fit_batch([d.fit_batches for d in self._definitions], step)

    @property
    def num_epochs(self) -> int:
        """The last epoch of any `fit`, as far as is recorded; 0 without."""
        recorded = (record.epoch for d in self._definitions for record in list(d.fit_batches))
        return max(recorded, default=0)

    def step_of_batch(self, epoch: int, batch: int = 1) -> int | None:
        """Return the first step that is a batch of Keras' `fit`, both from 1; None without."""
        return step_of_batch([list(d.fit_batches) for d in self._definitions], epoch, batch)

    def function_graph(self, function_name: str) -> str | None:
        """Return the graph of a function by its runtime name, where the writer recorded it."""
        for definitions in self._definitions:
            graph_id = definitions.functions.get(function_name)
            if graph_id is not None:
                return graph_id
        return None

    def stack(self, stack_id: int) -> tuple[StackFrame, ...]:
        """Return the frames of a stack, outermost first."""
        file_set, _ = self._stacks.values[stack_id]
        return self._definitions[file_set].stack(stack_id)

    def unused_frames(self) -> list[StackFrame]:
        """Return the stack frames that are in no stack on record: what ran there is missing."""
        used: set[tuple[int, str]] = set()
        for file_set, location in self._stacks.values:
            with contextlib.suppress(codec.DecodeError):
                ids = CodeLocation.decode(location).stack_frame_ids
                used.update((file_set, frame_id) for frame_id in ids)
        return [
            definitions.frame(frame_id)
            for definitions in self._definitions
            for frame_id in list(definitions.frames)
            if (definitions.file_set, frame_id) not in used
        ]

    def source(self, host: str, path: str) -> SourceFile | None:
        """Return a source file as it was when the program ran, or None where it is not stored."""
        for definitions, file in zip(self._definitions, self._source_files, strict=True):
            source = definitions.read_source(file, host, path)
            if source is not None:
                return source
        return None


def _by_place(all_given: Iterable[Mapping[int, set[int]]]) -> dict[int, frozenset[int]]:
    """Return a copy of what the processes' tapes gave: they may be read meanwhile."""
    copies = [list(given.items()) for given in all_given]
    return {place: frozenset(makers) for given in copies for place, makers in given}


def _in_order(
    inner: Mapping[Layer | None, Mapping[Layer, None]], outer: Layer | None
) -> Iterator[Layer]:
    """Yield the layers in one, each with those in it behind it."""
    for layer in inner.get(outer, ()):
        yield layer
        yield from _in_order(inner, layer)
