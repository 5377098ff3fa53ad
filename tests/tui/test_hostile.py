"""A logdir is untrusted: nothing in it steers the terminal, is markup, or breaks a row."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.cli import main
from tfdbg_tui.program import Program
from tfdbg_tui.wire import events
from tfdbg_tui.wire.tfrecord import frame

if TYPE_CHECKING:
    from tests.tui.conftest import Open

HOSTILE = "\x1b]0;owned\x07[red]x[/red]\x9b2J\r\n\u202e名前\u0301[@click=app.quit]y[/]" + "n" * 300
VECTOR = (1.0, 0.0, 1.0, 2.0, 4.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0)  # FULL_HEALTH: one NaN, one -∞


def write(path: Path, *messages: events.DebugEvent) -> None:
    path.write_bytes(b"".join(frame(message.encode()) for message in messages))


@pytest.fixture
def hostile_logdir(tmp_path: Path) -> Path:
    """A logdir with the same horrid string in every place that has a string."""
    logdir = tmp_path / "logdir"
    logdir.mkdir()
    prefix = str(logdir / "tfdbg_events.1.host")
    event, text = events.DebugEvent, HOSTILE
    proto = events.TensorProto(dtype=2, tensor_content=struct.pack("<11d", *VECTOR)).encode()
    location = events.CodeLocation(host_name=text, stack_frame_ids=["f"]).encode()
    metadata = events.DebugMetadata(
        tensorflow_version=text, file_version="debug.Event:1", tfdbg_run_id=text
    )
    source = events.SourceFile(file_path=text, host_name=text, lines=[text, text])
    line = events.FileLineCol(file_index=0, line=2, func=text)
    graph = events.DebuggedGraph(graph_id="g", graph_name=text)
    op = events.GraphOpCreation(
        op_type=text,
        op_name=text,
        graph_id="g",
        input_names=[text + ":0"],
        num_outputs=1,
        code_location=location,
    )
    trace = events.GraphExecutionTrace(
        tfdbg_context_id="g",
        op_name=text,
        tensor_debug_mode=4,
        tensor_proto=proto,
        device_name=text,
    )
    execution = events.Execution(
        op_type=text,
        num_outputs=1,
        tensor_debug_mode=4,
        tensor_protos=[proto],
        code_location=location,
    )
    files = {
        "metadata": [event(wall_time=1.0, debug_metadata=metadata.encode())],
        "source_files": [event(wall_time=1.0, source_file=source.encode())],
        "stack_frames": [
            event(
                wall_time=1.0,
                stack_frame_with_id=events.StackFrameWithId(id="f", file_line_col=line).encode(),
            )
        ],
        "graphs": [
            event(wall_time=1.0, debugged_graph=graph.encode()),
            event(wall_time=1.0, graph_op_creation=op.encode()),
        ],
        "graph_execution_traces": [event(wall_time=2.0, graph_execution_trace=trace.encode())] * 3,
        "execution": [event(wall_time=3.0, execution=execution.encode())] * 3,
    }
    for suffix, messages in files.items():
        write(Path(f"{prefix}.{suffix}"), *messages)
    return logdir


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_hostile_strings_are_shown_literally(
    open_app: Open, hostile_logdir: Path, size: tuple[int, int]
) -> None:
    async with open_app(hostile_logdir, size) as opened:
        await opened.press("a", "j", "enter", "6", "H", "5", "2", "enter")
        await opened.press("1", "r", "r", "l", "w", "j", "k", "tab", "j", "y")
        await opened.press("y", "question_mark", "escape")
        width, height = size
        strips = opened.app.screen._compositor.render_strips()
        assert len(strips) == height
        for strip in strips:
            assert strip.cell_length == width
            for segment in strip:
                assert segment.text.isprintable()
                assert "\u202e" not in segment.text
                assert not (segment.style and segment.style.meta.get("@click"))
        assert "[red]x" in opened.screen(), "markup is text"
        assert len(opened.snapshot.alerts) == 6


async def test_what_covers_the_panes_is_inert_too(open_app: Open, hostile_logdir: Path) -> None:
    log = Path(Program(str(hostile_logdir), [], run_id=HOSTILE).log_path)
    log.write_text(f"{HOSTILE}\n\x1b[2J{HOSTILE}")
    shutil.copytree(hostile_logdir, hostile_logdir / "again")
    with (hostile_logdir / "tfdbg_events.1.host.execution").open("ab") as file:
        file.write(b"damage")
    boxes = (["exclamation_mark"], ["O"], ["R"], ["e"], ["ctrl+p"], ["colon", *"x:1", "enter"])
    async with open_app(hostile_logdir, (80, 24), run=HOSTILE) as opened:
        for keys in boxes:
            await opened.press(*keys)
            assert opened.screen().replace("\n", "").isprintable(), keys
            await opened.press("escape")
        await opened.press("c")
        assert opened.app.clipboard.isprintable()
        await opened.press("a", "w", "Y")
        assert opened.app.clipboard.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "arguments",
    [
        ["info"],
        ["info", "--json"],
        ["diagnose"],
        ["diagnose", "--json"],
        ["diagnose", "--run", "no such run"],
        ["diagnose", "--run", HOSTILE],
    ],
)
def test_what_commands_print_is_inert(
    hostile_logdir: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    other = shutil.copytree(hostile_logdir, hostile_logdir / HOSTILE.partition("/")[0])
    metadata = events.DebugMetadata("2", "", HOSTILE + "2").encode()
    write(other / "tfdbg_events.1.host.metadata", events.DebugEvent(2.0, debug_metadata=metadata))
    (other / "tfdbg_events.1.host.graphs").write_bytes(b"damage")
    code = main([arguments[0], str(hostile_logdir), *arguments[1:]])
    out, err = capsys.readouterr()
    assert (code, bool(out)) in ((0, True), (1, True), (2, False))
    assert (out + err).replace("\n", "").isprintable()
    assert "[red]x[/red]" in out + err
    assert err.count("\n") <= 1
