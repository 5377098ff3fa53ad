"""What the user asked of a dump, validated as TensorFlow validates it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tfdbg_tui.dump.scope import Scope
from tfdbg_tui.wire.modes import DUMPABLE_MODES, TensorDebugMode, mode_name

ADAPTIVE = "ADAPTIVE"
"""Name of the mode that details bad tensors and their op's inputs, and only those."""

RUN_ID_VARIABLE = "TFDBG_RUN_ID"
"""Environment variable that gives several processes one run id."""

ON_BAD = ("continue", "raise")

_STEPS = re.compile(r"(\d{1,18})\.\.(\d{1,18})")

TensorDtypes = Sequence[Any] | Callable[[Any], bool] | None


@dataclass(frozen=True, slots=True)
class Options:
    """Validated arguments of `enable_dump_debug_info`; see there."""

    dump_root: str
    mode: TensorDebugMode
    adaptive: bool
    circular_buffer_size: int
    op_regex: re.Pattern[str] | None
    tensor_dtypes: Callable[[Any], bool] | None
    every: int
    steps: range | None
    scope: Scope
    magnitudes_every: int | None
    max_gigabytes: float | None
    keep_after_bad: int | None
    on_bad: str
    run_id: str | None

    @property
    def mode_name(self) -> str:
        """The name that the user gave."""
        return ADAPTIVE if self.adaptive else self.mode.name

    @property
    def watches_health(self) -> bool:
        """Whether records say if a tensor has NaN or infinity without its elements."""
        return self.mode in (
            TensorDebugMode.CURT_HEALTH,
            TensorDebugMode.CONCISE_HEALTH,
            TensorDebugMode.FULL_HEALTH,
        )

    @property
    def measures(self) -> bool:
        """Whether now and then the smallest and largest elements of all tensors are recorded."""
        measuring = self.adaptive or self.mode is TensorDebugMode.FULL_HEALTH
        return measuring and self.magnitudes_every != 0

    @property
    def watches_bad(self) -> bool:
        """Whether something happens at the first bad tensor."""
        return self.on_bad == "raise" or self.keep_after_bad is not None

    @property
    def unknown_to_tensorflow(self) -> list[str]:
        """The names of the given options that TensorFlow's own instrumentation has not."""
        given = {
            "every": self.every != 1,
            "steps": self.steps is not None,
            "layers": bool(self.scope.layers),
            "functions": bool(self.scope.functions),
            "lines": bool(self.scope.lines),
            "max_gigabytes": self.max_gigabytes is not None,
            "keep_after_bad": self.keep_after_bad is not None,
            "on_bad": self.on_bad != "continue",
        }
        return [name for name, is_given in given.items() if is_given]

    def records_step(self, number: int) -> bool:
        """Return whether a training step is recorded."""
        return number % self.every == 0 and (self.steps is None or number in self.steps)

    def keeps(self, op_type: str, dtype: Any) -> bool:
        """Return whether the filters let the outputs of an op type with a dtype through."""
        if self.op_regex and not self.op_regex.match(op_type):
            return False
        return self.tensor_dtypes is None or bool(self.tensor_dtypes(dtype))


def validated(
    dump_root: str,
    tensor_debug_mode: str,
    circular_buffer_size: int,
    op_regex: str | None = None,
    tensor_dtypes: TensorDtypes = None,
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
) -> Options:
    """See `enable_dump_debug_info`: return the options; raise what TensorFlow raises for them.

    Raises:
        ValueError: An argument is not one of its possible values.
        NotImplementedError: The mode exists but cannot be dumped.
        TypeError: An item of `tensor_dtypes` is not a dtype.
    """
    adaptive = tensor_debug_mode == ADAPTIVE
    mode = TensorDebugMode.CONCISE_HEALTH if adaptive else _mode(tensor_debug_mode)
    _check_numbers(every, magnitudes_every, max_gigabytes)
    _check_what_follows_bad(on_bad, keep_after_bad, circular_buffer_size)
    return Options(
        dump_root=_absolute(os.fspath(dump_root)),
        mode=mode,
        adaptive=adaptive,
        circular_buffer_size=circular_buffer_size,
        op_regex=re.compile(op_regex) if op_regex else None,
        tensor_dtypes=_dtype_filter(tensor_dtypes),
        every=every,
        steps=_range_of(steps),
        scope=Scope(layers or "", functions or "", lines or ""),
        magnitudes_every=magnitudes_every,
        max_gigabytes=max_gigabytes,
        keep_after_bad=keep_after_bad,
        on_bad=on_bad,
        run_id=run_id or os.environ.get(RUN_ID_VARIABLE),
    )


