"""What runs of sessions want, and callables of sessions that compute more than the program's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf.config_pb2 import CallableOptions
from tensorflow.python.client.session import BaseSession

from tfdbg_tui.dump.tensorflow.private import attribute, declare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

CALL = declare(attribute(BaseSession, "_Callable")(BaseSession), "__call__", "self")
"""How the program calls a callable of a session."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a program wants of a session.

    Attributes:
        targets: Ops to run.
        fetches: Tensors whose values it asks for.
        feeds: References to the tensors that it gives values for.
        sources: Ops of the tensors whose values some of these take.
        fits: Whether the values are of the shapes that the graph knows.
        are_values: Whether TensorFlow can make tensors of what it gives, else it raises.
    """

    targets: Sequence[Any]
    fetches: Sequence[Any]
    feeds: Sequence[Any]
    sources: Sequence[Any] = ()
    fits: bool = True
    are_values: bool = True

    @property
    def fed(self) -> list[Any]:
        """The tensors that it gives values for."""
        return [reference.deref() for reference in self.feeds]

    @property
    def ops(self) -> list[Any]:
        """The ops that have to run for it."""
        return [*self.targets, *self.sources, *(tensor.op for tensor in self.fetches)]


class ProgramsCallable:
    """How the program has made a callable of a session, by `_make_callable_from_options`.

    Args:
        session: The session.
        options: What the callable computes, a CallableOptions.
        make: Makes one of a session and such options.

    Attributes:
        session: The session.
        stays_on_devices: Whether it takes or gives values that Python does not have.
    """

    def __init__(self, session: Any, options: Any, make: Callable[[Any, Any], Any]) -> None:
        self.session = session
        self._options = CallableOptions()
        self._options.CopyFrom(options)
        self._make = make
        self._made: dict[Any, Any] = {}
        self._added: list[str] = []
        self.stays_on_devices = bool(options.feed_devices or options.fetch_devices)
        connections = options.tensor_connection
        self._fed = self._tensors(options.feed)
        sources = self._tensors(connection.from_tensor for connection in connections)
        connected = self._tensors(connection.to_tensor for connection in connections)
        self._wanted = Wanted(
            [session.graph.get_operation_by_name(name) for name in options.target],
            self._tensors(options.fetch),
            [tensor.ref() for tensor in (*self._fed, *connected)],
            [tensor.op for tensor in sources],
            all(map(_is_as_certain, sources, connected)),
        )

    def wanted(self, values: Sequence[Any]) -> Wanted | None:
        """Return what the callable computes when it is called with some values.

        TensorFlow does not look whether they fit, as it does where a session is run.

        Returns:
            None where it takes more or less values, and so raises.
        """
        if len(values) != len(self._fed):
            return None
        arrays = list(map(_array, values))
        if any(array is None for array in arrays):
            return replace(self._wanted, fits=False, are_values=False)
        given = zip(self._fed, arrays, strict=True)
        fits = all(tensor.shape.is_compatible_with(array.shape) for tensor, array in given)
        return replace(self._wanted, fits=fits and self._wanted.fits)

    def _tensors(self, names: Iterable[str]) -> list[Any]:
        named = (name if ":" in name else f"{name}:0" for name in names)
        return list(map(self.session.graph.get_tensor_by_name, named))

    def with_ops(
        self,
        targets: Sequence[Any],
        fetches: Sequence[Any],
        added: Mapping[Any, Any],
        is_programs: bool,
    ) -> Any:
        """Return a callable that takes the same values, and some after them, for other ops.

        Args:
            targets: The ops to run.
            fetches: The tensors whose values it gives.
            added: What else it is given values for, by references.
            is_programs: Whether it runs with the program's options of a run.
        """
        names = [reference.deref().name for reference in added]
        if names and names != self._added:
            self.forget()  # They are of another dump.
            self._added = names
        key = (*map(id, (*targets, *fetches)), len(fetches), is_programs)  # All are of the graph.
        if key not in self._made:
            options = CallableOptions()
            options.CopyFrom(self._options)
            if not is_programs:
                options.ClearField("run_options")
            options.target[:] = [op.name for op in targets]
            options.fetch[:] = [tensor.name for tensor in fetches]
            options.feed.extend(names)
            self._made[key] = self._make(self.session, options)
        return self._made[key]

    def forget(self) -> None:
        """Give back what was made: no dump is on."""
        self._made.clear()


def _array(value: Any) -> Any:
    """Return what is fed as an array; None where TensorFlow makes no tensor of it."""
    try:
        array = np.asarray(value)
        tf.as_dtype(array.dtype)
    except (TypeError, ValueError):
        return None
    is_text = array.dtype != object or all(isinstance(one, (bytes, str)) for one in array.flat)
    return array if is_text else None


def _is_as_certain(source: Any, fed: Any) -> bool:
    """Return whether what is known of the shape of a tensor holds of another that is fed to it."""
    return bool(source.shape.is_subtype_of(fed.shape))
