"""A running `profline serve`, and requests to it as bytes on a socket."""

import re
import socket
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def make_runs(root: Path, *options: str) -> None:
    subprocess.run([sys.executable, str(HERE / "make_runs.py"), str(root), *options], check=True)


class Served:
    """Starts the program; ends it at the end of a `with` block and checks that it ended well."""

    def __init__(self, program: str, *arguments: str):
        self.process = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", self.address)
        assert found, self.address
        self.port, self.token = int(found[1]), found[2]

    def __enter__(self) -> "Served":
        return self

    def __exit__(self, *_) -> None:
        self.process.terminate()
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        assert code == 0, f"profline serve ended with {code}"

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def refuses(self) -> bool:
        """Whether it no longer listens."""
        try:
            self.connect().close()
            return False
        except ConnectionResetError:  # it stopped listening while this connection was being made
            return False
        except ConnectionRefusedError:
            return True

    def connect(self, timeout: float = 60) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def request(self, target: str, method: str = "GET", host: str = "", token: bool = True, extra: str = "") -> bytes:
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}"]
        if token:
            lines.append(f"Authorization: Bearer {self.token}")
        return ("\r\n".join(lines) + "\r\n" + extra + "Connection: close\r\n\r\n").encode("utf-8", "surrogateescape")

    def send(self, data: bytes) -> tuple[int, dict, bytes]:
        """Status, headers in lower case, and body; status 0: the connection was closed without an answer."""
        with self.connect() as connection:
            try:
                connection.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused before everything was sent
            return parse(read_all(connection))

    def get(self, target: str, **options) -> tuple[int, dict, bytes]:
        return self.send(self.request(target, **options))

    def list_page(self) -> bytes:
        """The list of runs, once they have been read."""
        while True:
            status, _, body = self.get("/")
            assert status == 200, status
            if b"being read for the first time" not in body:
                return body


def read_all(connection: socket.socket) -> bytes:
    data = b""
    while True:
        try:
            piece = connection.recv(65536)
        except (ConnectionResetError, TimeoutError):
            return data
        if not piece:
            return data
        data += piece


def parse(data: bytes) -> tuple[int, dict, bytes]:
    if not data:
        return 0, {}, b""
    head, _, body = data.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in rest:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return int(first.split()[1]), headers, body
