"""Serve a logdir to coding agents by the Model Context Protocol, over standard input and output.

    claude mcp add tfdbg -- tfdbg-tui mcp LOGDIR    # or any other client of the protocol

The agent gets tools that read the logdir and nothing else: its runs, the diagnosis, recorded
tensors by a filter, how a tensor came about, and the source as it was when the program ran.

Needs the protocol's library: pip install 'tfdbg-tui[mcp]'.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from typing import TYPE_CHECKING, Any

from tfdbg_tui.cli.info import describe
from tfdbg_tui.cli.options import add_logdir
from tfdbg_tui.diagnosis import Explanation, TensorEvent, chain_to_text, diagnose, find_alerts
from tfdbg_tui.logdir import LogdirError, RunReader, choose_run, list_runs
from tfdbg_tui.logdir.text import shortened
from tfdbg_tui.query import Kind, parse, tensor_rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from mcp.server import MCPServer

    from tfdbg_tui.logdir import Run

_MOST_TENSORS = 1_000
_MOST_LINES = 400


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_logdir(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until the client goes away; return 0.

    Raises:
        LogdirError: The logdir is unusable, or the library is missing.
    """
    tools = Tools(args.logdir)
    tools.runs()  # An unusable logdir is told now, to whoever has set this up.
    try:
        server = _server(tools.runs, tools.diagnose, tools.query, tools.explain, tools.source)
    except ImportError as error:
        raise LogdirError("mcp needs the library: pip install 'tfdbg-tui[mcp]'") from error
    server.run()
    return 0


def _server(*tools: Callable[..., Any]) -> MCPServer[Any]:
    """Return a server that offers tools, and says no to arguments that they do not have."""
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError

    takes = {tool.__name__: list(inspect.signature(tool).parameters) for tool in tools}

    class Server(MCPServer[Any]):
        async def call_tool(self, name: str, arguments: dict[str, Any], *rest: Any) -> Any:
            """See `MCPServer`, which ignores such arguments."""
            for argument in arguments:
                if argument not in takes.get(name, arguments):
                    known = ", ".join(takes[name]) or "none"
                    raise ToolError(f"{name} has no argument {argument!r}; it has {known}")
            return await super().call_tool(name, arguments, *rest)

    server = Server("tfdbg-tui", instructions="Where NaN and infinity in a program come from.")
    for tool in tools:
        server.add_tool(_telling(tool))
    return server


def _telling(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Return a tool that tells its client why it cannot answer."""
    from mcp.server.mcpserver.exceptions import ToolError

    @functools.wraps(tool)
    def answer(*args: Any, **kwargs: Any) -> Any:
        try:
            return tool(*args, **kwargs)
        except (LogdirError, ValueError) as error:
            raise ToolError(str(error)) from error

    return answer


class Tools:
    """What an agent may ask; the docstrings are what it is told of each.

    Args:
        logdir: The directory.
    """

    def __init__(self, logdir: str) -> None:
        self._logdir = logdir
        self._readers: dict[str, RunReader] = {}
        self._explanation: Explanation | None = None

    def runs(self) -> list[dict[str, Any]]:
        """List the runs of the logdir, oldest first, with what each holds; "run_id" names one."""
        return [describe(self._open(files.label)) for files in list_runs(self._logdir)]

    def diagnose(self, run_id: str | None = None) -> dict[str, Any]:
        """Tell what made NaN and infinity: verdict, roots with op, line, evidence and fix.

        Args:
            run_id: Which run; the newest by default.
        """
        return diagnose(self._open(run_id)).to_json()

    def query(
        self, terms: str = "bad", limit: int = 50, run_id: str | None = None
    ) -> list[dict[str, Any]]:
        """List recorded tensors in order of time, with names, counts, step and source line.

        Args:
            terms: A filter, all terms of which must hold: bad, nan, inf, type=Log,
                fn=loss, line=train.py:19, step=6..9, dtype=float16, zero>90%, size>1k, any word
                of a name, /regex/; ! in front negates.
            limit: The most that are listed, up to 1000.
            run_id: Which run; the newest by default.
        """
        rows = tensor_rows(self._open(run_id), parse(terms))
        shown = itertools.islice(rows, max(0, min(limit, _MOST_TENSORS)))
        return [row.values() for row in shown]

    def explain(self, kind: Kind, index: int, output: int = 0, run_id: str | None = None) -> str:
        """Tell how one recorded tensor came about, from the root or the inputs to it.

        Args:
            kind: "graph_execution" or "execution", as query tells it.
            index: As query tells it.
            output: As query tells it.
            run_id: Which run; the newest by default.
        """
        run = self._open(run_id)
        events = run.executions if kind == "execution" else run.graph_executions
        if not 0 <= index < len(events):
            raise ValueError(f"there is no {kind} {index}: the run has {len(events)}")
        chain = self._explained(run).find_chain(TensorEvent(kind, index, output), run)
        return chain_to_text(chain)

    def source(
        self, file: str, first: int = 1, last: int | None = None, run_id: str | None = None
    ) -> str:
        """Return lines of a source file as it was when the program ran, with their numbers.

        Args:
            file: Its path, or the end of it.
            first: The first line, from 1.
            last: The last line; at most 400 lines are returned.
            run_id: Which run; the newest by default.
        """
        run = self._open(run_id)
        for host, path in run.source_paths:
            found = run.source(host, path) if path.endswith(file) else None
            if found and found.lines:
                if not 1 <= first <= len(found.lines):
                    raise ValueError(f"{file} has lines 1 to {len(found.lines)}")
                end = min(last or len(found.lines), first + _MOST_LINES - 1)
                lines = enumerate(found.lines[first - 1 : end], first)
                return "\n".join(f"{number:5} {shortened(line)}" for number, line in lines)
        raise ValueError(f"the dump holds no text of {file}")

    def _open(self, run_id: str | None) -> Run:
        """Return a run with what has been written by now."""
        files = choose_run(self._logdir, run_id)
        if files.label not in self._readers:
            self._readers[files.label] = RunReader(files)
        return self._readers[files.label].read_all()

    def _explained(self, run: Run) -> Explanation:
        if self._explanation is None or not self._explanation.is_of(run):
            self._explanation = Explanation(run, find_alerts(run))
        return self._explanation
