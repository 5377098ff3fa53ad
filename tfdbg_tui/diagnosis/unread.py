"""Whether Python can have read what a loop of it was given, by the source text.

What Python does with an eager tensor leaves no record.  But of ``for x in dataset: n += 1`` the
text tells that nothing is done with `x`.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import stack_id_of
from tfdbg_tui.diagnosis.locations import is_without_file, source_lines, user_frame
from tfdbg_tui.diagnosis.statements import parsed_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run

_READ_ALL = frozenset({"dir", "eval", "exec", "globals", "locals", "vars"})
_READ_NOTHING = frozenset({"enumerate", "iter", "len", "list", "sum", "tuple", "zip"})
_READ = frozenset(dir(builtins)) - _READ_NOTHING
_NOTEBOOK = "ipykernel"

_Loop = ast.For | ast.AsyncFor | ast.comprehension
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def is_unread_element(run: Run, event: TensorEvent) -> bool:
    """Whether an eager tensor is what a loop of the user's was given, and is not read there.

    Args:
        run: The run.
        event: The tensor, an element of a dataset or a part of one.
    """
    stack_id = stack_id_of(run, event)
    frames = run.stack(stack_id) if stack_id is not None else ()
    position = user_frame(frames)
    if position is None or [f.function for f in frames[position + 1 :]][:1] != ["__next__"]:
        return False
    frame, parts = frames[position], run.executions.kind(event.index).num_outputs
    is_cell = is_without_file(frame) or _NOTEBOOK in (frame.path or "")
    lines = source_lines(run, frame.host, frame.path)
    return reads_none(lines, frame.line, (event.slot, parts), is_cell=is_cell)


def reads_none(
    lines: Sequence[str], line: int, part: tuple[int, int] = (0, 1), *, is_cell: bool = False
) -> bool:
    """Whether the function around the loops at a line reads none of what they are given.

    Args:
        lines: The source text.
        line: The line, from 1.
        part: Which part of an element is meant, from 0, and of how many.
        is_cell: Whether other texts, which are not known, read the names outside of functions.
    """
    nodes = parsed_nodes("\n".join(lines)) or []
    here = [n for n in nodes if isinstance(n, ast.stmt | ast.expr) and _is_at(n, line)]
    loops = [
        node
        for node in nodes
        if isinstance(node, _Loop) and node.target.lineno <= line <= (node.iter.end_lineno or 0)
    ]
    if len(loops) != 1 or any(isinstance(n, ast.Starred) or _may_read(n, nodes) for n in here):
        return False
    functions = [n for n in here if isinstance(n, _Function) and loops[0] in ast.walk(n)]
    target = list(ast.walk(_target(loops[0], *part)))
    names = {node.id for node in target if isinstance(node, ast.Name)}
    read = set(_read_in(functions[-1] if functions else nodes[0]))
    are_names = all(isinstance(n, ast.Name | ast.Tuple | ast.Store) for n in target)
    is_known = are_names and not (is_cell and not functions)
    return is_known and names.isdisjoint(read) and read.isdisjoint(_READ_ALL)


def _target(loop: _Loop, number: int, parts: int) -> ast.expr:
    """Return what a loop assigns a part of an element to, or all of it."""
    target, given = loop.target, loop.iter
    if _is_call_of(given, "enumerate") and isinstance(target, ast.Tuple):
        target = target.elts[-1]
    is_joined = any(_is_call_of(node, "zip") for node in ast.walk(given))
    if isinstance(target, ast.Tuple) and len(target.elts) == parts and not is_joined:
        return target.elts[number]
    return target


def _is_call_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _is_at(node: ast.stmt | ast.expr, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or 0)


def _may_read(node: ast.AST, nodes: Sequence[ast.AST]) -> bool:
    """Whether a node calls what may read elements without a frame of the user's.

    Args:
        node: The node.
        nodes: All nodes of the text, those that import something included.
    """
    if not isinstance(node, ast.Call):
        return False
    called: ast.expr = node.func
    while isinstance(called, ast.Attribute):
        called = called.value
    imports = [n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom)]
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for one in imports
        for alias in one.names
        if not (getattr(one, "module", None) or alias.name).startswith("tensorflow")
    }
    return isinstance(called, ast.Name) and called.id in _READ | imported


def _read_in(scope: ast.AST) -> Iterator[str]:
    """Yield the names that are read in a part of a text, there or from elsewhere."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
