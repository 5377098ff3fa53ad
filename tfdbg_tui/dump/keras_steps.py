"""The batches of Keras' `fit` as training steps."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import weakref
from typing import Any

from tfdbg_tui.dump import steps
from tfdbg_tui.dump.interrupts import contained
from tfdbg_tui.dump.tensorflow import objects
from tfdbg_tui.dump.tensorflow.own_frames import LeftOutOfTracebacks

_next_batch = 0
"""The step after the latest batch of any `fit` since a dump began."""


_counted_in_vain: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
"""How many calls that found no batch an optimizer has counted: those at the end of data do."""


_in_doubt: _Batches | None = None
"""Whose batch has begun, and may turn out to be none; see `_Batches.take_back`."""


def out_of_data() -> None:
    """Note that a dataset has no more elements: what has asked for one is no batch."""
    if _in_doubt is not None:
        _in_doubt.take_back()


def next_batch() -> int:
    """Return the step that the next batch will be, if the program goes on with its steps."""
    return _next_batch


def number_batches_anew() -> None:
    """Let the batches of the next `fit` begin with 0 again, or with its optimizer's iterations."""
    global _next_batch
    _next_batch = 0


class _Batches:
    """Numbers the batches of one `fit` as steps, from `first`, or on from the last of any `fit`."""

    def __init__(self, first: int | None = None) -> None:
        self._next = first
        self._epoch = 0

    def begin_epoch(self, epoch: int) -> None:
        """Note which epoch the next batches are of, from 0 as Keras' callbacks count."""
        self.take_back()
        self._epoch = epoch

    def take_back(self) -> None:
        """Leave the step of a batch that has not ended, and give its number to the next one.

        Of data of unknown length Keras tells that a batch begins, and then finds that there is
        none.
        """
        global _next_batch, _in_doubt
        if _in_doubt is self and self._next is not None and steps.current == self._next - 1:
            self._next = _next_batch = self._next - 1
            steps.begin(None)
        _in_doubt = None

    def begin(self, model: Any, batch: int, params: Any) -> None:
        """Enter the step of a batch.

        Args:
            model: The model that is fitted.
            batch: The batch in its epoch, from 0 as Keras' callbacks count.
            params: What Keras tells callbacks of `fit`.
        """
        global _next_batch, _in_doubt
        number = max(_batches_of(model), _next_batch) if self._next is None else self._next
        self._next = _next_batch = number + 1
        is_length_known = not isinstance(params, dict) or params.get("steps") is not None
        _in_doubt = None if is_length_known else self
        together = _batches_together(model, int(batch), params)
        steps.begin(number, (int(self._epoch) + 1, int(batch) + 1, together))

    def end(self) -> None:
        """Leave the step, unless the next has begun: Keras may tell of an end in another thread."""
        global _in_doubt
        _in_doubt = None
        if self._next is not None and steps.current == self._next - 1:
            steps.begin(None)

    def end_fit(self, model: Any) -> None:
        """Note that no more batches of a model come."""
        self.take_back()
        _note_counted_in_vain(model)
        if self._next is not None and steps.current is None:
            steps.begin(None, steps.NO_BATCH)


def program_keras() -> Any:
    """Return the Keras that the program uses: `keras`, or `tf_keras` where it has that alone."""
    is_old = "tf_keras" in sys.modules and (
        "keras" not in sys.modules or os.environ.get("TF_USE_LEGACY_KERAS") in ("1", "true", "True")
    )
    return importlib.import_module("tf_keras" if is_old else "keras")


def make_step_callback() -> Any:
    """Return the class `StepCallback`; made on demand, as it needs Keras."""
    keras = program_keras()

    class StepCallback(keras.callbacks.Callback):  # type: ignore[name-defined, misc]
        """Marks each training batch of `fit` as a step: ``model.fit(..., callbacks=[...])``.

        Args:
            first: Number of the first batch; None goes on from the optimizer's iterations, or from
                the last batch of an earlier `fit` where that is later, as after compiling anew.
        """

        def __init__(self, first: int | None = None) -> None:
            super().__init__()
            self._batches = _Batches(first)

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            """Note the epoch."""
            self._batches.begin_epoch(epoch)

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            """Enter the next step."""
            self._batches.begin(self.model, batch, self.params)

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            """Leave the step."""
            self._batches.end()

        def on_test_begin(self, logs: Any = None) -> None:
            """Leave the step of a batch that turned out to be none."""
            self._batches.take_back()

        def on_train_end(self, logs: Any = None) -> None:
            """Note that no more batches come."""
            self._batches.end_fit(self.model)

    return StepCallback


