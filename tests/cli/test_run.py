"""`tfdbg-tui run` and the process it starts, with a real program."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.diagnosis import tiny
from tfdbg_tui.cli import main
from tfdbg_tui.cli.watch import Stopper
from tfdbg_tui.logdir import list_runs
from tfdbg_tui.program import Program

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs

BUGGY = """\
import sys
import tensorflow as tf

@tf.function
def loss(probs):
    return -tf.reduce_mean(tf.math.log(probs))

for step in range(3):
    print("step", step, sys.argv[1:], flush=True)
    loss(tf.constant([0.5, 0.0, 0.25, 0.25]))
print("end of the program")
"""


def test_a_missing_script_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--headless", "nowhere/train.py"]) == 2
    assert "nowhere/train.py: no such program" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--logdir", "logdir", "-m", "timeit"], "logdir: cannot be made"),
        (["-m", "no_such_module"], "no_such_module: no such module"),
    ],
)
def test_a_directory_that_has_been_removed_is_one_sentence(
    arguments: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    assert main(["run", "--headless", *arguments]) == 2
    assert f"tfdbg-tui: {told}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["--a", "b"], ["--m=3", "--", "-h"], ["--", "--json"], ["--headless", "-m", "x"], ["--"]],
)
def test_a_programs_arguments_reach_it_as_they_are(
    arguments: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.py"
    script.write_text("import sys; print(sys.argv[1:])")
    own = ["--headless", "--tensor-debug", "CURT_HEALTH", "--logdir", str(tmp_path / "logdir")]
    assert main(["run", *own, str(script), *arguments]) == 2  # nothing was recorded
    assert f"\n{arguments}\n" in capfd.readouterr().err


def test_a_script_that_is_called_like_an_option_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-cprint(6).py").write_text("import sys; print(sys.argv)")
    arguments = ["--", "-cprint(6).py", "--", "5"]
    assert main(["run", "--headless", "--logdir", "logdir", *arguments]) == 2
    assert f"\n{arguments[1:]}\n" in capfd.readouterr().err


def test_a_program_outlives_an_impatient_debugger_only_until_it_is_stopped(tmp_path: Path) -> None:
    program = Program(str(tmp_path), ["ignored"])
    assert program.outcome == "not started"
    # Where a shell runs the tests in the background they ignore it, and so would the program.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    program._process = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True
    )
    assert program.running
    program.stop()
    assert not program.running
    assert "SIGINT" in program.outcome or "exit code" in program.outcome


def test_a_second_interrupt_ends_a_program_that_ignores_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(str(tmp_path), ["ignored"])
    ignoring = "import signal, time; signal.signal(2, signal.SIG_IGN); print(flush=True)"
    program._process = subprocess.Popen(
        [sys.executable, "-c", f"{ignoring}; time.sleep(600)"],
        start_new_session=True,
        stdout=subprocess.PIPE,
    )
    program._process.stdout.readline()
    wait, waits = program._process.wait, []

    def interrupted(timeout: float | None = None) -> int:
        waits.append(timeout)
        if len(waits) == 1:
            raise KeyboardInterrupt
        return wait(timeout)

    monkeypatch.setattr(program._process, "wait", interrupted)
    program.stop()
    program._process.stdout.close()
    assert program.outcome == "ended by signal SIGKILL"


@pytest.mark.parametrize(("own", "code"), [("mirrored_1", 1), ("mirrored_healthy", 0)])
def test_a_neighbour_in_the_logdir_is_not_diagnosed(
    own: str,
    code: int,
    recorded: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script, logdir, summary = tmp_path / "train.py", tmp_path / "logdir", tmp_path / "summary.json"
    script.write_text("")

    def start(program: Program, **_: Any) -> None:
        Path(program.log_path).write_text("")
        for name in ("mirrored_1", "mirrored_healthy"):
            shutil.copytree(recorded / name, logdir, dirs_exist_ok=True)

    (run,) = list_runs(str(recorded / own))
    monkeypatch.setenv("TFDBG_RUN_ID", str(run.run_id))
    monkeypatch.setattr(Program, "start", start)
    command = ["run", "--headless", "--json", "--logdir", str(logdir), "--summary", str(summary)]
    assert main([*command, str(script)]) == code
    assert json.loads(capsys.readouterr().out)["run_id"] == run.run_id
    assert [one["run_id"] for one in json.loads(summary.read_text())["workers"]] == [run.run_id]


def test_what_the_writer_of_tensorflow_has_recorded_instead_is_diagnosed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(program: Program, **_: Any) -> None:
        Path(program.log_path).write_text("")
        made = tiny.Program(Path(program.logdir))
        made.graph("f", "f")
        made.op("f", "Log", "Log", "x:0")
        made.trace("f", "Log", np.array([-np.inf], np.float32))
        made.open()

    monkeypatch.setattr(Program, "start", start)
    (tmp_path / "program.py").touch()
    command = [
        "run",
        "--headless",
        "--logdir",
        str(tmp_path / "logdir"),
        str(tmp_path / "program.py"),
    ]
    assert main(command) == 1
    monkeypatch.setattr(Program, "start", lambda program, **_: Path(program.log_path).touch())
    assert main(command) == 2  # What was there before is no answer.


@pytest.mark.tensorflow
def test_headless_run_ends_with_the_diagnosis(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    own = "tfdbg_tui.enable_dump_debug_info('elsewhere', 'CURT_HEALTH')"  # is not followed
    script.write_text(f"import tfdbg_tui; {own}\n{BUGGY}")
    logdir = tmp_path / "logdir"
    command = [sys.executable, "-m", "tfdbg_tui", "run", "--headless", "--json", "--logdir"]
    result = subprocess.run(
        [*command, str(logdir), str(script), "--epochs", "2"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 1, result.stderr
    assert "step 2 ['--epochs', '2']" in result.stderr
    assert "end of the program" in result.stderr
    assert result.stderr.startswith(f"tfdbg-tui: the program's logdir is {logdir}\n")
    report = json.loads(result.stdout)
    root = report["roots"][0]
    assert (root["op_type"], root["certainty"]) == ("Log", "proved")
    assert root["location"]["line"] == 7
    assert root["location"]["file"] == str(script)


@pytest.mark.tensorflow
def test_stop_on_bad_ends_the_program_there(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(BUGGY)
    command = [sys.executable, "-m", "tfdbg_tui", "run", "--headless", "--stop-on-bad", "--logdir"]
    result = subprocess.run(
        [*command, str(tmp_path / "logdir"), str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 1
    assert "step 0" in result.stderr
    assert "step 1" not in result.stderr


DIES = """\
import tensorflow as tf

