"""Which frames of a stack trace are the user's own code.

The innermost of them is the line to look at: everything deeper is TensorFlow, Keras or another
library doing as it was told.
"""

from __future__ import annotations

import ntpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tfdbg_tui.diagnosis.generated_code import origin_of
from tfdbg_tui.logdir import StackFrame
from tfdbg_tui.logdir.text import shortened
from tfdbg_tui.wire.events import BUILDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfdbg_tui.logdir import Run
    from tfdbg_tui.wire.expressions import Expression

# A user's project may lie in a directory called tensorflow or keras, so names of directories alone
# decide nothing: only places where packages are installed, and packages by their inner layout.
_LIBRARY = re.compile(
    r"""
    /(site|dist)-packages/  # anything that pip or a distribution installed
    | /lib(64)?/python\d(\.\d+)?t?/  # the standard library
    | /python\d+\.zip/
    | /(python|anaconda|miniconda|miniforge)[^/]*(/envs/[^/]+)?/lib/[^/]+\.py$  # on Windows
    | /tensorflow/python/(autograph|checkpoint|client|compiler|data|debug|distribute|eager
        |feature_column|framework|keras|layers|lib|module|ops|platform|profiler|saved_model
        |summary|tpu|trackable|training|types|user_ops|util)/
    | /(tf_)?keras/(src|api)/
    | /tensorflow_probability/(python|substrates)/
    | /tfdbg_tui/((cli|diagnosis|dump|logdir|tui|wire)/|__(init|main)__\.py$)
    | /__autograph_generated_file[^/]*\.py$  # what AutoGraph made of the user's code
    """,
    re.VERBOSE | re.IGNORECASE,
)

_INSTALLED = re.compile(
    r"/(site|dist)-packages/(?!(tensorflow|keras|tf_keras|tensorflow_probability|tfdbg_tui)[/.])"
)

_USER_PSEUDO_FILES = (
    *("<stdin>", "<string>", "<ipython-input", "<console>", "<python-input", "<doctest "),
)


_AUTOGRAPH = re.compile(r"/tensorflow/python/.*autograph")
_IMPORTER = re.compile(r"/tensorflow/python/framework/importer\.py$")
_TRACES = "func_graph_from_py_func"  # TensorFlow's: what it calls is the function
_AUTOGRAPH_FILE = re.compile(r"__autograph_generated_file[^/]*\.py$")
_OTHER_EXPRESSIONS = re.compile(r"[(+*/@%|&<>-]|\b(?:and|or|not|if|for|in)\b")


@dataclass(frozen=True, slots=True)
class Location:
    """A line of the user's code.

    Attributes:
        file: Path of the source file on the host that ran the program.
        line: Line number, from 1.
        function: Name of the function.
        code: The line's text without indentation; "" where the dump does not hold it.
        expression: What ran of the line, where that is known.
        columns: The characters of `code` that ran, from the first to behind the last, where the
            line does more than that.
    """

    file: str
    line: int
    function: str
    code: str
    expression: Expression | None = field(default=None, compare=False)
    columns: tuple[int, int] | None = field(default=None, compare=False)

    @property
    def short(self) -> str:
        """File and line in few characters: ``train.py:12``."""
        return f"{file_name(self.file)}:{self.line}"


def file_name(path: str) -> str:
    """Return the last part of a path of the machine that ran the program, Windows or another."""
    return ntpath.basename(path)  # which takes slashes of both kinds


def location_json(location: Location | None) -> dict[str, Any] | None:
    """Return a line in the form of ``diagnose --json``."""
    if location is None:
        return None
    columns = location.columns
    return {
        "file": location.file,
        "line": location.line,
        "function": location.function,
        "code": location.code,
        "expression": location.code[slice(*columns)] if columns is not None else None,
    }


def location_of(run: Run, stack_id: int | None) -> Location | None:
    """Return the user's innermost line of a stack, or None where it has none."""
    return _location(run, run.stack(stack_id) if stack_id is not None else ())


def _location(run: Run, frames: Sequence[StackFrame]) -> Location | None:
    position = user_frame(frames)
    for frame in reversed(frames[position or 0 :]):
        if frame.path and _AUTOGRAPH_FILE.search(frame.path):
            original = _behind_autograph(run, frame)
            if original is not None:
                return original
            break
    if position is None:
        return None
    frame = frames[position]
    lines = source_lines(run, frame.host, frame.path)
    code, columns = _code(lines, frame.line), columns_of(frame, lines)
    if columns is not None:
        indent = len(lines[frame.line - 1]) - len(lines[frame.line - 1].lstrip())
        columns = columns[0] - indent, columns[1] - indent
        columns = columns if columns[1] <= len(code) else None
    return Location(frame.path or "", frame.line, frame.function, code, frame.expression, columns)


