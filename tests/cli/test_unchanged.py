"""`tfdbg-tui run` changes nothing that a program sees of its process, until it imports TensorFlow.

Python itself starts the program; each of these small programs prints the same and ends in the same
way with and without it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipapp
from typing import TYPE_CHECKING

import pytest

from tests.cli.unchanged_programs import PROGRAMS
from tfdbg_tui.program import recording_environment

if TYPE_CHECKING:
    from pathlib import Path

SHADOWING = "random.py", "json.py", "typing.py", "tensorflow.py", "keras.py"
USERS = {
    "shadows": ("random.py", "json.py", "typing.py"),
    "fails in tensorflow": ("tensorflow.py",),
    "fails in keras, twice": ("keras.py",),
}
PACKAGE = {
    "__init__.py": "print('package', __name__, __package__)\n",
    "__main__.py": "import sys; from . import part; 1 / part.nothing\n",
    "part.py": "import sys; nothing = 0; print(sys.argv, sys.path[0], __spec__.name)\n",
}
MAIN = "import sys; print(sys.argv, sys.path[0], __file__, __spec__, __package__, __name__)\n"


def outcome(
    arguments: list[str], directory: Path, logdir: Path | None = None, **variables: str
) -> tuple[str, str, int]:
    """Returns output, errors and exit code of a Python process, recorded if there is a logdir."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONPATH", raising=False)
        for name, value in variables.items():
            patch.setenv(name, value)
        environment = recording_environment(str(logdir), {}) if logdir else dict(os.environ)
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=directory,
        env=environment,
        input=b"Ada\nmore\n",
        capture_output=True,
        timeout=60,
        check=False,
    )
    out, errors = (re.sub(r"0x[0-9a-f]+", "0x", s.decode()) for s in (done.stdout, done.stderr))
    return out, errors, done.returncode


def same(arguments: list[str], directory: Path, **variables: str) -> tuple[str, str, int]:
    plain = outcome(arguments, directory, None, **variables)
    assert outcome(arguments, directory, directory / "logdir", **variables) == plain
    return plain


@pytest.mark.parametrize("name", [name for name in PROGRAMS if not name.endswith(".py")])
def test_a_program_is_as_without(name: str, tmp_path: Path) -> None:
    for other in PROGRAMS:
        if other.endswith(".py") and (other not in SHADOWING or other in USERS.get(name, ())):
            (tmp_path / other).write_text(PROGRAMS[other])
    (tmp_path / "program.py").write_text(PROGRAMS[name])
    out, errors, exit_code = same(
        ["program.py", "an", "argument"], tmp_path, PYTHONHASHSEED="7", TF_CPP_MIN_LOG_LEVEL="2"
    )
    assert out or errors or exit_code or name == "exit with None", "the program says something"


@pytest.mark.parametrize(
    "options",
    [["-P"], ["-W", "error"], ["-X", "dev"], ["-O"], ["-u"], ["-B"], ["-X", "utf8=0"], ["-s"]],
    ids=" ".join,
)
def test_python_options_mean_what_they_do_without(options: list[str], tmp_path: Path) -> None:
    names = "flags", "path", "streams", "warnings", "warns"
    (tmp_path / "program.py").write_text("".join(PROGRAMS[name] for name in names))
    same([*options, "program.py"], tmp_path)


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONSAFEPATH": "1"},
        {"PYTHONPATH": ".:/nowhere::"},
        {"PYTHONUNBUFFERED": "1"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONWARNINGS": "ignore"},
        {"PYTHONDEVMODE": "1"},
        {"PYTHONSTARTUP": "nowhere.py"},
        {"LC_ALL": "C", "PYTHONUTF8": "0"},
    ],
    ids=str,
)
def test_python_variables_mean_what_they_do_without(
    variables: dict[str, str], tmp_path: Path
) -> None:
    names = "flags", "path", "streams", "warnings", "warns"
    (tmp_path / "program.py").write_text("".join(PROGRAMS[name] for name in names))
    same(["program.py"], tmp_path, **variables)


@pytest.mark.parametrize("source", ["print('customized')", "1 / 0", "import nowhere_to_be_found"])
def test_a_sitecustomize_of_the_user_is_run(source: str, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(source + "\n")
    (tmp_path / "program.py").write_text("import sys\nprint(sys.modules.get('sitecustomize'))\n")
    out, errors, _ = same(["program.py"], tmp_path, PYTHONPATH="site")
    assert "customized" in out or "Error" in errors


def test_packages_directories_and_archives_are_run_as_python_does(tmp_path: Path) -> None:
    for folder in ("package", "folder"):
        (tmp_path / folder).mkdir()
    for name, source in PACKAGE.items():
        (tmp_path / "package" / name).write_text(source)
    (tmp_path / "folder" / "__main__.py").write_text(MAIN)
    zipapp.create_archive(tmp_path / "folder", tmp_path / "archive.pyz")
    (tmp_path / "link.py").symlink_to(tmp_path / "folder" / "__main__.py")
    (tmp_path / "module.py").write_text(MAIN)
    assert same(["-m", "package", "x"], tmp_path)[2] == 1
    assert same(["-m", "package.nowhere"], tmp_path)[2] == 1
    assert same(["-m", "folder"], tmp_path)[2] == 0
    for arguments in (["-m", "module"], ["folder"], ["archive.pyz"], ["link.py"], ["./module.py"]):
        assert same([*arguments, "x"], tmp_path)[2] == 0


def test_a_program_whose_name_is_no_text_has_its_traceback(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.py")
    try:
        (tmp_path / name).write_text("1 / 0\n")
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    same([name], tmp_path)
