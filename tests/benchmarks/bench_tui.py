"""Times the app in a pseudo terminal: start to six panes with data, and key to last byte.

    python tests/benchmarks/bench_tui.py [--traces 10000000] [--sizes 80x24 120x40 200x60]

makes the large logdir of bench_reader.py, opens it, waits until it is read, and presses keys one
at a time. A key is done when its last byte has arrived (nothing more for 150 ms). Then it types
filters and columns to sort by, character by character, and tells how long a character waited at
most, when after Enter the first rows were there, and when all were; and once more with Esc half a
second behind Enter, how long Esc took, and what ran on for two seconds after it. Start is timed on
the small recorded logdir, from the process' start until all six panes show data; compile the
packages first (python -m compileall) or it is Python's compiler that is timed. Prints a table.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import select
import statistics
import struct
import sys
import tarfile
import tempfile
import termios
import time
from pathlib import Path

from bench_reader import RECORDED, scale

PROGRAM = "import sys; from tfdbg_tui.tui import run_app; run_app(sys.argv[1], fresh=True)"
KEYS = {  # one key, or two in turn
    "j": (b"j",),
    "PgDn": (b"\x1b[6~",),
    "G, g": (b"G", b"g"),
    "] next alert": (b"]",),
    "o, Backspace": (b"o", b"\x7f"),
    "Tab": (b"\t",),
}
QUIET = 0.15
TYPED = (b"\\bad", b"\\type=Relu", b"\\step=3", b"\\zero>90%", b"sname", b"szero")  # a key, a text
TYPING = 0.12  # seconds from one typed character to the next
UNDER_WAY = 0.5  # seconds that a filter or an order is under way before Esc ends it


class Terminal:
    """The app in a pseudo terminal of a size."""

    def __init__(self, logdir: Path, columns: int, rows: int) -> None:
        self.started = time.perf_counter()
        self.output = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            os.execve(sys.executable, [sys.executable, "-c", PROGRAM, str(logdir)], environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds: float) -> bool:
        """Read what comes within some seconds; tell whether anything did."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        data = os.read(self.fd, 1 << 20)
        if b"\x1b[?2026$p" in data:  # it asks for synchronized output: yes
            os.write(self.fd, b"\x1b[?2026;2$y")
        for _ in range(data.count(b"\x1b[6n")):  # it asks how far this terminal has got
            os.write(self.fd, b"\x1b[1;1R")
        self.output += data
        return True

    def until(self, *texts: bytes) -> float:
        """Return the seconds from the start until all texts have been seen."""
        while not all(text in self.output for text in texts):
            self.read(1.0)
        return time.perf_counter() - self.started

    def press(self, key: bytes) -> tuple[float, int]:
        """Return the milliseconds from a key to the last byte of its frame, and the bytes."""
        before = len(self.output)
        pressed = last = time.perf_counter()
        os.write(self.fd, key)
        while time.perf_counter() - last < QUIET or len(self.output) == before:
            if self.read(0.005):
                last = time.perf_counter()
            elif time.perf_counter() - pressed > 2.0:
                break  # this key changes nothing
        return (last - pressed) * 1e3, len(self.output) - before

    def type(self, text: bytes) -> float:
        """Type a text as a person does; return the most milliseconds that a character waited."""
        longest = 0.0
        for character in text:
            before, typed = len(self.output), time.perf_counter()
            os.write(self.fd, bytes([character]))
            while len(self.output) == before and time.perf_counter() - typed < 5.0:
                self.read(0.002)
            longest = max(longest, time.perf_counter() - typed)
            while time.perf_counter() - typed < TYPING:
                self.read(0.005)
        return longest * 1e3

    def enter(self) -> tuple[float, float]:
        """Press Enter; return the seconds until the first and the last byte of what that does."""
        entered, first, last, used = time.perf_counter(), 0.0, 0.0, -1.0
        os.write(self.fd, b"\r")
        while self.cpu() - used > 0.05:  # a list that is being sorted is drawn only when it is
            used, end = self.cpu(), time.perf_counter() + 1.5
            while time.perf_counter() < end:
                if self.read(0.01):
                    last = time.perf_counter() - entered
                    first = first or last
        return first, last

    def cancel(self, text: bytes) -> tuple[float, float]:
        """Type a text and Enter, and Esc a little later.

        Returns:
            Milliseconds to the last byte of what Esc does, and seconds of processor time in the two
            seconds after that.
        """
        self.type(text)
        os.write(self.fd, b"\r")
        end = time.perf_counter() + UNDER_WAY
        while time.perf_counter() < end:
            self.read(0.01)
        wait, _ = self.press(b"\x1b")
        before, end = self.cpu(), time.perf_counter() + 2.0
        while time.perf_counter() < end:
            self.read(0.1)
        return wait, self.cpu() - before

    def settle(self) -> None:
        while self.read(1.5):
            pass

    def cpu(self) -> float:
        """Return the seconds of processor time that the app has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def until_idle(self) -> float:
        """Return the seconds from the start until the app had nothing more to do."""
        used = -1.0
        while self.cpu() - used > 0.05:
            used = self.cpu()
            end = time.perf_counter() + 1.5
            while time.perf_counter() < end:
                self.read(0.1)
        return time.perf_counter() - self.started - 1.5

    def memory(self) -> float:
        """Return the resident memory in MB."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def close(self) -> None:
        os.write(self.fd, b"q")
        try:
            while self.read(2.0):
                pass
        except OSError:
            pass  # how a pseudo terminal says that the program has ended
        os.waitpid(self.pid, 0)


