"""Alerts by finding, chains to tensors with their cards, and the lines of bad tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, asked_behind_an_overflow
from tfdbg_tui.diagnosis.alerts import find_alerts
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.diagnosis.report.cards import alerts_text, finding_parts, parts
from tfdbg_tui.diagnosis.report.explanation import Explanation
from tfdbg_tui.diagnosis.report.words import chain_to_text, to_text
from tfdbg_tui.logdir import open_run
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import GrowingRun, RecordedLogdirs
    from tfdbg_tui.diagnosis.alerts import Alerts
    from tfdbg_tui.logdir import Run


def explain(run: Run) -> Explanation:
    return Explanation(run, find_alerts(run))


@pytest.fixture(params=["mnist", "control_flow"])
def run(request: pytest.FixtureRequest, logdirs: RecordedLogdirs) -> Run:
    return open_run(logdirs[request.param])


@pytest.fixture
def explanation(run: Run) -> Explanation:
    return explain(run)


def test_every_alert_belongs_to_exactly_one_finding(explanation: Explanation) -> None:
    positions = np.concatenate([group.alerts for group in explanation.groups])
    assert sorted(positions.tolist()) == list(range(len(explanation.alerts)))
    for group in explanation.groups:
        assert len(group.alerts) == group.num_alerts
        assert group.kind == "suspect" or group.num_alerts == group.finding.alerts


def test_a_suspect_stands_for_what_is_harmless_about_its_tensor(tmp_path: Path) -> None:
    """Two groups of one tensor could not be told apart: the pane stood on the second one."""
    recorded = Program(tmp_path)
    recorded.graph("root", "")
    recorded.graph("f", "f", "root")
    recorded.op("f", "Mul", "gradient_tape/Mul", "x:0", "scale:0")
    recorded.op("f", "Cast", "gradient_tape/Cast", "gradient_tape/Mul:0")
    recorded.op("f", "IsFinite", "IsFinite", "gradient_tape/Cast:0")
    for _ in range(40):
        recorded.trace("f", "gradient_tape/Mul", np.full(64, 1e6, np.float32))
        recorded.trace("f", "gradient_tape/Cast", np.full(64, np.inf, np.float16))
    explanation = explain(recorded.open())
    assert [finding.rule for finding in explanation.report.benign] == ["cast-overflow"]
    (group,) = explanation.groups
    assert (group.kind, group.finding.rule) == ("suspect", "all-steps-skipped")
    assert (group.num_alerts, len(group.alerts)) == (40, 40)
    assert explanation.group_of(group.finding.event) == 0
    assert [site.alerts for site in explanation.harmless] == [40]
    labels = [part.label for part in finding_parts(group.finding, "suspect")]
    assert "harm" not in labels, "why it is one says what harm it does"


def test_a_suspect_lists_the_alerts_of_what_makes_it(tmp_path: Path) -> None:
    recorded = asked_behind_an_overflow(tmp_path)
    explanation = explain(recorded.open())
    (suspect,) = explanation.groups
    event = suspect.finding.event
    assert (suspect.kind, suspect.num_alerts) == ("suspect", 80)
    assert (explanation.group_of(event), explanation.group_about(event)) == (0, 0)
    assert [explanation.group_listing(alert) for alert in explanation.alerts[:80]] == [0] * 80
    assert explanation.find_chain(event, recorded.open()).finding is suspect.finding


def test_every_alert_leads_back_to_its_root(explanation: Explanation, run: Run) -> None:
    for position in range(0, len(explanation.alerts), 7):
        event = explanation.alerts[position]
        chain = explanation.find_chain(event, run)
        finding = explanation.groups[explanation.group_of(event)].finding
        assert chain.finding is finding
        assert chain.links[chain.start].event == finding.event
        end = finding.chain[-1].event if event == finding.event else event
        assert chain.links[-1].event == end, "of a root what became of it"
        assert len({link.event for link in chain.links}) == len(chain.links)


def test_what_an_op_takes_twice_is_one_link(tmp_path: Path) -> None:
    recorded = Program(tmp_path)
    half = np.full(4, 6e4, np.float16)
    recorded.execution("Cast", [], {1: half})
    recorded.execution("Mul", [1, 1], {2: np.full(4, np.inf, np.float16)}, given=(half, half))
    run = recorded.open()
    explanation = explain(run)
    chain = explanation.find_chain(TensorEvent("execution", 1, 0), run)
    for links in (chain.links, explanation.report.roots[0].chain):
        assert [link.name for link in links] == ["Cast:0", "Mul:0"]


def test_a_call_that_raised_has_returned_nothing(tmp_path: Path) -> None:
    recorded = Program(tmp_path)
    recorded.graph("f", "f")
    recorded.execution("f", [], {}, "f", serial=1, error="InvalidArgumentError: bad")
    run = recorded.open()
    chain = explain(run).find_chain(TensorEvent("execution", 0, 0), run)
    assert [link.failed for link in chain.links] == [True]
    assert chain_to_text(chain).endswith("f:0: raised an error")


def test_every_alert_is_counted_on_one_line_of_the_program(explanation: Explanation) -> None:
    lines = [line for file in explanation.report.bad_lines.values() for line in file.values()]
    assert sum(line.tensors for line in lines) == len(explanation.alerts)


def test_the_line_of_each_root_is_marked(explanation: Explanation) -> None:
    found = {
        (path, number)
        for path, lines in explanation.report.bad_lines.items()
        for number, line in lines.items()
        if line.is_root
    }
    assert found == {(f.location.file, f.location.line) for f in explanation.report.roots}


def test_a_root_shows_its_inputs_as_it_took_them(tmp_path: Path) -> None:
    """As ADAPTIVE records them: where they were made they are not counted."""
    recorded = Program(tmp_path)
    zeros, ones = np.zeros(2, np.float32), np.ones(2, np.float32)
    recorded.execution("Relu", [], {1: zeros}, mode=TensorDebugMode.CURT_HEALTH)
    recorded.execution("Exp", [], {2: ones})
    infinity = np.full(2, np.inf, np.float32)
    recorded.execution("RealDiv", [2, 1], {3: infinity}, given=(ones, zeros))
    run = recorded.open()
    explanation = explain(run)
    chain = explanation.find_chain(TensorEvent("execution", 2, 0), run)
    for links in (chain.links, explanation.report.roots[0].chain):
        assert [(link.name, link.summary.zero) for link in links] == [
            ("Exp:0", 0),
            ("Relu:0", 2),
            ("RealDiv:0", 0),
        ]


def test_the_card_says_what_does_no_harm(logdirs: RecordedLogdirs) -> None:
    run = open_run(logdirs["mnist"])
    explanation = explain(run)
    chain = explanation.find_chain(explanation.alerts[0], run)
    assert [part for part in parts(chain) if part.label == "harm"] == []
    (harm,) = [part for part in parts(replace(chain, kind="benign")) if part.label == "harm"]
    assert "None: " in harm.text


def test_one_tensor_is_told_as_one() -> None:
    assert alerts_text("suspect", 1) == ("seen", "in 1 computed tensor")
    assert alerts_text("root", 1_000) == ("alerts", "1,000 go back to this")


def test_command_line_and_clipboard_say_the_same_of_a_finding(
    explanation: Explanation, run: Run
) -> None:
    report = to_text(explanation.report)
    for group in explanation.groups:
        if group.kind == "root":
            chain = explanation.find_chain(group.finding.event, run)
            copied = chain_to_text(chain).split("\n")
            card = [line for line in copied if not line.startswith("  chain")]
            card = card[: copied.index(next(s for s in copied if s.startswith("  alerts"))) + 1]
            assert "\n".join(card) in report


def test_counting_more_alerts_tells_the_same_as_diagnosing_anew(growing_run: GrowingRun) -> None:
    alerts: Alerts | None = None
    explanation: Explanation | None = None
    explanations: list[Explanation] = []
    diagnosed = counted = 0
    for run in growing_run("mnist", 12):
        alerts = find_alerts(run, alerts)
        again = explanation.recounted(run, alerts) if explanation else None
        diagnosed, counted = diagnosed + (again is None), counted + (again is not None)
        explanation = again or Explanation(run, alerts)
        explanations.append(explanation)
        fresh = Explanation(run, alerts)
        assert explanation.report == fresh.report
        for told, expected in zip(explanation.groups, fresh.groups, strict=True):
            assert told.alerts.tolist() == expected.alerts.tolist()
    assert diagnosed < counted
    newest = alerts[-1]
    assert explanation.group_of(newest) == 0
    for before in explanations[6:]:
        assert before.find_chain(newest, run).links == fresh.find_chain(newest, run).links
