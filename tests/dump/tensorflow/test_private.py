"""One door to TensorFlow: what is used of its insides is used here, and is looked for first."""

from __future__ import annotations

import ast
import contextlib
import importlib
import logging
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui import dump  # noqa: E402
from tfdbg_tui.dump.tensorflow import private  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DUMP = Path(dump.__file__).parent
PACKAGE = Path(private.__file__).parent
PUBLIC_OF_NAMEDTUPLES = {"_fields", "_replace"}
PRIVATE_OF_PYTHON = {
    "_at_fork_reinit",
    "_current_frames",
    "_getframe",
    "_inheriting",
    "_is_owned",
    "_send_bytes",
}


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text("utf-8"), str(path)))


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the modules and names that a file imports from inside of TensorFlow."""
    yield from imported_by(nodes(path))


def optional_imports(path: Path) -> Iterator[tuple[str, str]]:
    """Yield those of them that it does without where they are missing."""
    for node in nodes(path):
        if isinstance(node, ast.Try):
            yield from imported_by(node.body)


def imported_by(some: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in some:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tensorflow."):
            yield from ((str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("tensorflow."):
                    yield alias.name, ""


def private_attributes(path: Path) -> Iterator[str]:
    """Yield the private attributes that a file takes of objects that are not its own."""
    defined = {node.name for node in nodes(path) if isinstance(node, ast.FunctionDef)}
    for node in nodes(path):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Store):
            base, name = node.value, node.attr
            is_own = isinstance(base, ast.Name) and base.id in ("self", "cls")
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "setattr"):
            literal = node.args[1]
            name = str(literal.value) if isinstance(literal, ast.Constant) else ""
            is_own = False
        else:
            continue
        is_private = name.startswith("_") and not name.startswith("__")
        allowed = PUBLIC_OF_NAMEDTUPLES | PRIVATE_OF_PYTHON | defined
        if is_private and not is_own and name not in allowed:
            yield f"{path.name}: {ast.unparse(node)}"


def test_only_one_package_knows_the_inside_of_tensorflow() -> None:
    others = [path for path in DUMP.rglob("*.py") if PACKAGE not in path.parents]
    assert [found for path in others for found in imports(path)] == []
    assert [found for path in DUMP.rglob("*.py") for found in private_attributes(path)] == []


def test_modules_of_tensorflow_are_imported_only_to_be_wrapped() -> None:
    """What is used of a module is imported by its name, or declared: both are looked for."""
    assert private.missing() is None
    owners = [declaration.owner for declaration in private.declarations.values()]
    for path in PACKAGE.glob("*.py"):
        for module, name in imports(path):
            found = getattr(importlib.import_module(module), name)
            assert not _is_module(found) or found in owners, (path.name, name)


def _is_module(found: object) -> bool:
    return isinstance(found, type(sys))


OPTIONAL = {found for path in PACKAGE.glob("*.py") for found in optional_imports(path)}
IMPORTED = sorted({found for path in PACKAGE.glob("*.py") for found in imports(path)} - OPTIONAL)


@contextlib.contextmanager
def without_attribute(declaration: private.Declaration) -> Iterator[None]:
    owner, name = declaration.owner, declaration.name
    kinds = owner.__mro__ if isinstance(owner, type) else (owner, *type(owner).__mro__)
    with pytest.MonkeyPatch.context() as patch:
        for kind in kinds:
            if name in vars(kind) and kind is not object:
                patch.delattr(kind, name)
        yield


@contextlib.contextmanager
def without_import(module: str, name: str) -> Iterator[None]:
    """Take a name out of a module of TensorFlow's; the modules of the package are imported anew."""
    found = sys.modules[module]
    with pytest.MonkeyPatch.context() as patch:
        if _is_module(getattr(found, name)):
            patch.setitem(sys.modules, f"{module}.{name}", None)
        patch.delattr(found, name)
        for path in PACKAGE.glob("*.py"):
            own_module = f"{private.__package__}.{path.stem}"
            if path.stem != "private" and own_module in sys.modules:
                patch.delitem(sys.modules, own_module)
                patch.delattr(sys.modules[str(private.__package__)], path.stem)
        yield


def program() -> Any:
    """Return what a small program computes."""
    function = tf.function(lambda x: tf.math.log(x) + 1.0, autograph=False)
    return tf.add(function(tf.constant([0.0, 1.0])), 1.0).numpy()


def test_what_cannot_be_looked_at_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that TensorFlow has moved to C++ has no signature: nothing is raised."""
    moved = private.Declaration(SimpleNamespace(run={}.update), "run", ("self",))
    monkeypatch.setitem(private.declarations, ("moved",), moved)
    assert "no signature found" in (private.missing() or "")


@pytest.mark.parametrize("kind", ["attributes", "imports"])
def test_any_of_it_is_missed(kind: str) -> None:
    cases = {
        "attributes": [(d.name, without_attribute(d)) for d in private.declarations.values()],
        "imports": [(name, without_import(module, name)) for module, name in IMPORTED],
    }
    for name, absence in cases[kind]:
        with absence:
            assert name in (private.missing() or "")
    assert private.missing() is None
    assert len(cases[kind]) > 20


def test_what_may_be_missing() -> None:
    for module, name in sorted(OPTIONAL):
        with without_import(module, name):
            assert private.missing() is None
    assert ("tensorflow.lite.python.interpreter", "Interpreter") in OPTIONAL


def test_with_any_of_it_missing_tensorflow_itself_records(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = program()
    monkeypatch.setattr(private, "missing", lambda: "no signature found")
    with caplog.at_level(logging.WARNING, "tfdbg_tui"):
        tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CURT_HEALTH", -1)
    np.testing.assert_array_equal(program(), expected)
    dump.disable_dump_debug_info()
    (warning,) = (r.getMessage() for r in caplog.records if r.name == "tfdbg_tui")
    assert "no signature found" in warning
    assert "TensorFlow's own dump instrumentation is used instead" in warning
    assert list(tmp_path.glob("*.execution"))
