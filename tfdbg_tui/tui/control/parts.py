"""What the app is made of, for those who act on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.tui.actions.keymap import Keymap
    from tfdbg_tui.tui.background.chain_finder import ChainFinder
    from tfdbg_tui.tui.background.diagnoser import Diagnoser
    from tfdbg_tui.tui.background.filtering import Filtering
    from tfdbg_tui.tui.background.job_reader import JobReader
    from tfdbg_tui.tui.background.loader import Loader
    from tfdbg_tui.tui.background.search import Search
    from tfdbg_tui.tui.background.sorting import Sorting
    from tfdbg_tui.tui.background.tree_finder import TreeFinder
    from tfdbg_tui.tui.screens.main import MainScreen
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.terminal.pace import PacedApp
    from tfdbg_tui.tui.terminal.text import Charset


@dataclass(frozen=True, slots=True)
class Parts:
    """What the app is made of.

    Attributes:
        app: Textual's side of it: the stack of screens, the bell, the end.
        logdirs: The directories that are shown.
        charset: The characters to draw with.
        keymap: The keys.
        session: What is shown.
        main: The screen with the panes.
        loader: Reads the run.
        diagnoser: Diagnoses what has been read.
        job_reader: Summarises the processes of jobs.
        search: Searches lists.
        chain_finder: Finds the chain that `w` asks for.
        tree_finder: Finds the tree that Graph Structure shows.
        filtering: Finds what filters select.
        sorting: Sorts lists.
    """

    app: PacedApp
    logdirs: Sequence[str]
    charset: Charset
    keymap: Keymap
    session: Session
    main: MainScreen
    loader: Loader
    diagnoser: Diagnoser
    job_reader: JobReader
    search: Search
    chain_finder: ChainFinder
    tree_finder: TreeFinder
    filtering: Filtering
    sorting: Sorting

    def say(self, message: str) -> None:
        """Show a message in place of the keys for some seconds."""
        self.main.keys.say(message)