def columns_of(frame: StackFrame, lines: Sequence[str]) -> tuple[int, int] | None:
    """Return which characters of its line a frame runs; None where the line does no more.

    Args:
        frame: The frame.
        lines: The text of its file.

    Returns:
        The first character, from 0, and the one after its last.
    """
    columns = frame.expression.columns(lines) if frame.expression is not None else None
    if columns is None:
        return None
    text = lines[frame.line - 1]
    rest = text[: columns[0]] + text[columns[1] :].partition("#")[0]
    return columns if _OTHER_EXPRESSIONS.search(rest) else None


def line_that_ran(run: Run, stack_id: int | None) -> Location | None:
    """Return the user's innermost line of a stack that ran, and has not only built a layer."""
    frames = run.stack(stack_id) if stack_id is not None else ()
    return _location(run, [frame for frame in frames if BUILDS not in frame.function])


def is_converted(run: Run, stack_id: int | None) -> bool:
    """Whether AutoGraph has converted code of a stack: of it only statements are known."""
    frames = run.stack(stack_id) if stack_id is not None else ()
    return any(_AUTOGRAPH.search((frame.path or "").replace("\\", "/")) for frame in frames)


def source_lines(run: Run, host: str, path: str | None) -> tuple[str, ...]:
    """Return the text of a source file; empty where the dump does not hold it.

    Args:
        run: The run.
        host: Name of the host that the file is of.
        path: Path of the file there.
    """
    if path is None:
        return ()
    source = run.source(host, path)
    return source.lines if source else ()


def _behind_autograph(run: Run, frame: StackFrame) -> Location | None:
    """Find the user's line that AutoGraph turned into a line of generated code.

    TensorFlow maps such frames back itself, except in the threads of a distribution strategy.
    """
    generated = source_lines(run, frame.host, frame.path)
    best = None
    for host, path in run.source_paths:
        if is_library_frame(StackFrame(host, path, 1, "")):
            continue
        lines = source_lines(run, host, path)
        found = origin_of(generated, frame.line, lines)
        if found is not None and (best is None or found.likeness > best[0].likeness):
            best = found, path, lines
    if best is None:
        return None
    found, path, lines = best
    return Location(path, found.line, found.function, _code(lines, found.line))


def _code(lines: Sequence[str], number: int) -> str:
    """Return a line of a file; empty where there is none of this number."""
    return shortened(lines[number - 1].strip()) if 0 < number <= len(lines) else ""


# What lies between a call of an op and the op itself, and adds nothing of its own.
_WRAPPER = re.compile(
    r"""
    /tensorflow/python/( (util|framework|debug|eager|autograph)/ | data/ops/
        | ops/(gen_\w+|weak_tensor_ops|math_ops|array_ops|array_ops_stack|nn_ops|nn_impl
              |clip_ops|linalg_ops|special_math_ops|resource_variable_ops|tensor_math_operator_overrides
              |bitwise_ops|control_flow_ops|cond|cond_v2|while_loop|while_v2|map_fn|functional_ops
              |variables|ref_variable|image_ops_impl|sort_ops|parallel_for/.*)\.py$ )
    | /(tf_)?keras/src/( ops | backend | utils | layers | trainers | models | callbacks | losses
        | metrics | optimizers | activations )/
    | /tfdbg_tui/
    | /lib/python\d\.\d+/\w+\.py$ | /<
    """,
    re.VERBOSE,
)
_OPTIMIZER = re.compile(
    r"/(tf_)?keras/(src/)?optimizers/(?!schedules/)|/tensorflow/python/training/\w+\.py$"
)
_METRIC = re.compile(
    r"/(tf_)?keras/(src/)?metrics/|/tensorboard/plugins/|/tensorflow/python/ops/summary_ops_v2\.py$"
)
_KERAS = re.compile(r"[/\\](tf_)?keras[/\\]src[/\\]")
_ALGORITHMS = frozenset({"reduce_logsumexp", "reduce_logsumexp_v1", "logsumexp"})