def time_start(logdir: Path, size: tuple[int, int], repeats: int) -> list[float]:
    """Return the seconds of some starts until every pane has data."""
    seconds = []
    for _ in range(repeats):
        terminal = Terminal(logdir, *size)
        last_data = b"tensor" if size[0] < 100 else b"Execution 0"
        seconds.append(terminal.until(b"495 alerts", last_data))
        terminal.settle()
        terminal.close()
    return seconds


def time_keys(logdir: Path, size: tuple[int, int], repeats: int) -> list[str]:
    """Return a row of the table for each key."""
    terminal = Terminal(logdir, *size)
    first_alert = terminal.until(b" alerts ")
    loaded = terminal.until_idle()
    terminal.press(b"3")
    rows = []
    for name, keys in KEYS.items():
        before = terminal.cpu()
        timed = [terminal.press(keys[i % len(keys)]) for i in range(repeats)]
        cpu = (terminal.cpu() - before) / repeats * 1e3
        times = sorted(milliseconds for milliseconds, _ in timed)
        size_text = f"{size[0]}x{size[1]}"
        bytes_a_key = statistics.median(count for _, count in timed)
        rows.append(
            f"| {size_text} | {name} | {statistics.median(times):.1f} "
            f"| {times[int(len(times) * 0.95)]:.1f} | {times[-1]:.1f} "
            f"| {cpu:.0f} | {bytes_a_key:,.0f} |"
        )
    rows.append(
        f"| {size_text} | (first alerts {first_alert:.1f} s, all read {loaded:.1f} s, "
        f"{terminal.memory():.0f} MB) | | | | | |"
    )
    terminal.close()
    return rows


def time_typed(logdir: Path, size: tuple[int, int]) -> list[str]:
    """Return a row of the table for each filter and each column to sort by."""
    terminal = Terminal(logdir, *size)
    terminal.until(b" alerts ")
    terminal.until_idle()
    terminal.press(b"\x1b3")
    rows = []
    for text in TYPED:
        terminal.press(text[:1])
        before, longest = terminal.cpu(), terminal.type(text[1:])
        first, last = terminal.enter()
        cpu = terminal.cpu() - before
        terminal.press(b"\x1b")
        terminal.press(text[:1])
        wait, after = terminal.cancel(text[1:])
        what = "filter" if text[:1] == b"\\" else "sort"
        rows.append(
            f"| {what} `{text[1:].decode()}` | {longest:.0f} ms | {first:.2f} s | {last:.1f} s "
            f"| {cpu:.1f} s | {wait:.0f} ms | {after:.2f} s |"
        )
    terminal.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logdir", type=Path, help="a large logdir made before")
    parser.add_argument("--traces", type=int, default=10_000_000)
    parser.add_argument("--executions", type=int, default=256_000)
    parser.add_argument("--sizes", nargs="+", default=["80x24", "120x40", "200x60"])
    parser.add_argument("--repeats", type=int, default=20)
    args = parser.parse_args()
    sizes = [(int(w), int(h)) for w, _, h in (size.partition("x") for size in args.sizes)]
    with tempfile.TemporaryDirectory() as directory:
        with tarfile.open(RECORDED) as archive:
            archive.extractall(directory, filter="data")
        small = Path(directory) / "mnist"
        print("| size | start to data, s: median | best |\n|---|---|---|")
        for size in sizes:
            seconds = time_start(small, size, 5)
            print(
                f"| {size[0]}x{size[1]} | {statistics.median(seconds):.2f} | {min(seconds):.2f} |"
            )
        large = args.logdir or Path(directory) / "large"
        if args.logdir is None:
            scale(small, large, args.traces, args.executions)
        print("\n| size | key | median ms | p95 ms | max ms | CPU ms | bytes |")
        print("|---|---|---|---|---|---|---|")
        for size in sizes:
            print("\n".join(time_keys(large, size, args.repeats)), flush=True)
        print("\n| typed | longest wait | first rows | all rows | CPU | Esc | CPU after Esc |")
        print("|---|--:|--:|--:|--:|--:|--:|")
        print("\n".join(time_typed(large, sizes[-1])), flush=True)


if __name__ == "__main__":
    main()
