"""URLs of logdirs: which server, and what of them may be shown.

Passwords, and the signatures in the queries of web addresses, are put aside when a URL comes in:
every other part of this program has the URL without them, so that none can print them.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<server>[^/]*)(?P<path>.*)", re.DOTALL)
_WEB = ("http", "https")

EXTRAS = {
    "s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs", "az": "az", "abfs": "az", "abfss": "az",
    "hdfs": "hdfs", "sftp": "sftp", "ssh": "sftp", "http": "remote", "https": "remote",
}  # fmt: skip
"""Extra of this package that reads each kind of URL."""

_passwords: dict[str, str] = {}  # of servers, as they are shown
_queries: dict[str, str] = {}


def is_url(path: str) -> bool:
    """Return whether a path names something that is not on this machine's disks."""
    return _URL.match(path) is not None


def is_known(path: str) -> bool:
    """Return whether a path is a URL of a kind that an extra of this package is for."""
    return path.partition("://")[0].lower() in EXTRAS and is_url(path)


def without_secrets(path: str) -> str:
    """Return a URL without its password and query, which are kept; and any other path as it is."""
    match = _URL.fullmatch(path)
    if match is None:
        return path
    user_info, at, host = match["server"].rpartition("@")
    user, _, password = user_info.partition(":")
    server = f"{match['scheme'].lower()}://{user}{at}{host}"
    if password:
        _passwords[server] = password
    rest, query = match["path"], ""
    if match["scheme"].lower() in _WEB:
        rest, _, query = rest.partition("?")
    if query:
        _queries[server] = query
    return server + (rest.rstrip("/") or "")


def server_of(url: str) -> str:
    """Return the part of a URL that names a server, a bucket or the like."""
    match = _URL.fullmatch(without_secrets(url))
    assert match is not None
    return f"{match['scheme']}://{match['server']}"


def with_secrets(url: str) -> str:
    """Return a URL as it was before `without_secrets`."""
    server = server_of(url)
    password, query = _passwords.get(server), _queries.get(server)
    if password:
        scheme, _, rest = url.partition("://")
        user, _, rest = rest.partition("@")
        url = f"{scheme}://{user}:{password}@{rest}"
    return f"{url}?{query}" if query else url


def scrubbed(text: str, server: str) -> str:
    """Return a text that others made without the secrets of a server."""
    for secret in (_passwords.get(server), _queries.get(server)):
        for form in (secret, unquote(secret)) if secret else ():
            text = text.replace(form, "***")
    return text
