"""What the dump writer says itself that it has left out, in sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.report.advice import ARGUMENTS, command_to_record
from tfdbg_tui.diagnosis.report.failures import failure_at_end, failure_of
from tfdbg_tui.diagnosis.report.gap import Gap
from tfdbg_tui.logdir.text import counted
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfdbg_tui.logdir import Omission, Run

_NAMED = 4
_CHECK_NUMERICS = "tf.debugging.enable_check_numerics()"
_CHECK_TENSOR = 'tf.debugging.check_numerics(tensor, "name")'
_LOOK_AT_IT = (
    "To look at it all the same, write at the top of the program (it ends at the first NaN or ∞ "
    "then, also at one that is meant):"
)


def left_out(run: Run) -> Iterator[Gap]:
    """Yield what the dump writer says itself that it has left out."""
    for kind, describe in _SENTENCES.items():
        for omission in run.omissions:
            if omission.kind == kind:
                yield describe(run, replace(omission, reason=omission.reason.rstrip(".")))


def forked(run: Run) -> Iterator[Gap]:
    """Yield one gap for all forks: a pool may have hundreds."""
    forks = [omission for omission in run.omissions if omission.kind == omissions.FORKED]
    if forks:
        names = ", ".join(omission.what for omission in forks[:_NAMED])
        more = f" and {len(forks) - _NAMED:,} more" if len(forks) > _NAMED else ""
        yield Gap(
            omissions.FORKED,
            f"Not on record: what forks of the recorded process computed ({names}{more}), the "
            f"first {_since(forks[0])}. {_LOOK_AT_IT}",
            _CHECK_NUMERICS,
        )


def seen_all_the_same(run: Run) -> list[str]:
    """Return what is to be said of what is not on record, and could hide nothing that is bad."""
    results = [
        f"Of {omission.what} only the results are on record, as {omission.reason.rstrip('.')}."
        for omission in run.omissions
        if omission.kind == omissions.RESULTS_ONLY
    ]
    return results + [
        f"Not kept of what came {_since(omission)}: "
        f"{counted(omission.count, 'healthy record')}, as "
        f"{omission.reason}. They were looked at: what is bad is on record, and what came just "
        "before it."
        for omission in run.omissions
        if omission.kind == omissions.ONLY_BAD and omission.count
    ]


def _stopped(run: Run, omission: Omission) -> Gap:
    text = (
        f"The dump stopped {_since(omission)}: {omission.reason}. What the program computed after "
        f"that is not on record. Again, into a directory of your choice, {ARGUMENTS}:"
    )
    return Gap(omission.kind, text, command_to_record(run, "--logdir DIR"))


def _lost(run: Run, omission: Omission) -> Gap:
    number = counted(omission.count, "record")
    text = (
        f"{number} of {omission.what} lost {_since(omission)}: {omission.reason}. "
        f"Again, {ARGUMENTS}:"
    )
    return Gap(omission.kind, text, command_to_record(run))


def _skipped(run: Run, omission: Omission) -> Gap:
    times = f" ({omission.count:,} times)" if omission.count > 1 else ""
    text = (
        f"Not on record{times}, from {_point(omission)} on: {omission.what}, because "
        f"{omission.reason}.{_why_failed(run, omission)}"
    )
    if omission.reason == omissions.WITHOUT_OPS:
        return Gap(omission.kind, f"{text} Only the program itself can look at what it returns.")
    if omission.reason == omissions.BY_DTENSOR:
        return Gap(omission.kind, f"{text} To look at a tensor in it:", _CHECK_TENSOR)
    return Gap(omission.kind, f"{text} {_LOOK_AT_IT}", _CHECK_NUMERICS)


def _why_failed(run: Run, omission: Omission) -> str:
    """Return a sentence about the failure for which something is not on record; "" for none."""
    failure = failure_of(run, omission)
    if failure is None or not failure.message:
        return ""
    return f" {failure.place or 'An op'} raised: {failure.message.rstrip('.')}."


def _paused(run: Run, omission: Omission) -> Gap:
    resumed = (o for o in run.omissions if o.kind == omissions.RESUMED and o.what == omission.what)
    until = ", and not on again"
    for end in resumed:
        until = f", and on again in step {end.step:,}" if end.step is not None else ", and on again"
    text = (
        f"Recording was switched off {_since(omission)}, as {omission.reason}{until}: what ran "
        f"meanwhile is not on record. Again, without a pause, {ARGUMENTS}:"
    )
    return Gap(omission.kind, text, command_to_record(run))


def _raised(run: Run, omission: Omission) -> Gap:
    text = (
        f"The program was stopped {_since(omission)}, as you had asked for: {omission.what}. "
        "Whether what comes after would have left that out again, as a mask or a bound does, "
        f"cannot be judged. To let it go on, {ARGUMENTS}:"
    )
    return Gap(omission.kind, text, command_to_record(run))


def _exported(run: Run, omission: Omission) -> Gap:
    text = (
        f"What the program exported {_since(omission)} may hold ops that record "
        f"({omission.reason}), and run in no other process. Export it again without the dump."
    )
    return Gap(omission.kind, text)


def _failed(run: Run, omission: Omission) -> Gap:
    ended = "was interrupted" if omission.reason.startswith("KeyboardInterrupt") else "failed"
    failure = failure_at_end(run, omission.reason)
    kind, colon, _ = omission.reason.partition(":")
    reason = f"{kind}{colon} {failure.message}".rstrip()
    at = f", in {failure.place}" * bool(failure.place)
    fix = f" {failure.fix}" * bool(failure.fix)
    text = f"The program {ended} ({reason}){at}: what is on record is as far as it got.{fix}"
    return Gap(omission.kind, text)


_SENTENCES: dict[str, Callable[[Run, Omission], Gap]] = {
    omissions.FAILED: _failed,
    omissions.RAISED: _raised,
    omissions.STOPPED: _stopped,
    omissions.PAUSED: _paused,
    omissions.LOST: _lost,
    omissions.SKIPPED: _skipped,
    omissions.EXPORTED: _exported,
}


def _since(omission: Omission) -> str:
    return f"after {_point(omission)}"


def _point(omission: Omission) -> str:
    """Say how far the recording of a process had come."""
    executions = counted(omission.executions, "execution")
    traces = counted(omission.traces, "graph execution")
    step = f" (step {omission.step:,})" if omission.step is not None else ""
    return f"{executions} and {traces}{step}"
