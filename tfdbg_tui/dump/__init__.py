"""The dump writer: records what a TensorFlow program computes into a tfdbg2 logdir.

Importing this package does not import TensorFlow: enabling does.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump import options as _options
from tfdbg_tui.dump import threads, workers
from tfdbg_tui.dump.errors import BadTensorError, reason_of
from tfdbg_tui.dump.exits import ExitCalls, before_leaving
from tfdbg_tui.dump.keras_steps import make_step_callback, mark_keras_steps
from tfdbg_tui.dump.steps import step
from tfdbg_tui.storage import urls
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.dump.writer import DumpWriter
    from tfdbg_tui.storage.spool import Spool

__all__ = [
    "BadTensorError",
    "StepCallback",
    "disable_dump_debug_info",
    "enable_dump_debug_info",
    "record_values",
    "set_recording",
    "step",
]

_log = logging.getLogger("tfdbg_tui")

_writer: DumpWriter | None = None

_exit_calls: ExitCalls | None = None

_fell_back = False
"""Whether TensorFlow's own instrumentation is enabled in our place."""

_of_command: _options.Options | None = None
"""What `tfdbg-tui run` was told, which counts for the whole program."""

_spools: dict[str, Spool] = {}
"""Where what is dumped to a URL is recorded, until it is uploaded."""

_stopped: list[DumpWriter] = []
"""Disabled writers: TensorFlow reads one file set a directory, so they go on in theirs."""

_MAX_STOPPED = 8
"""How many of them to keep: each holds its files open."""

_LONGEST_WAIT_SECONDS = 2.0
"""For the last records of a program that leaves at once: it may do so as an op never ends."""