def _batches_of(model: Any) -> int:
    """Return how many batches the optimizer of a model has counted; 0 where that is not known."""
    with contained():
        optimizer, iterations = _iterations(model)
        return iterations - _counted_in_vain.get(optimizer, 0)
    return 0


def _note_counted_in_vain(model: Any) -> None:
    with contained():
        optimizer, iterations = _iterations(model)
        _counted_in_vain[optimizer] = max(0, iterations - _next_batch)


def _iterations(model: Any) -> tuple[Any, int]:
    """Return the optimizer of a model, and what it counts.

    There may be no optimizer, in a graph no value, in other backends no method: that raises.
    """
    from tfdbg_tui.dump.tensorflow import own

    optimizer = objects.attributes(model).get("optimizer")
    with own.work():
        return optimizer, int(objects.library_property(optimizer, "iterations").numpy())


def _batches_together(model: Any, batch: int, params: Any) -> int:
    """Return how many batches Keras runs in one call, at most those that the epoch has left."""
    kept = objects.attributes(model)
    together = 1
    with contained():  # Of old Keras it is a variable; a program may have set anything.
        together = int(kept.get("steps_per_execution") or kept.get("_steps_per_execution") or 1)
        left = (params.get("steps") or batch + together) - batch
        together = min(together, left)
    return max(1, together)


def mark_keras_steps(keras: Any) -> None:
    """Make each batch of `fit` a step in a program that knows nothing of steps.

    What the program marks itself comes after it, and counts.

    Args:
        keras: The module `keras`, or `tf_keras`.
    """
    callback_list = keras.callbacks.CallbackList
    begin_epoch, end_train = callback_list.on_epoch_begin, callback_list.on_train_end
    begin_test = callback_list.on_test_begin
    begin_batch, end_batch = callback_list.on_train_batch_begin, callback_list.on_train_batch_end
    running: weakref.WeakKeyDictionary[Any, _Batches] = weakref.WeakKeyDictionary()

    @functools.wraps(begin_epoch)
    def on_epoch_begin(self: Any, epoch: int, *args: Any, **kwargs: Any) -> Any:
        running.setdefault(self, _Batches()).begin_epoch(epoch)
        with LeftOutOfTracebacks():
            return begin_epoch(self, epoch, *args, **kwargs)

    @functools.wraps(begin_batch)
    def on_train_batch_begin(self: Any, batch: int, *args: Any, **kwargs: Any) -> Any:
        model, params = getattr(self, "model", None), getattr(self, "params", None)
        running.setdefault(self, _Batches()).begin(model, batch, params)
        with LeftOutOfTracebacks():
            return begin_batch(self, batch, *args, **kwargs)

    @functools.wraps(end_batch)
    def on_train_batch_end(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            with LeftOutOfTracebacks():
                return end_batch(self, *args, **kwargs)
        finally:
            running.setdefault(self, _Batches()).end()

    @functools.wraps(begin_test)
    def on_test_begin(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self in running:
            running[self].take_back()
        with LeftOutOfTracebacks():
            return begin_test(self, *args, **kwargs)

    @functools.wraps(end_train)
    def on_train_end(self: Any, *args: Any, **kwargs: Any) -> Any:
        running.setdefault(self, _Batches()).end_fit(getattr(self, "model", None))
        with LeftOutOfTracebacks():
            return end_train(self, *args, **kwargs)

    callback_list.on_epoch_begin = on_epoch_begin
    callback_list.on_test_begin = on_test_begin
    callback_list.on_train_end = on_train_end
    callback_list.on_train_batch_begin = on_train_batch_begin
    callback_list.on_train_batch_end = on_train_batch_end
