"""What is wrong with a logdir, collected while it is read."""

from __future__ import annotations

import threading

from tfdbg_tui.logdir.events import Problem

_SHOWN_PER_FILE = 20


class Problems:
    """Problems by file, each once, and only the first of many in the same file.

    Any thread may add to them: some records turn out to be unreadable only when somebody asks.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._problems: dict[str, dict[object, Problem]] = {}
        self._more: dict[str, set[int]] = {}  # hashes of what those are about

    def add(self, path: str, message: str, key: object = None, *, passing: bool = False) -> None:
        """Note a problem.

        Args:
            path: File or directory concerned.
            message: What is wrong, where, and what was done about it; without the path.
            key: What the problem is about; a later message about the same replaces this one.
            passing: Whether it may go away when more is written.
        """
        key = message if key is None else key
        with self._lock:
            problems = self._problems.setdefault(path, {})
            if key in problems or len(problems) < _SHOWN_PER_FILE:
                problems[key] = Problem(path, f"{path}: {message}", passing)
            else:
                self._more.setdefault(path, set()).add(hash(key))

    def add_record(self, path: str, offset: int, error: Exception) -> None:
        """Note a record that cannot be read.

        Args:
            path: The file.
            offset: Where in the file the record begins, in bytes.
            error: What is wrong with it.
        """
        message = f"the record at byte {offset:,} is not readable ({error})"
        self.add(path, message, key=("record", offset))

    def discard(self, path: str, key: object) -> None:
        """Forget a problem that has gone."""
        with self._lock:
            self._problems.get(path, {}).pop(key, None)

    def snapshot(self) -> list[Problem]:
        """Return the problems so far."""
        found: list[Problem] = []
        with self._lock:
            for path, problems in self._problems.items():
                found += problems.values()
                if path in self._more:
                    more = f"{path}: and {len(self._more[path]):,} more problems"
                    found.append(Problem(path, more))
        return found
