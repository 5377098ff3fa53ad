"""`diagnose` with several logdirs: exit codes, bad input, and what is told of it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tfdbg_tui.cli import main, parser_of
from tfdbg_tui.cli.fleet import write_summary
from tfdbg_tui.logdir import list_runs

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs


def diagnosed(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Returns the exit code and what was printed."""
    code = main(["diagnose", *map(str, arguments)])
    printed = capsys.readouterr()
    assert printed.err == ""
    return code, printed.out


def test_a_job_is_one_however_its_logdirs_are_given(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = recorded / "loop_2_apart"
    ways: list[list[object]] = [[job], [job / "worker*"], [*job.iterdir()], [job, job / "worker1"]]
    ways += [[job, "--jobs", "2"]]
    assert len({diagnosed(capsys, *way) for way in ways}) == 1
    code, text = diagnosed(capsys, job)
    assert code == 1
    assert text.startswith("bad: 68 alerts on 3 processes, 1 root\n")
    assert "worker 2, one of 3 processes" in text
    assert "workers 0 and 1 through the all-reduce at programs.py" in text


def test_who_follows_a_job_is_told_that_it_is_one_process(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["diagnose", str(recorded / "loop_2_apart"), "--follow", "--timeout", "0"])
    said = capsys.readouterr().err
    assert "3 processes of a job; --follow looks at the newest alone" in said
    assert "without it the report is on all" in said


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["loop_healthy"], 0),
        (["loop_healthy", "loop_0"], 1),
        (["loop_healthy", "missing"], 2),
        (["loop_0", "missing"], 1),
    ],
)
def test_bad_wins_over_unread(
    names: list[str], code: int, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, text = diagnosed(capsys, *(recorded / name for name in names))
    assert found == code
    assert text.count("no such directory") == ("missing" in names)


def test_members_that_are_damaged_or_missing_are_told(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = shutil.copytree(recorded / "loop_2_apart", tmp_path / "job")
    shutil.rmtree(job / "worker1")
    for path in (job / "worker0").glob("*traces"):
        path.write_bytes(path.read_bytes()[:5000])
    code, text = diagnosed(capsys, job)
    assert code == 1
    assert "Logarithm of zero" in text
    assert "No dump of worker 1 was given" in text
    assert "worker 0: Not all of" in text
    assert "worker 0 hangs behind: 1 of 5 runs of the all-reduce at programs.py" in text
    assert " 1 root" in text  # what worker 0 has left on record goes back to that of worker 2
    (found,) = json.loads(diagnosed(capsys, job, "--json")[1])["jobs"]
    assert [worker["worker"] for worker in found["workers"]] == [0, 2]
    assert [(root["worker"], root["task"]) for root in found["roots"]] == [(2, "worker 2")]


def test_the_guilty_one_is_not_on_record(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = shutil.copytree(recorded / "loop_1_tf", tmp_path / "job")
    shutil.rmtree(job / "worker1")
    code, text = diagnosed(capsys, job)
    assert code == 1
    assert "NaN or ∞ came from a worker that is not on record  [likely]" in text
    assert "[proved]" not in text


def test_summaries_give_the_report_of_the_logdirs(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for logdir in (recorded / "loop_2_apart").iterdir():
        write_summary(list_runs(str(logdir)), str(tmp_path / f"{logdir.name}.json"))
    (tmp_path / "other.json").write_text('{"summary_version": 99}')
    code, text = diagnosed(capsys, "--summaries", tmp_path)
    assert code == 1
    *report, unread = text.strip().split("\n\n")
    assert "\n\n".join(report) == diagnosed(capsys, recorded / "loop_2_apart")[1].strip()
    assert "other.json: holds summaries of version 99" in " ".join(unread.split())


def test_unrelated_runs_are_listed(
    logdirs: RecordedLogdirs, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = diagnosed(
        capsys, logdirs["mnist"], recorded / "gather_0", recorded / "loop_healthy", "--json"
    )
    assert code == 1
    jobs = json.loads(text)["jobs"]
    assert sorted((job["verdict"], len(job["workers"])) for job in jobs) == [
        ("bad", 1),
        ("bad", 2),
        ("clean", 3),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give a LOGDIR"),
        (["A", "B", "--follow"], "take one LOGDIR"),
        (["A", "--jobs", "0"], "--jobs takes a number from 1 on"),
        (["missing-*"], "no directory fits"),
        (["missing-1", "missing-2", "missing-3"], "missing-1 and 2 more: no such directory"),
        (["--summaries", "missing"], "holds no *.json"),
        (["A", "--summaries", "missing"], "takes neither"),
    ],
)
def test_unusable_arguments_are_one_sentence(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert words in printed.err
    assert printed.err.count("\n") == 1


def test_what_is_for_several_logdirs_is_not_ignored_in_silence(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(recorded / "mirrored_1"), "--jobs", "2"]) == 1
    assert capsys.readouterr().err == (
        "tfdbg-tui: --jobs does nothing here: this is one run, not several logdirs\n"
    )


def test_one_process_of_a_job_is_called_so(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, text = diagnosed(capsys, recorded / "loop_2_apart" / "worker1", recorded / "mirrored_1")
    assert "worker 1 of a job, started " in text
    assert "1 processes" not in text


def test_a_cluster_gives_the_same_report(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip("distributed")
    job = recorded / "loop_2_apart"
    with distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster:
        there = diagnosed(capsys, job, "--json", "--scheduler", cluster.scheduler_address)
    assert there == diagnosed(capsys, job, "--json")


def test_a_scheduler_that_goes_away_is_told(
    recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None)
    submit = distributed.Client.submit

    def submit_and_lose(client: Any, *args: Any, **kwargs: Any) -> Any:
        future = submit(client, *args, **kwargs)
        if cluster.status.value != "closed":
            distributed.wait(future)
            cluster.close()
        return future

    monkeypatch.setattr(distributed.Client, "submit", submit_and_lose)
    logdirs = [recorded / "loop_healthy", recorded / "gather_0"]
    code = main(
        ["diagnose", *map(str, logdirs), "--json", "--scheduler", cluster.scheduler_address]
    )
    report = json.loads(capsys.readouterr().out)
    reasons = {one["reason"] for one in report["unread"]}
    assert reasons == {"the connection to the scheduler was lost before it was read"}
    assert code == 2


def test_a_scheduler_that_is_not_there_is_one_sentence(
    recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("tfdbg_tui.cli.cluster._CONNECT_SECONDS", "1s")
    job = recorded / "loop_1"
    assert main(["diagnose", str(job), "--scheduler", "tcp://127.0.0.1:9"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "tcp://127.0.0.1:9: no scheduler can be reached" in printed.err


@pytest.mark.parametrize("name", ["slurm.sh", "kubernetes.yaml"])
def test_the_commands_of_the_example_are_understood(name: str) -> None:
    jobs = Path(__file__).parents[2] / "examples" / "jobs"
    text = (jobs / name).read_text().replace("\\\n", " ")
    commands = re.findall(r"tfdbg-tui (run|diagnose) (.*?)(?: > .*)?$", text, re.MULTILINE)
    assert {command for command, _ in commands} == {"run", "diagnose"}
    for command, arguments in commands:
        parsed = parser_of(command).parse_args(shlex.split(arguments))
        assert command == "diagnose" or (jobs / parsed.script).is_file()