def enable_dump_debug_info(
    dump_root: str,
    tensor_debug_mode: str = "NO_TENSOR",
    circular_buffer_size: int = 1000,
    op_regex: str | None = None,
    tensor_dtypes: _options.TensorDtypes = None,
    *,
    every: int = 1,
    steps: str | None = None,
    layers: str | None = None,
    functions: str | None = None,
    lines: str | None = None,
    magnitudes_every: int | None = None,
    max_gigabytes: float | None = None,
    keep_after_bad: int | None = None,
    on_bad: str = "continue",
    run_id: str | None = None,
) -> Any:
    """Record what the program computes, as `tf.debugging.experimental.enable_dump_debug_info` does.

    The five positional arguments have TensorFlow's names, defaults and meanings.  Calling again
    with the same arguments does nothing; with another `dump_root`, that one replaces the first.

    Args:
        dump_root: Directory for the files; created if needed.  Where it is a URL (s3://, gs://,
            sftp://, ...), they are written to a directory of this machine, in TFDBG_SPOOL_DIR if
            that is set, and uploaded while the program runs.
        tensor_debug_mode: TensorFlow's NO_TENSOR, CURT_HEALTH, CONCISE_HEALTH, FULL_HEALTH, SHAPE
            or FULL_TENSOR; or ADAPTIVE: the counts of CONCISE_HEALTH for every tensor that
            the program uses, and for a tensor with NaN or infinity and the inputs of its op those
            of FULL_HEALTH with the smallest and largest finite element.
        circular_buffer_size: How many executions and how many graph execution traces to keep:
            the last ones.  0 or less keeps all.
        op_regex: Record only ops whose type matches (`re.match`).
        tensor_dtypes: Record only tensors of these dtypes: a list, or a function of a dtype.
        every: Record only steps divisible by it, at almost no cost in between.  Needs steps:
            `tfdbg_tui.step` or `tfdbg_tui.dump.StepCallback`; outside of steps all is recorded.
        steps: Record only steps from the first to the last one of these: "1000..1010"; else as
            `every`.
        layers: Record only what is computed in Keras layers and `tf.Module`s with these names, and
            the gradients of that: "encoder*", "encoder/wide,head".
        functions: Record only what is computed while a Python function with one of these names
            runs: "loss,metric_*".
        lines: Record only what is computed while one of these source lines runs:
            "train.py:40..60,model.py".  Where several limits are given, all have to hold.  Of calls
            of functions outside of them it is recorded that they ran.
        magnitudes_every: In ADAPTIVE and FULL_HEALTH, record of every tensor the smallest and
            largest finite element in steps divisible by it, besides 0, 1, 2, 4, 7, 12, 21, 30, 41,
            50, 61, 76, 91, 121, 150 and 181; outside of steps, in such calls of a function, or
            executions of an eager line.  Of a loop's iterations, 0, 1, 2, 4, 8 and so on are
            measured then.  0 for never; by default 100, after the first three steps with iterations
            0, 4, 32, 64 and so on.
        max_gigabytes: Record no more of what is healthy when the files of a process hold so many:
            10, 0.5; by default when they hold more than is left free on their disk.  They are
            looked at some seven times a second, so somewhat more is written.  From then on the
            newest events wait in memory, and are written once something is bad, with what comes
            next, up to a fifth more.  Then recording is switched off, as by `set_recording`; where
            it is switched on again, it stays on.  In modes that do not tell what is bad, it is
            switched off at once.
        keep_after_bad: Flight recorder: so many events after the first NaN or infinity the
            circular buffer is frozen, with what came before.
        on_bad: "continue", or "raise" a `BadTensorError` from the call that made the first NaN or
            infinity.
        run_id: Gives several processes that write into one directory one run; by default the
            environment variable TFDBG_RUN_ID does, if set.  Workers of `multiprocessing`, and the
            process that starts them, have one in any case (on Linux).

    Returns:
        A handle with `flush()`, `dump_root` and `run_id`.  (Where TensorFlow's own writer has to do
        the work: what that returns.)  None, with a warning, where nothing can be recorded.

    Raises:
        ValueError: An argument is invalid, or contradicts those of the dump that is enabled.
        NotImplementedError: TensorFlow defines the mode but nobody implements it.
    """
    global _writer, _exit_calls
    import tensorflow  # noqa: F401 - under `tfdbg-tui run` this alone enables the dump

    from tfdbg_tui.dump.tensorflow import keras_nodes, private

    wanted = _options.validated(
        _spooled(dump_root),
        tensor_debug_mode,
        circular_buffer_size,
        op_regex,
        tensor_dtypes,
        every=every,
        steps=steps,
        layers=layers,
        functions=functions,
        lines=lines,
        magnitudes_every=magnitudes_every,
        max_gigabytes=max_gigabytes,
        keep_after_bad=keep_after_bad,
        on_bad=on_bad,
        run_id=run_id,
    )
    if _of_command is not None and wanted != _of_command:
        _log.warning(
            "tfdbg-tui run records into %s in %s: the program's own call is not followed",
            _of_command.dump_root,
            _of_command.mode_name,
        )
        wanted = _of_command
    if _writer is not None and _writer.active:
        _check_compatible(_writer.options, wanted)
        if _writer.options.dump_root == wanted.dump_root:
            if _writer.failure:
                _log.warning(
                    "tfdbg-tui: %s before; dumping stays off until disable_dump_debug_info()",
                    _writer.failure,
                )
            return _writer
        disable_dump_debug_info()
    missing = private.missing()
    if missing is not None:
        return _fall_back(wanted, op_regex, tensor_dtypes, missing)
    try:
        _writer = writer = _start(wanted)
    except Exception as error:
        _log.warning("tfdbg-tui: dumping is off (%s); the program goes on", reason_of(error))
        return None
    keras_nodes.watch()
    _exit_calls = ExitCalls(lambda: writer.num_executions)
    before_leaving(_leave)
    return _writer


