"""Which members of a job run another program, or other code, than the rest."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.fleet.members import names
from tfdbg_tui.diagnosis.locations import file_name, is_library_frame
from tfdbg_tui.diagnosis.report.advice import program_of
from tfdbg_tui.logdir import StackFrame

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfdbg_tui.diagnosis.fleet.summary import WorkerSummary
    from tfdbg_tui.logdir import Run

_FILES = 3  # that are told by name


def code_of(run: Run) -> tuple[tuple[str, str], ...]:
    """Return the user's files, from the program's directory, with a digest of each text."""
    directory = os.path.dirname(program_of(run))
    found = {}
    for host, path in run.source_paths:
        source = None if is_library_frame(StackFrame(host, path, 1, "")) else run.source(host, path)
        if source is not None and source.lines:
            text = "\n".join(source.lines).encode("utf-8", "replace")
            digest = hashlib.blake2b(text, digest_size=4).hexdigest()
            found[os.path.relpath(path, directory or ".")] = digest
    return tuple(sorted(found.items()))


def differences(members: Sequence[WorkerSummary]) -> Iterator[str]:
    """Yield which members run other programs or code, a sentence each."""
    programs = {
        number: file_name(member.program) for number, member in enumerate(members) if member.program
    }
    for number in _others(programs):
        yield f"{names(members, [number])} runs another program: {members[number].program}"
    texts: dict[str, dict[int, str]] = {}
    for number, member in enumerate(members):
        for path, digest in member.code:
            texts.setdefault(path, {})[number] = digest
    differing: dict[tuple[int, ...], list[str]] = {}
    for path, digests in texts.items():
        if others := _others(digests):
            differing.setdefault(tuple(others), []).append(path)
    for numbers, paths in differing.items():
        more = f" and {len(paths) - _FILES:,} more" if len(paths) > _FILES else ""
        yield (
            f"{names(members, numbers)} run{'s' * (len(numbers) == 1)} other code than the rest: "
            f"{', '.join(paths[:_FILES])}{more}; lines told are those of the worker that is named"
        )


def _others(values: Mapping[int, str]) -> list[int]:
    """Return whose value is another than that of most; of equally many, of the first."""
    counts: dict[str, int] = {}
    for value in values.values():
        counts[value] = counts.get(value, 0) + 1
    usual = max(counts, key=lambda value: counts[value], default="")
    return [number for number, value in values.items() if value != usual]