@tf.function
def step(w):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.relu(w - 9.0))
    w.assign_sub(tape.gradient(loss, w))

w = tf.Variable(tf.zeros(64))
while True:
    step(w)
"""


@pytest.mark.tensorflow
def test_stop_on_suspect_ends_a_program_that_goes_on(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(DIES)
    command = [sys.executable, "-m", "tfdbg_tui", "run", "--headless", "--stop-on-suspect"]
    result = subprocess.run(
        [*command, "--json", "--logdir", str(tmp_path / "logdir"), str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 1, result.stderr
    assert "the program is stopped" in result.stderr
    report = json.loads(result.stdout)
    assert report["suspects"][0]["rule"] == "dead-relu"
    assert "The program was interrupted (KeyboardInterrupt)" in report["gaps"][0]["text"]


def test_a_program_that_ends_before_it_is_stopped_has_failed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tiny.Program(tmp_path)
    made.graph("f", "f")
    made.op("f", "Relu", "Relu", "x:0")
    for _ in range(10):
        made.trace("f", "Relu", np.zeros(64, np.float32))
    monkeypatch.setattr("tfdbg_tui.cli.run._runs", lambda *_: [made.open().files])
    (tmp_path / "program.py").touch()
    command = ["run", "--headless", "--logdir", str(tmp_path), str(tmp_path / "program.py")]
    assert main(command) == 0
    assert main([*command[:2], "--stop-on-suspect", *command[2:]]) == 1


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_program_is_not_said_to_be_stopped_that_has_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], goes_on: bool
) -> None:
    class Running:
        """A program that runs when it is asked first."""

        def __init__(self) -> None:
            self._answers = iter([True, goes_on, False])

        @property
        def running(self) -> bool:
            return next(self._answers)

        def stop(self) -> None:
            pass

    made = tiny.Program(tmp_path)
    made.graph("f", "f")
    made.op("f", "Log", "Log", "x:0")
    made.trace("f", "Log", np.full(4, -np.inf, np.float32))
    stopper = Stopper(Running(), lambda: [made.open().files])  # type: ignore[arg-type]
    stopper.run()
    assert stopper.has_stopped is goes_on
    assert ("the program is stopped" in capsys.readouterr().err) is goes_on


ANSWERS = """\
import signal, sys, time
got = []
def handle(number, _):
    got.append(number)
    print("got", signal.Signals(number).name, flush=True)
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, handle)
print("asks", flush=True)
while len(got) < 2:  # A signal that came just before a read would be handled after it.
    time.sleep(0.01)
