"""References from events to definitions that are not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.wire import codec
from tfdbg_tui.wire.events import CodeLocation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.logdir.definitions.definitions import Definitions
    from tfdbg_tui.logdir.definitions.shared import Shared


class DanglingReferences:
    """Keeps count of ops and stack frames that events name and no definition describes.

    They are common while a program runs, as TensorFlow writes definitions late.
    """

    def __init__(self, shared: Shared, directory: str) -> None:
        self._shared = shared
        self._directory = directory
        self._sites: list[int] = []
        self._sites_seen = 0
        self._frames: set[tuple[int, str]] = set()
        self._stacks_seen = 0

    def report(self, definitions: Sequence[Definitions]) -> None:
        """Report what is unresolved now, or that nothing is."""
        self._look_at_sites()
        self._look_at_stacks(definitions)
        self._tell(
            "ops",
            len(self._sites),
            "tensors are of ops that are not described (yet); they are shown without type, inputs "
            "and stack trace",
        )
        self._tell("frames", len(self._frames), "frames of stack traces are not described (yet)")
        unknown = sum(of_process.unknown_files for of_process in definitions)
        self._tell("files", unknown, "source files are not named (yet): stack traces lack them")

    def _tell(self, key: str, number: int, words: str) -> None:
        problems = self._shared.problems
        if number:
            problems.add(self._directory, f"{number:,} {words}", key=key, passing=True)
        else:
            problems.discard(self._directory, key)

    def _look_at_sites(self) -> None:
        sites, graphs = self._shared.sites.values, self._shared.graphs
        candidates = self._sites + list(range(self._sites_seen, len(sites)))
        self._sites_seen = len(sites)
        self._sites = [
            number
            for number in candidates
            if (graph := graphs.get(sites[number].graph_id)) is None
            or sites[number].op_name not in graph.ops
        ]

    def _look_at_stacks(self, definitions: Sequence[Definitions]) -> None:
        locations = self._shared.stacks.values
        for file_set, location in locations[self._stacks_seen :]:
            try:
                ids = CodeLocation.decode(location).stack_frame_ids
            except codec.DecodeError:
                continue
            self._frames.update((file_set, frame_id) for frame_id in ids)
        self._stacks_seen = len(locations)
        self._frames = {
            (file_set, frame_id)
            for file_set, frame_id in self._frames
            if frame_id not in definitions[file_set].frames
        }
