"""Records logdirs of the corpus' programs.

    python -m tests.corpus.record --out /tmp/corpus/tensorflow/dev --part dev --writer tensorflow

writes `<out>/<program>/` for each program and `<out>/index.json` with the truth about all of them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shutil
import subprocess
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from .registry import PARTS, Program, programs, select

if TYPE_CHECKING:
    from collections.abc import Callable

WRITERS = ("tfdbg_tui", "tensorflow")


def record(
    program: Program, logdir: str | Path, writer: str = "tensorflow", mode: str = "FULL_HEALTH"
) -> None:
    """Runs a program with a dump of everything into `logdir`, which must not be there yet.

    Raises:
        FileExistsError: TensorFlow's writer dies when a directory is enabled for a second time.
        Exception: Whatever the program raises. The dump then ends where the program ended.
    """
    if Path(logdir).exists():
        raise FileExistsError(f"{logdir} exists: record into a new directory")
    enable, disable = _writer(writer)
    reset()
    enable(str(logdir), tensor_debug_mode=mode, circular_buffer_size=-1)
    try:
        program.function()
    finally:
        disable()


def reset() -> None:
    """Makes a program independent of the ones that ran before it in the process."""
    import tensorflow as tf

    tf.keras.backend.clear_session()
    tf.keras.mixed_precision.set_global_policy("float32")
    tf.keras.utils.set_random_seed(0)


def record_all(selected: list[Program], out: Path, writer: str, mode: str) -> list[str]:
    """Records programs, most of them in one process. Returns one sentence for each failure.

    When a process dies, a new one goes on with the program that was running.
    """
    failures: list[str] = []
    waiting = selected
    while waiting:
        command = [sys.executable, "-m", __spec__.name, "--in-process", "--out", str(out)]
        command += ["--writer", writer, "--mode", mode, "--part", waiting[0].part]
        first = waiting[0]
        process = subprocess.Popen(
            [*command, *(program.name for program in waiting)], stdout=subprocess.PIPE, text=True
        )
        for line in process.stdout:
            outcome = json.loads(line)
            waiting = waiting[1:]
            if outcome["error"]:
                failures.append(f"{outcome['name']}: {outcome['error']}")
        if process.wait() != 0 and waiting:
            shutil.rmtree(out / waiting[0].name, ignore_errors=True)
            if waiting[0] is first:  # it had the process for itself
                failures.append(f"{first.name}: the process died with {process.returncode}")
                waiting = waiting[1:]
    return failures


def index(selected: list[Program]) -> list[dict[str, object]]:
    """Returns the truth about programs in a form for JSON."""
    return [
        {
            "name": program.name,
            "logdir": program.name,
            "healthy": program.healthy,
            "root_ops": program.root_ops,
            "kind": program.kind,
            "file": program.file,
            "root_line": program.root_lines[0] if program.root_lines else None,
            "root_lines": program.root_lines,
            "note": program.note,
        }
        for program in selected
    ]


def _writer(name: str) -> tuple[Callable[..., None], Callable[[], None]]:
    """Returns the functions that enable and disable a dump writer."""
    if name == "tfdbg_tui":
        import tfdbg_tui

        return tfdbg_tui.enable_dump_debug_info, tfdbg_tui.disable_dump_debug_info
    import tensorflow as tf

    experimental = tf.debugging.experimental
    return experimental.enable_dump_debug_info, experimental.disable_dump_debug_info


def _record_in_process(selected: list[Program], out: Path, writer: str, mode: str) -> None:
    """Records programs one after the other, and prints one line of JSON as each one is done."""
    for program in selected:
        error = None
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                record(program, out / program.name, writer, mode)
        except Exception as exception:
            traceback.print_exc()
            error = f"{type(exception).__name__}: {str(exception).splitlines()[0]}"
        print(json.dumps({"name": program.name, "error": error}), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="programs, or themes; all of the part if none")
    parser.add_argument("--part", choices=PARTS, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--writer", choices=WRITERS, default="tfdbg_tui")
    parser.add_argument("--mode", default="FULL_HEALTH")
    parser.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()

    everything = programs(args.part)
    selected = select(everything, args.names)
    if args.in_process:
        _record_in_process(selected, args.out, args.writer, args.mode)
        return 0
    for program in selected:
        shutil.rmtree(args.out / program.name, ignore_errors=True)
    failures = record_all(selected, args.out, args.writer, args.mode)
    recorded = [program for program in everything if (args.out / program.name).exists()]
    (args.out / "index.json").write_text(json.dumps(index(recorded), indent=1))
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{len(selected)} recorded, {len(failures)} failed, {len(recorded)} in the index")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
