"""Settings of TensorFlow that must be made before it starts a GPU."""

from __future__ import annotations

import os


def pytest_configure() -> None:
    """Split the first GPU where TFDBG_TUI_LOGICAL_GPUS says so."""
    parts = int(os.environ.get("TFDBG_TUI_LOGICAL_GPUS", "1"))
    if parts < 2:
        return
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        part = tf.config.LogicalDeviceConfiguration(memory_limit=4096)
        tf.config.set_logical_device_configuration(gpus[0], [part] * parts)
