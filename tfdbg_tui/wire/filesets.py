"""File names of a tfdbg2 logdir.

One writer makes one *file set*: six files ``tfdbg_events.<seconds>.<host>.<suffix>`` with a common
prefix (tensorflow/core/util/debug_events_writer.cc).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

METADATA = "metadata"
SOURCE_FILES = "source_files"
STACK_FRAMES = "stack_frames"
GRAPHS = "graphs"
EXECUTION = "execution"
GRAPH_EXECUTION_TRACES = "graph_execution_traces"

SUFFIXES = (METADATA, SOURCE_FILES, STACK_FRAMES, GRAPHS, EXECUTION, GRAPH_EXECUTION_TRACES)

REST = "rest"
"""Suffix of a further file of ours, which is there while its process waits for others, and all that
it has recorded is in the six files.  One that is ended then has ended its dump in order."""

_NAME = re.compile(r"(?P<prefix>tfdbg_events\..+)\.(?P<suffix>" + "|".join(SUFFIXES) + r")")


@dataclass(frozen=True, order=True, slots=True)
class FileSet:
    """The six files of one writer; any of them may be missing.

    Attributes:
        prefix: Path that all six share, up to but not including the dot before the suffix.
    """

    prefix: str

    def path(self, suffix: str) -> str:
        """Return the path of one of the files."""
        return f"{self.prefix}.{suffix}"


def find_file_sets(directory: str) -> list[FileSet]:
    """Return the file sets that lie directly in `directory`, in the order of their names.

    A file set is there as soon as any of its files is.

    Raises:
        OSError: The directory cannot be listed.
    """
    return file_sets_of(directory, os.listdir(directory))


def file_sets_of(directory: str, names: Iterable[str]) -> list[FileSet]:
    """Return the file sets that files of a directory make up, in the order of their names."""
    prefixes = {match["prefix"] for name in names if (match := _NAME.fullmatch(name))}
    return [FileSet(os.path.join(directory, prefix)) for prefix in sorted(prefixes)]