def _spooled(dump_root: str) -> str:
    """Return where to record what is to be dumped to `dump_root`."""
    url = urls.without_secrets(os.fspath(dump_root))
    if _of_command is not None or not urls.is_known(url):
        return dump_root
    if url not in _spools:
        from tfdbg_tui.storage.spool import Spool

        _spools[url] = Spool(url)
    return _spools[url].directory


def enable_for_program(dump_root: str, **options: Any) -> None:
    """Enable the dump writer for a whole program, whatever the program itself enables."""
    global _of_command, _exit_calls
    enable_dump_debug_info(dump_root, **options)
    if _exit_calls is not None:  # The command sees the exit code itself.
        _exit_calls.stop()
        _exit_calls = None
    _of_command = _writer.options if _writer is not None else None
    atexit.unregister(_end_with_program)  # It stands first in the list already: it is last.


def mark_steps_for_program(keras: Any) -> None:
    """Make each batch of `fit` a step, for a whole program.

    Args:
        keras: The module `keras`, or `tf_keras`.
    """
    from tfdbg_tui.dump.tensorflow import keras_nodes, own_frames

    try:
        mark_keras_steps(keras)
        keras_nodes.watch()
        own_frames.exclude_in_keras(keras)
        library = keras.backend.backend()
        if library != "tensorflow" and _writer is not None:
            _writer.skip(f"what Keras computes with {library}", omissions.WITHOUT_OPS)
    except Exception as error:
        if _writer is not None:
            _writer.hook_failed(error, "which batch of fit a record is of")


def _start(wanted: _options.Options) -> DumpWriter:
    """Return a new writer, or the one that wrote with the same options before it was disabled."""
    from tfdbg_tui.dump.writer import DumpWriter

    for stopped in _stopped:
        if stopped.options == wanted and stopped.usable:
            _stopped.remove(stopped)
            stopped.start()
            return stopped
    writer = DumpWriter(wanted)
    if workers.is_worker():
        workers.before_end(disable_dump_debug_info, _rest)
        workers.before_sending(_rest)
        writer.rest()  # It may be ended before it has anything to do.
    return writer


def _check_compatible(current: _options.Options, wanted: _options.Options) -> None:
    if current.circular_buffer_size != wanted.circular_buffer_size:
        raise ValueError(
            "There is already a dumping callback configured with a different circular-buffer size "
            f"({current.circular_buffer_size}). Therefore the newly request circular-buffer size "
            f"({wanted.circular_buffer_size}) will not be honored."
        )
    if current.mode_name != wanted.mode_name:
        raise ValueError(
            f"There is already a dumping callback configured for dump root {current.dump_root} "
            f"with a different tensor-debug mode ({current.mode_name}). Therefore the newly "
            f"request tensor-debug mode ({wanted.mode_name}) size will not be honored."
        )


def _fall_back(
    wanted: _options.Options, op_regex: str | None, tensor_dtypes: Any, missing: str
) -> Any:
    """Enable TensorFlow's own instrumentation, as this TensorFlow has hooks we do not know."""
    global _fell_back
    import tensorflow as tf

    from tfdbg_tui.dump.record import files

    try:
        files.make_directory(wanted.dump_root)
    except OSError as error:
        _log.warning(
            "tfdbg-tui: cannot write to %s (%s); dumping is off, the program goes on",
            wanted.dump_root,
            error.strerror,
        )
        return None
    _fell_back = True
    without = ", ".join(wanted.unknown_to_tensorflow)
    _log.warning(
        "tfdbg-tui: this TensorFlow (%s) differs from what the dump writer knows (%s); "
        "TensorFlow's own dump instrumentation is used instead%s",
        tf.__version__,
        missing,
        f", without {without}" if without else "",
    )
    return tf.debugging.experimental.enable_dump_debug_info(
        wanted.dump_root,
        wanted.mode.name,
        wanted.circular_buffer_size,
        op_regex,
        tensor_dtypes,
    )


