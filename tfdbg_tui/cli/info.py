"""Print what a logdir holds: its runs, how many events of each kind, and the first alert."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tfdbg_tui.cli.options import add_logdir
from tfdbg_tui.cli.output import put
from tfdbg_tui.diagnosis import (
    SCHEMA_VERSION,
    TensorEvent,
    find_alerts,
    find_gaps,
    modes_of,
    summary_of,
)
from tfdbg_tui.logdir import RunReader, list_runs
from tfdbg_tui.logdir.text import counted, printable
from tfdbg_tui.wire.modes import mode_name

if TYPE_CHECKING:
    import argparse

    from tfdbg_tui.logdir import Run

_COUNTS = ("size", "neg_inf", "pos_inf", "nan", "neg", "zero", "pos")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_logdir(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the information and return 0."""
    described = []
    for files in list_runs(args.logdir):
        reader = RunReader(files)
        try:
            described.append(describe(reader.read_all()))
        finally:
            reader.close()
    if args.json:
        content = {"schema_version": SCHEMA_VERSION, "logdir": args.logdir, "runs": described}
        put(json.dumps(content, indent=2))
    else:
        put("\n\n".join(map(as_text, described)))
    return 0


def describe(run: Run) -> dict[str, Any]:
    """Return what a run holds, in the form of the command's JSON output."""
    return {
        "run_id": run.files.run_id,
        "directory": run.files.directory,
        "tensorflow_version": run.files.tensorflow_version,
        "hosts": list(run.hosts),
        "devices": list(run.devices),
        "started_at": run.files.started_at,
        "mode": run.files.mode_name or None,
        "tensor_debug_modes": [mode_name(mode) for mode in sorted(modes_of(run))],
        "executions": len(run.executions),
        "graph_executions": len(run.graph_executions),
        "graphs": len(run.graphs),
        "graph_ops": run.num_graph_ops,
        "stack_frames": run.num_stack_frames,
        "source_files": len(run.source_paths),
        "alerts": {
            "total": run.num_alerts,
            "executions": len(run.executions.alert_rows),
            "graph_executions": len(run.graph_executions.alert_rows),
        },
        "first_alert": _first_alert(run),
        "gaps": [gap.to_json() for gap in find_gaps(run)],
        "problems": [str(problem) for problem in run.problems],
    }


def _mode_text(run: dict[str, Any]) -> str:
    """Return the mode that the user asked for, and in which of TensorFlow's modes records are."""
    asked, used = run["mode"], ", ".join(run["tensor_debug_modes"])
    if asked and used and asked != used:
        return f"{asked}, recorded as {used}"
    return asked or used or "none recorded"


def _first_alert(run: Run) -> dict[str, Any] | None:
    alerts = find_alerts(run)
    if not len(alerts):
        return None
    event = alerts[0]
    summary = summary_of(run, event)
    counts = {name: getattr(summary, name, None) for name in _COUNTS}
    return {**_place(run, event), "output_slot": event.slot, "counts": counts}


def _place(run: Run, event: TensorEvent) -> dict[str, Any]:
    if event.kind == "execution":
        execution = run.executions[event.index]
        graph = run.graphs.get(execution.graph_id or "")
        return {
            "kind": event.kind,
            "index": event.index,
            "op_type": execution.op_type,
            "op_name": None,
            "graph": graph.name if graph else None,
            "wall_time": execution.wall_time,
        }
    trace = run.graph_executions[event.index]
    graph = run.graphs.get(trace.graph_id)
    return {
        "kind": event.kind,
        "index": event.index,
        "op_type": trace.op_type,
        "op_name": trace.op_name,
        "graph": graph.name if graph else None,
        "wall_time": trace.wall_time,
    }


def as_text(run: dict[str, Any]) -> str:
    """Return what `describe` tells, line by line."""
    started = run["started_at"]
    alerts, files = run["alerts"], counted(run["source_files"], "source file")
    when = datetime.fromtimestamp(started).strftime("%Y-%m-%d %H:%M:%S") if started else "unknown"
    rows = [
        ("run", run["run_id"] or "unknown (no readable metadata file)"),
        ("directory", run["directory"]),
        ("started", when),
        ("TensorFlow", run["tensorflow_version"] or "unknown"),
        ("hosts", ", ".join(run["hosts"]) or "none recorded"),
        ("devices", ", ".join(run["devices"]) or "none recorded"),
        ("debug mode", _mode_text(run)),
        ("executions", f"{run['executions']:,}"),
        ("graph executions", f"{run['graph_executions']:,}"),
        ("graphs", f"{run['graphs']:,} with {counted(run['graph_ops'], 'op')}"),
        (
            "stack frames",
            f"{run['stack_frames']:,} in {files}",
        ),
        (
            "alerts",
            f"{alerts['total']:,} ({alerts['executions']:,} in executions, "
            f"{alerts['graph_executions']:,} in graph executions)",
        ),
    ]
    if run["first_alert"]:
        rows.append(("first alert", _alert_text(run["first_alert"])))
    rows += [("missing", gap["text"]) for gap in run["gaps"]]
    rows += [("problem", problem) for problem in run["problems"]]
    return "\n".join(f"{name + ':':18}{printable(str(value))}" for name, value in rows)


def _alert_text(alert: dict[str, Any]) -> str:
    name = alert["op_name"] or alert["op_type"]
    where = f" in {alert['graph']}" if alert["graph"] else ""
    kind = alert["kind"].replace("_", " ")
    counts = [
        f"{alert['counts'][count]:,} {label}"
        for count, label in (("nan", "NaN"), ("neg_inf", "-∞"), ("pos_inf", "+∞"))
        if alert["counts"][count]
    ]
    size = alert["counts"]["size"]
    of = f" of {counted(size, 'element')}" if size is not None else ""
    what = ", ".join(counts) + of if counts else "NaN or ∞"
    return f"{name}:{alert['output_slot']}{where} ({kind} {alert['index']:,}): {what}"
