"""Searches and ways that take long: the panes stay alive, and what comes late does no harm."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from tfdbg_tui.diagnosis.report.explanation import Explanation
from tfdbg_tui.tui import navigation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open, Opened
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.report.chains import Chain
    from tfdbg_tui.logdir import Run


class Gate:
    """Lets work in other threads go on only when it is open."""

    def __init__(self) -> None:
        self._open = threading.Event()

    def wait(self) -> None:
        assert self._open.wait(60)

    def open(self) -> None:
        self._open.set()


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open()


@pytest.fixture
def slow_search(monkeypatch: pytest.MonkeyPatch, gate: Gate) -> Gate:
    search = navigation.search

    def slow(*args: Any, **options: Any) -> Any:
        gate.wait()
        return search(*args, **options)

    monkeypatch.setattr(navigation, "search", slow)
    return gate


async def arrived(opened: Opened, condition: Callable[[], object]) -> None:
    for _ in range(500):
        await opened.pilot.pause(0.01)
        if condition():
            return
    raise AssertionError(opened.screen())


async def search_for(opened: Opened, text: str) -> None:
    await opened.press("3", "slash")
    await opened.type(text)


async def test_a_long_search_says_so_and_arrives(
    open_app: Open, logdirs: RecordedLogdirs, slow_search: Gate
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await search_for(opened, "softmax")
        assert "searching for softmax" in opened.screen()
        slow_search.open()
        await arrived(opened, lambda: opened.focus.graph_execution == 9)
        assert "searching" not in opened.screen()
        await opened.press("backspace")
        assert opened.focus.graph_execution == 0


async def test_next_match_waits_for_the_one_before(
    open_app: Open, logdirs: RecordedLogdirs, slow_search: Gate
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await search_for(opened, "softmax")
        await opened.press("n")
        slow_search.open()
        await arrived(opened, lambda: opened.focus.graph_execution == 19)


@pytest.mark.parametrize(("keys", "row"), [(("escape",), 0), (("j", "j"), 2)])
async def test_whoever_stops_or_moves_on_stays_there(
    open_app: Open, logdirs: RecordedLogdirs, slow_search: Gate, keys: tuple[str, ...], row: int
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await search_for(opened, "softmax")
        await opened.press(*keys)
        assert "searching" not in opened.screen()
        slow_search.open()
        await opened.pilot.pause(0.2)
        assert opened.focus.graph_execution == row


@pytest.fixture
def slow_chains(monkeypatch: pytest.MonkeyPatch, gate: Gate) -> Gate:
    """Chains are found when this is opened."""
    find = Explanation.find_chain

    def slow(self: Explanation, event: TensorEvent, run: Run) -> Chain | None:
        gate.wait()
        return find(self, event, run)

    monkeypatch.setattr(Explanation, "find_chain", slow)
    return gate


async def test_a_long_chain_says_so_and_stands_on_the_root(
    open_app: Open, logdirs: RecordedLogdirs, slow_chains: Gate
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("colon")
        await opened.type("trace:143")
        await opened.press("w")
        assert "Finding what made it" in opened.screen()
        slow_chains.open()
        await arrived(opened, lambda: opened.focus.graph_execution == 141)
        assert "proved" in opened.screen()


async def test_a_way_that_comes_after_why_was_closed_moves_nothing(
    open_app: Open, logdirs: RecordedLogdirs, slow_chains: Gate
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("colon")
        await opened.type("trace:143")
        await opened.press("w", "escape")
        slow_chains.open()
        await opened.pilot.pause(0.2)
        assert (opened.focus.graph_execution, opened.focus.why) == (143, None)


async def test_a_way_that_cannot_be_found_is_a_sentence(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Explanation, event: TensorEvent, run: Run) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(Explanation, "find_chain", fail)
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "w")
        assert "the chain cannot be found: the disk is gone" in opened.screen()
        assert (opened.focus.why, opened.active_pane()) == (None, "graph_execution")