def inside_algorithm(run: Run, stack_id: int | None) -> bool:
    """Whether an op belongs to an algorithm of a library, rather than to the user's own formula.

    ``tf.nn.ctc_loss`` for example computes with logarithms of 0 all the time, and knows how to.
    """
    frames = run.stack(stack_id) if stack_id is not None else ()
    position = user_frame(frames)
    deeper = frames[position + 1 :] if position is not None else ()
    return any(
        frame.path is not None
        and (
            frame.function in _ALGORITHMS
            or not _WRAPPER.search("/" + frame.path.replace("\\", "/"))
        )
        for frame in deeper
    )


def in_optimizer(run: Run, stack_id: int | None) -> bool:
    """Whether an op belongs to the step of an optimizer of Keras or TensorFlow."""
    frames = run.stack(stack_id) if stack_id is not None else ()
    return any(
        frame.path is not None and _OPTIMIZER.search("/" + frame.path.replace("\\", "/"))
        for frame in frames
    )


def starts_fit(run: Run, stack_id: int | None) -> bool:
    """Whether the line of the user in a stack calls Keras' `fit`, in which all the rest happens."""
    frames = run.stack(stack_id) if stack_id is not None else ()
    position = user_frame(frames)
    inner = frames[position + 1 :] if position is not None else ()
    return any(
        frame.function == "fit" and frame.path is not None and _KERAS.search(frame.path)
        for frame in inner
    )


def is_loss_of_fit(run: Run, stack_id: int | None) -> bool:
    """Whether an op is of a loss in a training step of Keras' own."""
    frames = run.stack(stack_id) if stack_id is not None else ()
    called = [frame.function for frame in frames if frame.path and _KERAS.search(frame.path)]
    trains = "fit" in called or "train_on_batch" in called
    return trains and {"train_step", "compute_loss"} <= {*called}


def is_imported(run: Run, stack_id: int | None) -> bool:
    """Whether an op was not made by code, but read from a file with the graph that it is in."""
    frames = run.stack(stack_id) if stack_id is not None else ()
    return any(frame.path and _IMPORTER.search(frame.path.replace("\\", "/")) for frame in frames)


def frames_of_traced(frames: Sequence[StackFrame]) -> Sequence[StackFrame]:
    """Return those frames of a stack trace that are inside of the function that was traced."""
    traced = [place for place, frame in enumerate(frames) if frame.function == _TRACES]
    return frames[traced[-1] :] if traced else ()


def frames_of_user(frames: Sequence[StackFrame]) -> list[StackFrame]:
    """Return those frames of a stack trace that are the user's own."""
    return [frame for frame in frames if not is_library_frame(frame)]


def is_library_frame(frame: StackFrame) -> bool:
    """Whether a frame is in TensorFlow, another package, Python itself, or an unknown file."""
    if not frame.path:
        return True
    if is_without_file(frame):
        return not name_of_file(frame).startswith(_USER_PSEUDO_FILES)
    return _LIBRARY.search("/" + frame.path.replace("\\", "/")) is not None


def name_of_file(frame: StackFrame) -> str:
    """Return the name of a frame's file, without the directory."""
    return re.split(r"[/\\]", frame.path or "")[-1]


def is_without_file(frame: StackFrame) -> bool:
    """Whether code was compiled without a file: the directory, if there is one, means nothing."""
    return name_of_file(frame).startswith("<") and name_of_file(frame).endswith(">")


def user_frame(frames: Sequence[StackFrame]) -> int | None:
    """Return the position of the innermost frame of the user's code, or None.

    A line of a text that a program has put together, and executes, is in no file to look at.

    Args:
        frames: A stack trace, outermost frame first.
    """
    for test in (_is_in_users_file, _is_users, _is_of_installed_program):
        for position in reversed(range(len(frames))):
            if test(frames[position]):
                return position
    return None


def _is_in_users_file(frame: StackFrame) -> bool:
    return _is_users(frame) and name_of_file(frame) != "<string>"


def _is_users(frame: StackFrame) -> bool:
    return not is_library_frame(frame)


def _is_of_installed_program(frame: StackFrame) -> bool:
    """Whether a frame is in an installed package that is no part of TensorFlow: a whole program."""
    return frame.path is not None and _INSTALLED.search(frame.path.replace("\\", "/")) is not None


def is_of_metric(frames: Iterable[StackFrame]) -> bool:
    """Return whether a metric of Keras, or a summary of one, computes what is executed there."""
    return any(frame.path and _METRIC.search(frame.path.replace("\\", "/")) for frame in frames)
