"""Training steps: which step a record belongs to."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

current: int | None = None
"""The training step that the program is in; None outside of any."""

listeners: list[Callable[[int | None], None]] = []
"""Told of every step that begins, and of None when it ends."""


def begin(number: int | None) -> None:
    """Enter a step (None: leave it)."""
    global current
    current = number
    for listener in tuple(listeners):
        listener(number)


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


def make_step_callback() -> Any:
    """Return the class `StepCallback`; made on demand, as it needs Keras."""
    import keras

    class StepCallback(keras.callbacks.Callback):  # type: ignore[misc]
        """Marks each training batch of `fit` as a step: ``model.fit(..., callbacks=[...])``.

        Args:
            first: Number of the first batch; None goes on from the optimizer's iterations, or
                begins with 0 where the model has no optimizer of its own.
        """

        def __init__(self, first: int | None = None) -> None:
            super().__init__()
            self._next = first

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            """Enter the next step."""
            if self._next is None:
                self._next = _iterations(self.model)
            begin(self._next)
            self._next += 1

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            """Leave the step."""
            begin(None)

    return StepCallback


def _iterations(model: Any) -> int:
    optimizer = getattr(model, "optimizer", None)
    return int(optimizer.iterations.numpy()) if optimizer is not None else 0


def mark_keras_steps() -> None:
    """Give each `fit` of a program that knows nothing of steps a `StepCallback`."""
    import keras

    callback_list = keras.callbacks.CallbackList
    step_callback = make_step_callback()
    original = callback_list.__init__

    @functools.wraps(original)
    def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        callback = step_callback()
        callback.set_model(self.model)
        # The first of all: what a program marks itself comes after it and counts.
        self.callbacks.insert(0, callback)

    callback_list.__init__ = initialise
