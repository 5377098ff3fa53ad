"""A report as one web page that needs nothing else: the diagnosis, the source, the bad tensors."""

from __future__ import annotations

import io
import itertools
import textwrap
from html import escape
from typing import TYPE_CHECKING

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tfdbg_tui.cli import colours, info, query
from tfdbg_tui.diagnosis import to_text, verdict_word
from tfdbg_tui.logdir.text import printable, shortened, with_blanks
from tfdbg_tui.query import parse, tensor_rows

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import Report
    from tfdbg_tui.logdir import Run

_WIDTH = 132  # columns of text
_HANGING = 15  # columns: the label of a paragraph, and 2
_AROUND = 6  # lines of source before and after that of a root or a suspect
_PLACES = 20  # of roots and suspects, whose source is shown
_TENSORS = 200  # bad ones that are listed

_FORMAT = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{{{ color: {{foreground}}; background-color: {{background}}; margin: 1em; }}}}
pre {{{{ font: clamp(9px, 1.1vw, 14px)/1.3 Menlo, "DejaVu Sans Mono", Consolas, monospace; }}}}
pre {{{{ overflow-x: auto; }}}}
code {{{{ font: inherit; }}}}
{{stylesheet}}
</style>
</head>
<body>
<pre><code>{{code}}</code></pre>
</body>
</html>
"""
"""Of a page; `Console.export_html` fills in what is in double braces after the title is.

All columns fit into a window of 800 pixels; narrower ones scroll sideways.
"""

_COLOURS = TerminalTheme(
    background=(255, 255, 255),
    foreground=(32, 36, 44),
    normal=[
        (0, 0, 0), (194, 24, 91), (27, 127, 75), (140, 90, 0),
        (26, 86, 196), (139, 0, 139), (0, 110, 125), (99, 107, 121),
    ],
    bright=[
        (99, 107, 121), (194, 24, 91), (27, 127, 75), (140, 90, 0),
        (26, 86, 196), (139, 0, 139), (0, 110, 125), (64, 70, 80),
    ],
)  # fmt: skip
"""The terminal's sixteen, each legible on white: of Rich's own some are not."""


def page_of(run: Run, report: Report) -> str:
    """Return the page.

    Args:
        run: The run.
        report: What was found out about it.
    """
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), emoji=False, markup=False)
    lines = map(_wrapped, to_text(report).split("\n"))
    console.print(Text.from_ansi(colours.coloured("\n".join(lines))))
    findings = (*report.roots, *report.suspects)
    places = ((found.location.file, found.location.line) for found in findings if found.location)
    for file, line in itertools.islice(dict.fromkeys(places), _PLACES):
        _print_source(console, run, file, line)
    _print_bad_tensors(console, run)
    console.rule("The run")
    console.print(Text(info.as_text(info.describe(run))))
    verdict = verdict_word(report.verdict, report.problems)
    title = escape(f"{verdict}: {printable(report.run_id or report.logdir)}")
    return console.export_html(theme=_COLOURS, code_format=_FORMAT.format(title=title))


def _wrapped(line: str) -> str:
    """Return a line of a report as lines that fit; the others begin right of its label."""
    if len(line) <= _WIDTH:
        return line
    return textwrap.fill(line, _WIDTH, subsequent_indent=" " * _HANGING, break_on_hyphens=False)


def _print_source(console: Console, run: Run, file: str, line: int) -> None:
    """Print a line of the program with those around it, if its source is on record.

    Args:
        console: Where.
        run: The run.
        file: Path of the source file.
        line: Number of the line, from 1.
    """
    hosts = (host for host, path in run.source_paths if path == file)
    source = run.source(next(hosts, ""), file)
    lines = source.lines if source else ()
    if not lines:
        return
    first = max(1, line - _AROUND)
    excerpt = "\n".join(
        printable(with_blanks(shortened(one))) for one in lines[first - 1 : line + _AROUND]
    )
    console.rule(Text(printable(f"{file}:{line}")))
    console.print(
        Syntax(
            excerpt,
            "python",
            theme="ansi_light",
            line_numbers=True,
            start_line=first,
            highlight_lines={line},
        )
    )


def _print_bad_tensors(console: Console, run: Run) -> None:
    table = Table(box=None, pad_edge=False)
    for name in query.HEADER[1:]:
        table.add_column(name, overflow="fold")
    rows = tensor_rows(run, parse("bad"))
    for row in itertools.islice(rows, _TENSORS):
        table.add_row(*map(Text, query.cells(row)[1:]))
    if table.row_count:
        console.rule("Tensors with NaN or infinity, in order of time")
        console.print(table)
    if next(rows, None) is not None:
        console.print(f"and more: these are the first {_TENSORS}")
