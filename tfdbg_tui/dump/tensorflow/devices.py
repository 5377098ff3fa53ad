"""Devices: their full names, and whether there is more than the CPU."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import tensorflow as tf
from tensorflow.python.eager.context import Context, context, eager_mode

from tfdbg_tui.dump.tensorflow.private import attribute, method

if TYPE_CHECKING:
    from collections.abc import Iterable

_device_name = attribute(Context, "device_name")
_host_address_space = method(Context, "host_address_space")
_ensure_initialized = method(Context, "ensure_initialized")


_known_as_started: WeakSet[Any] = WeakSet()


def _started(current: Any) -> Any:
    """Return a context, started as by an eager op: started in a graph, it has no soft placement."""
    if current not in _known_as_started:
        with eager_mode():
            _ensure_initialized(current)
        _known_as_started.add(current)
    return current


def has_accelerator() -> bool:
    """Return whether this process computes on anything but CPUs."""
    _started(context())
    return any(d.device_type != "CPU" for d in tf.config.list_logical_devices())


def is_custom(device: str) -> bool:
    """Return whether a device is one like that of DTensor, which knows no Python."""
    return "device:CUSTOM:" in device


def runs_on_custom(inputs: Iterable[Any]) -> bool:
    """Return whether a function that takes eager tensors runs on such a device.

    It does where the program has chosen it, too: `call_with_layout` does.
    """
    chosen = _device_name(context()) or ""
    return is_custom(chosen) or any(is_custom(tensor.device) for tensor in inputs)


class Names:
    """The names of devices with job, replica, task and index, as they are while a graph is read.

    To ask TensorFlow where this process is takes twenty microseconds, so it is asked once for all
    tensors of a graph.

    Args:
        caller: A device of another process that runs the graph; "" for none.
    """

    def __init__(self, caller: str = "") -> None:
        self._address = caller or _host_address_space(_started(context()))
        self._accelerated = not caller and has_accelerator()

    def full(self, device: str) -> str:
        """Return the whole name of a device.

        An op without a device is placed by TensorFlow at run time, on the first accelerator where
        there is one; the name given here is that default.

        Args:
            device: As much of the name as is known.
        """
        return _full_name(device or "", self._address, self._accelerated)


def own_cpu() -> str:
    """Return the name by which other processes know the CPU of this one."""
    return _full_name("/device:CPU:0", _host_address_space(_started(context())), False)


def remote() -> str | None:
    """Return the device that the program has chosen, if it is another process's; else None."""
    device = _device_name(context())
    if not device or "/job:" not in device:
        return None
    mine = tf.DeviceSpec.from_string(_host_address_space(_started(context())))
    chosen = mine.make_merged_spec(tf.DeviceSpec.from_string(device))
    is_mine = (chosen.job, chosen.replica, chosen.task) == (mine.job, mine.replica, mine.task)
    return None if is_mine else device


@functools.lru_cache(maxsize=1024)
def _full_name(device: str, address: str, accelerated: bool) -> str:
    spec = tf.DeviceSpec.from_string(address).make_merged_spec(tf.DeviceSpec.from_string(device))
    if spec.device_type is None:
        spec = spec.replace(device_type="GPU" if accelerated else "CPU", device_index=0)
    return str(spec.replace(device_index=spec.device_index or 0).to_string())