print("was told", sys.stdin.readline().strip())
sys.stderr.write("to stderr\\n")
print("to stdout")
while (line := sys.stdin.readline()):
    print("then", line.strip())
"""


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_IGN])
def test_signals_and_input_reach_the_program_as_without(tmp_path: Path, handler: Any) -> None:
    (tmp_path / "program.py").write_text(ANSWERS)
    command = [sys.executable, "-m", "tfdbg_tui", "run", "--headless", "--logdir"]
    process = subprocess.Popen(
        [*command, tmp_path / "logdir", tmp_path / "program.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, handler),  # nohup: ignored
    )
    try:
        lines = iter(process.stderr.readline, "")
        assert any(line == "asks\n" for line in lines)
        for number in (signal.SIGINT, signal.SIGTERM):
            process.send_signal(number)
            assert next(lines) == f"got {number.name}\n"
        process.stdin.write("Ada\n")
        process.stdin.flush()
        assert [next(lines) for _ in range(3)] == ["was told Ada\n", "to stderr\n", "to stdout\n"]
        process.stdin.write("more\n")
        process.stdin.close()
        assert next(lines) == "then more\n"
        assert next(lines) == "The program: ended with exit code 0\n"
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_other_signals_reach_the_program_alone(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "program.py").write_text(
        f"""\
import signal, subprocess, sys, time
asked = []
signal.signal({int(number)}, lambda number, _: asked.append(number))
worker = subprocess.Popen([sys.executable, "-c", "input(); print('saved')"],
                          stdin=subprocess.PIPE)
print("asks", flush=True)
while not asked:
    time.sleep(0.01)
