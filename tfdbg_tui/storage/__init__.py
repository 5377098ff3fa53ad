"""Where logdirs lie: on disks of this machine (`local`), or behind a URL (`remote`, by fsspec).

`storage_of` says which of the two a path is for; both are a `Storage`, see `interface`.  Nothing of
fsspec is imported before a URL is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.storage import urls
from tfdbg_tui.storage.local import LOCAL

if TYPE_CHECKING:
    from tfdbg_tui.storage.interface import Storage


def storage_of(path: str) -> Storage:
    """Return where a path of this machine, or what is behind a URL, is read from.

    Raises:
        MissingPackageError: What reads such URLs is not installed.
    """
    if not urls.is_url(path):
        return LOCAL
    from tfdbg_tui.storage.remote import remote_storage

    return remote_storage(urls.server_of(path))