def _check_numbers(every: int, magnitudes_every: int | None, max_gigabytes: float | None) -> None:
    """Raise ValueError for a number of steps, or a size, that there cannot be.

    Args:
        every: See `enable_dump_debug_info`, as for the others.
        magnitudes_every: Steps.
        max_gigabytes: Size of all files.
    """
    if not isinstance(every, int) or every < 1:
        raise ValueError(f"every is a number of steps, 1 or more, but received {every!r}")
    if magnitudes_every is not None and (
        not isinstance(magnitudes_every, int) or magnitudes_every < 0
    ):
        raise ValueError(
            "magnitudes_every is a number of steps, or 0 for none, but received "
            f"{magnitudes_every!r}"
        )
    if max_gigabytes is not None and not max_gigabytes > 0:
        raise ValueError(f"max_gigabytes is a number above 0, but received {max_gigabytes!r}")


def _check_what_follows_bad(
    on_bad: str, keep_after_bad: int | None, circular_buffer_size: int
) -> None:
    """Raise ValueError for what cannot happen at the first bad tensor.

    Args:
        on_bad: See `enable_dump_debug_info`, as for the others.
        keep_after_bad: Events.
        circular_buffer_size: Events.
    """
    if on_bad not in ON_BAD:
        raise ValueError(f"on_bad is one of {', '.join(ON_BAD)}, but received {on_bad!r}")
    if keep_after_bad is not None and (keep_after_bad < 0 or circular_buffer_size <= 0):
        raise ValueError(
            "keep_after_bad is a number of events, 0 or more, and needs a circular_buffer_size, "
            f"but received {keep_after_bad!r} and {circular_buffer_size!r}"
        )


def _range_of(steps: str | None) -> range | None:
    """Return the steps from the first to the last one that a text such as ``1000..1010`` names."""
    if steps is None:
        return None
    match = _STEPS.fullmatch(str(steps))
    if match is None or int(match[1]) > int(match[2]):
        raise ValueError(
            f"steps is the first and the last, as '1000..1010', but received {steps!r}"
        )
    return range(int(match[1]), int(match[2]) + 1)


def _absolute(path: str) -> str:
    """Return a path that means the same when the program has changed its directory."""
    if "://" not in path:
        with contextlib.suppress(OSError):  # The current directory is gone.
            return os.path.abspath(path)
    return path


def _mode(name: str) -> TensorDebugMode:
    names = [*TensorDebugMode.__members__, ADAPTIVE]
    if name not in names:
        raise ValueError(
            f"Invalid value in tensor_debug_mode ('{name}'). Valid options are: {names}"
        )
    mode = TensorDebugMode[name]
    if mode not in DUMPABLE_MODES:
        raise NotImplementedError(
            f"tfdbg dumping: support for tensor debug mode {mode_name(mode)} is not implemented yet"
        )
    return mode


def _dtype_filter(tensor_dtypes: TensorDtypes) -> Callable[[Any], bool] | None:
    if tensor_dtypes is None or callable(tensor_dtypes):
        return tensor_dtypes
    if not isinstance(tensor_dtypes, (list, tuple)):
        raise ValueError(
            "If specified, tensor_dtypes is expected to be a list, a tuple, or a callable that "
            "takes a DType argument and returns a boolean, but received "
            f"{tensor_dtypes}"
        )
    if not tensor_dtypes:
        return None
    import tensorflow as tf

    wanted = {tf.as_dtype(item) for item in tensor_dtypes}
    return lambda dtype: dtype in wanted