time.sleep(0.2)
worker.communicate(b"save\\n")
"""
    )
    command = [sys.executable, "-m", "tfdbg_tui", "run", "--headless", "--logdir"]
    process = subprocess.Popen(
        [*command, tmp_path / "logdir", tmp_path / "program.py"], stderr=subprocess.PIPE, text=True
    )
    lines = iter(process.stderr.readline, "")
    assert any(line == "asks\n" for line in lines)
    process.send_signal(number)
    assert [next(lines) for _ in range(2)] == ["saved\n", "The program: ended with exit code 0\n"]
    process.communicate()


@pytest.mark.parametrize("errors", ["2>&-", "2>/dev/full"])
def test_a_program_runs_though_nobody_reads_errors(tmp_path: Path, errors: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"print('begins'); open({str(tmp_path / 'done')!r}, 'w')")
    command = [sys.executable, "-m", "tfdbg_tui", "run", "--headless", "--logdir"]
    words = " ".join(map(shlex.quote, map(str, [*command, tmp_path / "logdir", program])))
    done = subprocess.run(
        ["sh", "-c", f"{words} {errors}"], stdout=subprocess.PIPE, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("", 2)  # nothing was recorded
    assert (tmp_path / "done").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="others leave the program running")
def test_who_kills_the_run_kills_the_program(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import os, time; print(os.getpid()); time.sleep(600)")
    command = [sys.executable, "-m", "tfdbg_tui", "run", "--headless", "--logdir"]
    process = subprocess.Popen(
        [*command, tmp_path / "logdir", tmp_path / "program.py"], stderr=subprocess.PIPE, text=True
    )
    pid = next(int(line) for line in iter(process.stderr.readline, "") if line.strip().isdigit())
    process.kill()
    process.communicate()
    running = Path(f"/proc/{pid}/stat")
    deadline = time.monotonic() + 60
    while running.exists() and running.read_text().split()[2] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_is_ignored_stays_ignored(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import signal; print(signal.getsignal(signal.SIGHUP))")
    command = [sys.executable, "-m", "tfdbg_tui", "run", "--headless", "--logdir"]
    done = subprocess.run(
        [*command, tmp_path / "logdir", program],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    assert str(signal.SIG_IGN) in done.stderr.splitlines()


def test_a_program_may_lead_its_process_group(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import os; os.setpgrp(); os.setpgid(0, os.getpid())")
    command = [sys.executable, "-m", "tfdbg_tui", "run", "--headless", "--logdir"]
    done = subprocess.run(
        [*command, tmp_path / "logdir", program], capture_output=True, text=True, check=False
    )
    assert "The program: ended with exit code 0" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tensor-debug-mode", "LOUD"], "Invalid value in tensor_debug_mode ('LOUD')"),
        (["--op-regex", "("], "--op-regex (: missing )"),
        (["--every", "0"], "every is a number of steps, 1 or more"),
        (["--steps", "5"], "steps is the first and the last, as '1000..1010'"),
        (["--lines", "train.py:9..3"], "lines is files with lines, as 'train.py:40..60'"),
    ],
)
def test_what_cannot_be_recorded_is_said_before_the_program_starts(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "program.py").write_text("print('started')\n")
    logdir = tmp_path / "logdir"
    command = ["run", "--headless", "--logdir", str(logdir), *options]
    assert main([*command, str(tmp_path / "program.py")]) == 2
    assert said in capsys.readouterr().err
    assert not logdir.exists()


def test_options_that_keep_the_writer_out_are_refused(tmp_path: Path) -> None:
    (tmp_path / "program.py").touch()
    code = "import sys; sys.path[:0] = sys.argv.pop(1).split(':'); from tfdbg_tui.cli import main"
    command = [sys.executable, "-E", "-c", f"{code}; sys.exit(main())", ":".join(sys.path)]
    result = subprocess.run(
        [*command, "run", "--headless", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert "Python keeps the dump writer out" in result.stderr


def test_a_missing_module_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--headless", "-m", "no_such_package.train"]) == 2
    assert "no_such_package.train: no such module" in capsys.readouterr().err


# Leaves what another program has recorded.
COPIES = "import os, shutil, sys; logdir = os.environ['TFDBG_TUI_LOGDIR']\n"
COPIES += "shutil.copytree(sys.argv[1], logdir, dirs_exist_ok=True)\n"


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("program", "exit_code", "said"),
    [
        (f"{COPIES}raise SystemExit(7)", 7, "exit code 7"),
        ("print('no op')", 2, "nothing was recorded"),
        (
            "import os, shutil; shutil.rmtree(os.environ['TFDBG_TUI_LOGDIR'])",
            2,
            "the logdir was deleted while the program ran",
        ),
        (
            "import os, sys, tensorflow as tf; tf.square(2.0)\n"
            "class AtEnd:\n    def __del__(self, abort=os.abort):\n        abort()\n"
            "sys.modules['at the end'] = AtEnd()",
            134,
            "The program failed (it ended by signal SIGABRT)",
        ),
        ("import nowhere", 1, 'recent call last):\n  File "{script}", line 1, in <module>\n'),
        (
            "import tensorflow as tf; tf.debugging.enable_check_numerics()\n"
            "tf.function(lambda x: tf.math.log(x), autograph=False)(tf.constant([1.0, 0.0]))",
            1,
            "Tensor had -Inf values",
        ),
    ],
    ids=[
        "fails",
        "records nothing",
        "deletes the logdir",
        "crashes after its end",
        "has a traceback of its own",
        "checks by itself",
    ],
)
def test_headless_exit_codes(
    tmp_path: Path, logdirs: RecordedLogdirs, program: str, exit_code: int, said: str
) -> None:
    script = tmp_path / "train.py"
    script.write_text(program)
    command = [sys.executable, "-m", "tfdbg_tui", "run", "--headless", "--logdir"]
    result = subprocess.run(
        [*command, str(tmp_path / "logdir"), str(script), str(logdirs["shape"])],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == exit_code, result.stderr
    assert said.format(script=script) in result.stderr + result.stdout
