"""What a user sets once, what a shell completes, and what a mistyped command says."""

from __future__ import annotations

import argparse
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tfdbg_tui.cli import COMMANDS, main
from tfdbg_tui.cli.config import ConfigError
from tfdbg_tui.cli.options import (
    add_app_arguments,
    add_live_arguments,
    app_options,
    live_options,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "tfdbg-tui" / "config.toml"
    path.parent.mkdir()
    return path


def options(*arguments: str) -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    add_app_arguments(parser)
    add_live_arguments(parser)
    args = parser.parse_args(arguments)
    return {**app_options(args), **live_options(args)}


def test_the_command_line_counts_before_the_users_file(config: Path) -> None:
    assert options() == {
        "at": None,
        "theme": None,
        "ascii_only": None,
        "mouse": True,
        "until_bad": False,
        "bell": False,
        "slow": None,
        "pane_sizes": {},
    }
    config.write_text('theme = "tfdbg-light"\nascii = true\nmouse = false\nslow = true\n')
    expected = {"theme": "tfdbg-light", "ascii_only": True, "mouse": False, "slow": True}
    assert options().items() >= expected.items()
    config.write_text("pane_rows = [1, 3, 2]")
    assert options()["pane_sizes"] == {"rows": (1, 3, 2)}
    config.write_text('theme = "tfdbg-light"\nascii = true\nmouse = false\nslow = true\n')
    given = options("--theme", "nord", "--no-ascii", "--mouse", "--no-slow")
    expected = {"theme": "nord", "ascii_only": False, "mouse": True, "slow": False}
    assert given.items() >= expected.items()


@pytest.mark.parametrize(
    ("text", "clue"),
    [
        ('thme = "nord"', "did you mean theme"),
        ("mouse = 3", "true or false"),
        ("pane_rows = [1, 2]", "three whole numbers"),
        ("pane_columns = [1, 0, 2]", "three whole numbers"),
        ("mouse", "TOML"),
        ("\0", "TOML"),
    ],
)
def test_a_wrong_setting_is_one_sentence(config: Path, text: str, clue: str) -> None:
    config.write_text(text)
    with pytest.raises(ConfigError, match=clue):
        options()


@pytest.mark.parametrize(
    ("argument", "meant"), [("diagnos", "diagnose"), ("quer", "query"), ("inof", "info")]
)
def test_a_mistyped_command_is_told(
    argument: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([argument, "x"]) == 2
    assert f"did you mean {meant}?" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["help"], ["rows", "."]])
def test_a_word_that_is_no_command_and_no_directory_is_told(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(arguments) == 2
    told = f"no command or directory {arguments[0]}; tfdbg-tui --help lists the commands"
    assert told in capsys.readouterr().err


def test_a_mistyped_option_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["query", "logdir", "--filtr=bad"])
    assert "did you mean --filter?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "missing"), [(["run"], "SCRIPT"), (["diff", "a"], "SECOND"), (["diff"], "FIRST")]
)
def test_a_missing_argument_is_told(
    capsys: pytest.CaptureFixture[str], arguments: list[str], missing: str
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    told = capsys.readouterr().err
    assert f"arguments are required: {missing}" in told
    assert "ARGS" not in told


def test_file_names_that_are_no_arguments_cannot_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["info", "logdir", "from a shell's *\x1b]0;owned\x07"])
    assert r"\x1b]0;owned\x07" in capsys.readouterr().err


def test_a_shell_completes_commands_and_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("shtab")
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "completion.bash"
    script.write_text(capsys.readouterr().out)
    ask = f"""
        source {script}
        COMP_WORDS=(tfdbg-tui diagnose --ti); COMP_CWORD=2; COMP_LINE="${{COMP_WORDS[*]}}"
        COMP_POINT=${{#COMP_LINE}}
        $(complete -p tfdbg-tui | sed 's/.*-F \\([^ ]*\\).*/\\1/') tfdbg-tui --ti diagnose
        echo "${{COMPREPLY[@]}}"
    """
    answer = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "--timeout"


def test_help_is_no_wider_than_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for command in COMMANDS:
        with pytest.raises(SystemExit):
            main([command, "--help"])
        told = capsys.readouterr().out.splitlines()
        examples = [line for line in told if re.match(r" {4}\S", line)]
        assert max(len(line) for line in told if line not in examples) <= 80
    assert "    tfdbg-tui completion bash > ~/.local/" in "\n".join(examples), "whole"
