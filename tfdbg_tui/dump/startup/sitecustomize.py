"""Waits for TensorFlow in the program that ``tfdbg-tui run`` has started, and in its children.

`tfdbg_tui.program` puts this directory on PYTHONPATH, and Python imports a module of this name at
its start, before the program.  So the program is started by Python itself, as without us, and
until it imports TensorFlow nothing but this module is loaded: it imports no file, as a program may
have files that are named like those of the standard library.  Children may be older Pythons.
"""

import atexit
import os
import sys
from _frozen_importlib_external import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.dirname(_HERE)))
_LOGDIR = os.environ.get("TFDBG_TUI_LOGDIR", "")
_OPTIONS = os.environ.get("TFDBG_TUI_OPTIONS", "{}")

_without_tensorflow: "list[Any]" = []
"""Packages of Keras that compute with another library, as long as nothing imports TensorFlow."""


class ImportWatcher:
    """A finder that acts when one of some packages has been imported by the program."""

    def __init__(self, actions: "dict[str, Callable[[Any], None]]") -> None:
        self._actions = actions

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "ModuleSpec | None":
        """Find a watched package as the later finders do, and tfdbg_tui where this file is.

        Args:
            name: Name of the module, in full.
            path: Where its package looks for it; None at the top.
            target: As Python gives it to finders.
        """
        if name == "tfdbg_tui":
            return PathFinder.find_spec(name, [_PACKAGE_PARENT])
        if name not in self._actions:
            return None
        finders = sys.meta_path[:]
        for finder in finders[finders.index(self) + 1 :]:  # Python has asked those before.
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find else None
            if spec is not None:
                _call_after_import(spec.loader, self._actions[name])
                return spec
        return None


def _call_after_import(loader: "Any", action: "Callable[[Any], None]") -> None:
    """Let a loader call `action` with the module that it has executed, if that did not raise."""
    execute = loader.exec_module

    def exec_module(module: "Any") -> None:
        del loader.exec_module
        execute(module)
        action(module)

    # Python leaves importlib's frames out of tracebacks and of the stack levels of warnings.
    importlib_file = PathFinder.find_spec.__code__.co_filename
    exec_module.__code__ = exec_module.__code__.replace(co_filename=importlib_file)
    loader.exec_module = exec_module


def _record(tensorflow: "Any") -> None:
    """Enable the dump writer; where that fails, the program goes on without."""
    try:
        import json

        from tfdbg_tui.dump import enable_for_program

        enable_for_program(_LOGDIR, **json.loads(_OPTIONS))
    except Exception as error:
        _warn("the program is not recorded", error)
    while _without_tensorflow:
        _mark_steps(_without_tensorflow.pop())


def _mark_steps(keras: "Any") -> None:
    """Make each batch of `fit` a step; where that fails, the program goes on without."""
    if "tensorflow" not in sys.modules:
        _without_tensorflow.append(keras)
        return
    try:
        from tfdbg_tui.dump import mark_steps_for_program

        mark_steps_for_program(keras)
    except Exception as error:
        _warn("the batches of fit are not recorded as steps", error)


def _warn(what: str, error: Exception) -> None:
    if sys.stderr is not None:
        sys.stderr.write("tfdbg-tui: %s: %s\n" % (what, error or type(error).__name__))  # noqa: UP031


def _finish() -> None:
    dump = sys.modules.get("tfdbg_tui.dump")
    if dump is not None:
        dump.disable_dump_debug_info()


def _write_log_by_lines(logdir: str) -> None:
    """Write the program's log line by line, as on the terminal that it stands for."""
    try:
        output = os.fstat(1)
        logs = [entry for entry in os.scandir(logdir) if entry.name.startswith("program.")]
        is_log = any(os.path.samestat(output, entry.stat()) for entry in logs)
    except OSError:
        return
    if is_log and sys.stdout is not None:
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]


def _let_lead_group() -> None:
    """Let `os.setpgrp` do nothing where a process leads a group already, as in a shell.

    Who leads a session, as the program does, leads its group, but the system refuses to say so.
    """
    set_group = os.setpgid

    def setpgid(*ids: int) -> None:
        process = os.getpid()
        if os.getsid(0) != process or not {0, process}.issuperset(ids):
            set_group(*ids)

    os.setpgid = setpgid
    os.setpgrp = lambda: setpgid(0, 0)


def _start(logdir: str) -> None:
    actions = {"tensorflow": _record, "keras": _mark_steps, "tf_keras": _mark_steps}
    sys.meta_path.insert(0, ImportWatcher(actions))
    atexit.register(_finish)  # Before any of the program's own, so that it runs after them.
    _write_log_by_lines(logdir)
    _let_lead_group()


def _run_hidden_sitecustomize() -> None:
    """Import the module that Python would have imported in place of this one."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
    sys.path_importer_cache.pop(_HERE, None)
    del sys.modules[__name__]
    __import__(__name__)  # If there is none, Python expects this to raise, and goes on.


if _LOGDIR:
    _start(_LOGDIR)
_run_hidden_sitecustomize()