def disable_dump_debug_info() -> None:
    """Stop recording and close the files.  Does nothing where nothing is enabled.

    Functions that were instrumented can still be called; they are traced again without it.
    """
    global _writer, _exit_calls, _fell_back
    if _exit_calls is not None:
        _exit_calls.stop()
        _exit_calls = None
    if _fell_back:
        import tensorflow as tf

        tf.debugging.experimental.disable_dump_debug_info()
        _fell_back = False
    if _writer is not None:
        _stopped.append(_writer)
        _writer = None
        _end("the dump", _stopped[-1].stop)
        while len(_stopped) > _MAX_STOPPED:
            _stopped.pop(0).close()
    while _spools:
        url, spool = _spools.popitem()
        _end(url, spool.finish)


def set_recording(on: bool) -> None:
    """Switch recording off while the program runs, or on again.

    While it is off the program runs as without a dump, but for a look at each call of a function.
    What functions of ``tf.data`` compute, ahead of the steps, goes on being recorded.  The dump
    tells that it was, and from when to when.  Does nothing where no dump is on.
    """
    if _writer is not None and _writer.active:
        _writer.set_recording(on)


def record_values(*tensors: str) -> None:
    """Record the elements of some tensors from now on, whatever the mode, and of no others.

    Does nothing where no dump is on.  Where XLA compiles a function, or in a session of
    TensorFlow 1, it cannot be done.

    Args:
        *tensors: Names of ops or tensors of graphs, without that of the function ("loss/Log:0",
            "encoder/*/MatMul"), types of eager ops ("Log"), or source lines ("train.py:40"), of
            which the innermost one of the program's own counts.  A warning tells of those that
            nothing had which was computed until the next call, or until the dump ends.
    """
    if _writer is not None and _writer.active:
        _writer.record_values(tensors)


def current() -> DumpWriter | None:
    """Return the writer of the dump that is on, or None."""
    return _writer if _writer is not None and _writer.active else None


def _rest() -> None:
    """Write everything that is on record."""
    if _writer is not None and _writer.active:
        _writer.rest()


def _leave(failure: str | None) -> None:
    """Write everything before the program leaves at once, which nothing may keep it from for long.

    Args:
        failure: How the program fails by that, or None.
    """
    if _writer is None or not _writer.active:
        return
    if failure is not None and _of_command is None:  # The command sees the exit code itself.
        _writer.program_failed(failure)
    threads.start(_rest, "leave").join(_LONGEST_WAIT_SECONDS)


def _end(what: str, act: Callable[[], None]) -> None:
    """End something; the logdir shows that it has no end where that fails."""
    try:
        act()
    except Exception as error:
        _log.warning("tfdbg-tui: %s was not ended (%s)", what, reason_of(error))


def __getattr__(name: str) -> Any:
    if name == "StepCallback":
        return make_step_callback()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _before_fork() -> None:
    if _writer is not None and _writer.active:
        _writer.before_fork()


def _after_fork(name: str) -> Any:
    def act() -> None:
        # Another thread may have disabled or enabled a dump meanwhile.
        for writer in (_writer, *_stopped):
            if writer is not None:
                getattr(writer, name)()

    return act


def _tell_failure() -> None:
    """Say in the logdir that the program ends with an error: Python keeps it for debuggers."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    is_interactive = hasattr(sys, "ps1")  # where programs go on after an error
    if is_interactive or _writer is None or not _writer.active:
        return
    if error is not None:
        _writer.program_failed(reason_of(error))
    elif _exit_calls is not None and (failure := _exit_calls.failure()) is not None:
        _writer.program_failed(failure)


def _end_with_program() -> None:
    """End the dump; exit functions that were registered before this module run after that."""
    ended = _writer
    disable_dump_debug_info()
    if ended is not None:
        _end("the dump", ended.tell_what_comes)


atexit.register(_end_with_program)
atexit.register(_tell_failure)  # runs before
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork("after_fork_in_parent"),
        after_in_child=_after_fork("after_fork_in_child"),
    )
