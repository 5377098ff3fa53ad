"""Training steps: which step a record belongs to."""

from __future__ import annotations

import contextlib
import functools
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

current: int | None = None
"""The training step that the program is in; None outside of any."""

listeners: list[Callable[[int | None], None]] = []
"""Told of every step before it begins, and of None before it ends."""


def begin(number: int | None) -> None:
    """Enter a step (None: leave it)."""
    global current
    for listener in tuple(listeners):
        listener(number)
    current = number


@contextlib.contextmanager
def step(number: int) -> Iterator[None]:
    """Mark what runs inside as one training step.

    The number is written into every record, and `every` counts by it.  Steps belong to the whole
    process, not to a thread.

    Args:
        number: The step, 0 or more.

    Raises:
        ValueError: The number is negative.
    """
    if number < 0:
        raise ValueError(f"a step is a number from 0, but received {number}")
    before = current
    begin(int(number))
    try:
        yield
    finally:
        begin(before)


class _Batches:
    """Numbers the batches of one `fit` as steps, from `first`, or on from the model's last."""

    def __init__(self, first: int | None = None) -> None:
        self._next = first

    def begin(self, model: Any) -> None:
        """Enter the step of the next batch."""
        if self._next is None:
            self._next = _iterations(model)
        begin(self._next)
        self._next += 1

    def end(self) -> None:
        """Leave the step, unless the next has begun: Keras may tell of an end in another thread."""
        if self._next is not None and current == self._next - 1:
            begin(None)


def make_step_callback() -> Any:
    """Return the class `StepCallback`; made on demand, as it needs Keras."""
    import keras

    class StepCallback(keras.callbacks.Callback):  # type: ignore[misc]
        """Marks each training batch of `fit` as a step: ``model.fit(..., callbacks=[...])``.

        Args:
            first: Number of the first batch; None goes on from the optimizer's iterations, or
                begins with 0 where the model has none that can be read.
        """

        def __init__(self, first: int | None = None) -> None:
            super().__init__()
            self._batches = _Batches(first)

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            """Enter the next step."""
            self._batches.begin(self.model)

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            """Leave the step."""
            self._batches.end()

    return StepCallback


def _iterations(model: Any) -> int:
    optimizer = getattr(model, "optimizer", None)
    try:
        return int(optimizer.iterations.numpy()) if optimizer is not None else 0
    except Exception:  # In a TensorFlow 1 graph it has no value, in other backends no such method.
        return 0


def mark_keras_steps(keras: Any) -> None:
    """Make each batch of `fit` a step in a program that knows nothing of steps.

    What the program marks itself comes after it, and counts.

    Args:
        keras: The module `keras`, or `tf_keras`.
    """
    callback_list = keras.callbacks.CallbackList
    begin_batch, end_batch = callback_list.on_train_batch_begin, callback_list.on_train_batch_end
    running: weakref.WeakKeyDictionary[Any, _Batches] = weakref.WeakKeyDictionary()

    @functools.wraps(begin_batch)
    def on_train_batch_begin(self: Any, *args: Any, **kwargs: Any) -> Any:
        running.setdefault(self, _Batches()).begin(getattr(self, "model", None))
        return begin_batch(self, *args, **kwargs)

    @functools.wraps(end_batch)
    def on_train_batch_end(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return end_batch(self, *args, **kwargs)
        finally:
            running.setdefault(self, _Batches()).end()

    callback_list.on_train_batch_begin = on_train_batch_begin
    callback_list.on_train_batch_end = on_train_batch_end
