"""The public interface: what it names, how its objects are shown, and the form of its JSON."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tfdbg_tui
from tfdbg_tui import diagnosis
from tfdbg_tui.cli import main
from tfdbg_tui.diagnosis.report.schemas import schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from tests.conftest import RecordedLogdirs

PACKAGE = Path(tfdbg_tui.__file__).parent
LONGEST = 24 * 80  # characters: one screen
LOGDIRS = ("mnist", "control_flow", "session", "curt_health", "no_tensor", "full_tensor")


@pytest.mark.parametrize("package", [tfdbg_tui, diagnosis], ids=lambda package: package.__name__)
def test_every_public_name_is_there(package: ModuleType) -> None:
    for name in package.__all__:
        if "dump" not in name and name != "step":  # those import TensorFlow
            assert getattr(package, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing


@pytest.mark.parametrize("name", LOGDIRS)
def test_a_repr_fits_on_a_screen(logdirs: RecordedLogdirs, name: str) -> None:
    run = tfdbg_tui.open_run(logdirs[name])
    report = tfdbg_tui.diagnose(run)
    graph = next(iter(run.graphs.values()))
    path = run.source_paths[0]
    shown = [run, run.files, run.executions, run.graph_executions, graph, report, run.source(*path)]
    shown += [*run.executions[:3], *run.graph_executions[:3], *report.roots, *graph.ops.values()]
    for value in shown:
        assert 0 < len(repr(value)) < LONGEST, type(value)


def test_a_repr_fits_on_a_screen_whatever_is_in_it(logdirs: RecordedLogdirs) -> None:
    run = tfdbg_tui.open_run(logdirs["mnist"])
    execution = replace(
        run.executions[0],
        op_type="f" * 100_000,
        input_tensor_ids=tuple(range(100_000)),
        outputs=run.executions[0].outputs * 100_000,
    )
    assert len(repr(execution)) < LONGEST
    files = replace(run.files, directory="\x1b[2J" * 10_000)
    assert len(repr(files)) < LONGEST
    told = replace(run, files=files)
    assert len(repr(told)) < LONGEST
    assert "\x1b" not in repr(told) + told._repr_html_() + repr(files)


def test_a_notebook_shows_no_markup_of_the_logdir(logdirs: RecordedLogdirs) -> None:
    run = tfdbg_tui.open_run(logdirs["mnist"])
    report = tfdbg_tui.diagnose(run)
    hostile = replace(report.roots[0], evidence="<script>")
    html = replace(report, roots=(hostile,))._repr_html_()
    assert "&lt;script&gt;" in html
    assert (
        "<script>"
        not in html + replace(run, files=replace(run.files, directory="<script>"))._repr_html_()
    )


def test_events_are_a_sequence(logdirs: RecordedLogdirs) -> None:
    for events in (
        (run := tfdbg_tui.open_run(logdirs["mnist"])).executions,
        run.graph_executions,
    ):
        every = list(events)
        assert every[3:9:2] == list(events[3:9:2])
        assert list(reversed(events)) == every[::-1]
        assert events[-1] == every[-1]
        assert events[len(every) :] == ()


@pytest.mark.parametrize("command", ["info", "diagnose"])
@pytest.mark.parametrize("name", LOGDIRS)
def test_json_is_of_its_schema(
    logdirs: RecordedLogdirs, name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    main([command, str(logdirs[name]), "--json"])
    content = json.loads(capsys.readouterr().out)
    assert content["schema_version"] == 1
    jsonschema.validate(content, closed(schema(command)))


def test_json_of_several_logdirs_is_of_its_schema(
    logdirs: RecordedLogdirs, capsys: pytest.CaptureFixture[str]
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    main(["diagnose", *(str(logdirs[name]) for name in LOGDIRS), "missing", "--json"])
    content = json.loads(capsys.readouterr().out)
    assert len(content["jobs"]) == len(LOGDIRS)
    assert [one["path"] for one in content["unread"]] == ["missing"]
    jsonschema.validate(content, closed(schema("fleet")))


def closed(part: Any) -> Any:
    """Returns a schema that refuses fields it does not name, so that none is left out of it."""
    if isinstance(part, list):
        return [closed(item) for item in part]
    if not isinstance(part, dict):
        return part
    inner = {key: closed(value) for key, value in part.items()}
    return {**inner, "additionalProperties": False} if part.get("type") == "object" else inner


def test_functions_of_three_arguments_and_more_say_what_they_take() -> None:
    """Those that say "See" another one, which they override or complete, aside."""
    silent = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in PACKAGE.rglob("*.py")
        for name, arguments, docstring in documented(ast.parse(path.read_text("utf-8")))
        if arguments >= 3 and "Args:" not in docstring and not docstring.startswith("See ")
    ]
    assert silent == []


def documented(scope: ast.Module | ast.ClassDef) -> Iterator[tuple[str, int, str]]:
    """Yield name, number of arguments and docstring of each public function and class."""
    for node in scope.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for name, arguments, docstring in documented(node):
                made = name == "__init__"
                text = docstring + (ast.get_docstring(node) or "") if made else docstring
                yield f"{node.name}.{name}", arguments, text
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_public(node.name):
            taken = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            rest = sum(found is not None for found in (node.args.vararg, node.args.kwarg))
            count = sum(argument.arg not in ("self", "cls") for argument in taken) + rest
            yield node.name, count, ast.get_docstring(node) or ""


def test_classes_that_tell_their_attributes_tell_those_that_there_are() -> None:
    for path in PACKAGE.rglob("*.py"):
        classes = [
            n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if type(n) is ast.ClassDef
        ]
        for node in classes:
            told = attributes_told(ast.get_docstring(node) or "")
            names = {getattr(n, "id", getattr(n, "attr", "")) for n in ast.walk(node)}
            assert told <= names | {getattr(n, "name", "") for n in node.body}, (path, node.name)
            fields = [n for n in node.body if isinstance(n, ast.AnnAssign)]
            public = {ast.unparse(n.target) for n in fields if "ClassVar" not in ast.unparse(n)}
            untold = {name for name in public - told if is_public(name)}
            assert not told or not untold, (path, node.name, untold)


def attributes_told(docstring: str) -> set[str]:
    """Returns the names below "Attributes:"."""
    section = re.search(r"^Attributes:\n((?:    .*\n|\n)*)", docstring + "\n", re.MULTILINE)
    return set(re.findall(r"^    (\w+):", section[1], re.MULTILINE)) if section else set()


def is_public(name: str) -> bool:
    return name == "__init__" or not name.startswith("_")
