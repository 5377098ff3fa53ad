"""What a coding agent is told of a logdir, and that a client of the protocol gets it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tfdbg_tui.cli import main
from tfdbg_tui.cli.mcp import Tools

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs


CLIENT = """
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    command = ["-m", "tfdbg_tui", "mcp", sys.argv[1]]
    server = StdioServerParameters(command=sys.executable, args=command)
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        print(json.dumps([tool.name for tool in (await session.list_tools()).tools]))
        answer = await session.call_tool("query", {"terms": "bad", "limit": 1})
        print(json.dumps(answer.content[0].text))
        refused = await session.call_tool("query", {"terms": "typ=Log"})
        assert refused.is_error
        print(json.dumps(refused.content[0].text))
        unknown = await session.call_tool("query", {"filter": "nan"})
        assert unknown.is_error
        print(json.dumps(unknown.content[0].text))

asyncio.run(main())
"""
"""In a process of its own: the library leaves pipes open when it is done."""


def test_the_tools_lead_from_the_verdict_to_the_line(logdirs: RecordedLogdirs) -> None:
    tools = Tools(str(logdirs["mnist"]))
    (described,) = tools.runs()
    root = tools.diagnose(described["run_id"])["roots"][0]
    assert (root["op_type"], root["location"]["line"]) == ("Log", 183)
    first = tools.query("bad", limit=1)[0]
    assert first["name"] == "Log:0"
    told = tools.explain("graph_execution", tools.query("nan type=Mul")[0]["index"])
    assert "Log:0" in told
    assert "tf.math.log(probs)" in tools.source("debug_mnist.py", 183, 183)


@pytest.mark.parametrize(
    ("tool", "arguments", "clue"),
    [
        ("query", {"terms": "typ=Log"}, "did you mean type"),
        ("explain", {"kind": "execution", "index": 10**9}, "there is no execution"),
        ("source", {"file": "missing.py"}, "no text of missing.py"),
        ("source", {"file": "debug_mnist.py", "first": 0}, "debug_mnist.py has lines 1 to"),
        ("source", {"file": "debug_mnist.py", "first": 10**9}, "debug_mnist.py has lines 1 to"),
        ("diagnose", {"run_id": "x"}, "no run 'x'"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(
    logdirs: RecordedLogdirs, tool: str, arguments: dict[str, Any], clue: str
) -> None:
    with pytest.raises(Exception, match=clue):
        getattr(Tools(str(logdirs["mnist"])), tool)(**arguments)


def test_an_unusable_logdir_is_told_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", str(tmp_path / "missing")]) == 2
    assert "no such directory" in capsys.readouterr().err


def test_a_client_of_the_protocol_gets_answers(logdirs: RecordedLogdirs) -> None:
    pytest.importorskip("mcp")
    client = [sys.executable, "-c", CLIENT, str(logdirs["mnist"])]
    told = subprocess.run(client, capture_output=True, text=True, timeout=120, check=True).stdout
    names, answer, refused, unknown = map(json.loads, told.splitlines())
    assert set(names) == {"runs", "diagnose", "query", "explain", "source"}
    assert json.loads(answer)["name"] == "Log:0"
    assert "did you mean type" in refused
    assert unknown == "query has no argument 'filter'; it has terms, limit, run_id"
