"""Places where a logdir can lie, each with the server that it takes."""

from __future__ import annotations

import contextlib
import getpass
import http.server
import os
import re
import shutil
import socket
import subprocess
import threading
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@dataclass
class Store:
    """A directory that files can be put into.

    Attributes:
        url: What a user calls it.
        put: Writes a file, given its name and its content.
        remove: Removes a file.
    """

    url: str
    put: Callable[[str, bytes], object]
    remove: Callable[[str], object]

    def fill(self, logdir: Path) -> None:
        """Puts all files of a logdir there."""
        for path in logdir.iterdir():
            self.put(path.name, path.read_bytes())


def disk(tmp_path: Path) -> Store:
    return in_directory(tmp_path, str(tmp_path))


def in_directory(directory: Path, url: str) -> Store:
    def put(name: str, data: bytes) -> None:
        path = directory / name
        if path.exists() and not data.startswith(path.read_bytes()):
            path.rename(directory / f"old {name}")  # another file, not this one with other content
        path.write_bytes(data)

    return Store(url, put, lambda name: (directory / name).unlink())


def memory() -> Store:
    fsspec = pytest.importorskip("fsspec")
    return in_file_system(fsspec.filesystem("memory"), f"memory://{uuid.uuid4().hex}/logs")


def in_file_system(files: Any, url: str) -> Store:
    def put(name: str, data: bytes) -> None:
        files.pipe_file(f"{url}/{name}", data)

    return Store(url, put, lambda name: files.rm(f"{url}/{name}"))


@contextlib.contextmanager
def web(tmp_path: Path, *, ranges: bool = True) -> Iterator[Store]:
    pytest.importorskip("aiohttp")
    handler = type("Handler", (WebFiles,), {"root": str(tmp_path), "ranges": ranges})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield in_directory(tmp_path, f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()


class WebFiles(http.server.SimpleHTTPRequestHandler):
    """Serves a directory, as Python's own server does, and parts of files where asked to."""

    root = ""
    ranges = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args, directory=self.root)

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        path = self.translate_path(self.path)
        if not (self.ranges and match and os.path.isfile(path)):
            return super().do_GET()
        with open(path, "rb") as file:
            data = file.read()[int(match[1]) : int(match[2]) + 1]
        self.send_response(206)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        return None


@contextlib.contextmanager
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    server_module = pytest.importorskip("moto.server")
    s3fs = pytest.importorskip("s3fs")
    server = server_module.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    try:
        files = s3fs.S3FileSystem(skip_instance_cache=True)
        name = uuid.uuid4().hex
        files.mkdir(name)
        yield in_file_system(files, f"s3://{name}/jobs/logs")
    finally:
        server.stop()


@contextlib.contextmanager
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    pytest.importorskip("paramiko")
    fsspec = pytest.importorskip("fsspec")
    sshd = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
    if sshd is None:
        pytest.skip("there is no sshd")
    port, logs = free_port(), tmp_path / "logs"
    logs.mkdir()
    for key in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / key)]
        subprocess.run(command, check=True)
    (tmp_path / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {tmp_path}/host\nStrictModes no\n"
        f"AuthorizedKeysFile {tmp_path}/user.pub\nPidFile none\nUsePAM no\n"
        "PermitRootLogin yes\nSubsystem sftp internal-sftp\n"
    )
    server = subprocess.Popen(
        [sshd, "-D", "-e", "-f", str(tmp_path / "config")], stderr=subprocess.PIPE, text=True
    )
    for line in server.stderr:
        if "listening" in line:
            break
    else:
        pytest.skip("sshd does not start as this user")
    options = {"key_filename": str(tmp_path / "user"), "allow_agent": False}
    monkeypatch.setitem(fsspec.config.conf, "sftp", {**options, "look_for_keys": False})
    try:
        yield in_directory(logs, f"sftp://{getpass.getuser()}@127.0.0.1:{port}{logs}")
    finally:
        server.terminate()
        server.stderr.close()  # those who serve a connection have it open too
        server.wait()


def free_port() -> int:
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port: int = chosen.getsockname()[1]
        return port
