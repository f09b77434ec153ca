"""Connections to a debugger's server: one that runs, or one that is started and ended here."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from microgen.base.errors import ToolError
from microgen.building import toolchain
from microgen.building.guard import Started
from microgen.running.runner import process
from microgen.running.runner.remote.address import Address

_CONNECT_SECONDS = 5.0
_START_SECONDS = 30.0  # pyOCD reads a pack, and probes are slow
_POLL_SECONDS = 0.05
_LOG, _EARLY = "server.txt", "early.txt"
_SAID = 300  # characters of the server's messages in an error
_MESSAGES = 3
_ERROR = re.compile(r"^(?:\S+ )?(?:Error: |\d+ [CE] )\s*(\S.*)$", re.M)


@dataclass(frozen=True, slots=True)
class Server:
    """A connection to a server. ``logs`` are the files of its messages, if it was started here."""

    connection: socket.socket
    logs: tuple[Path, ...] = ()

    def messages(self) -> str:
        """Its last messages of errors, empty if they are not known."""
        return _errors(self.logs)


@contextlib.contextmanager
def connected(address: Address) -> Iterator[Server]:
    """Connect to a server. If the address names no running server, one is started, and is ended
    with the block or when this process is killed. Raises ToolError if that fails."""
    if address.kind == "gdb":
        with _connect(address) as connection:
            yield Server(connection)
        return
    if address.kind == "openocd":
        toolchain.find("openocd")
    elif not toolchain.has("pyocd"):
        raise ToolError("pyocd is not installed", hint="pip install pyocd")
    started = _openocd if address.kind == "openocd" else _pyocd
    # The server runs in a new folder, because both servers read configuration, even programs, from
    # the current folder.
    with process.directory() as where, started(address.name, where) as server:
        yield server


def openocd(name: str, log: Path) -> list[str]:
    """The command of an OpenOCD that serves its standard input and output. A configuration that
    is not a file here may be one of OpenOCD's own."""
    path = Path(name)
    own = ["-s", str(path.resolve().parent)] if path.is_file() else []
    return [
        "openocd",
        *own,
        *("-f", str(path.resolve()) if own else name),
        *("-c", f"log_output {log.name}; gdb_port pipe; tcl_port disabled; telnet_port disabled"),
        *("-c", "init"),
        *("-c", "if {[llength [target names]] == 0} {error {Error: no target is configured}}"),
        *("-c", "reset halt; arm semihosting enable; arm semihosting_fileio enable"),
    ]


def pyocd(target: str, port: int) -> list[str]:
    """The command of a pyOCD that serves a port of this machine. It does not serve semihosting,
    because it would keep the firmware's output; microgen serves semihosting instead."""
    options = ("gdbserver", "--no-wait", "--target", target, "--port", str(port))
    return ["pyocd", *options, "--telnet-port", "0", "--no-config"]


@contextlib.contextmanager
def _openocd(name: str, where: Path) -> Iterator[Server]:
    ours, theirs = socket.socketpair()
    log = where / _LOG
    with ours, theirs, (where / _EARLY).open("wb") as messages:
        command = openocd(name, log)
        pipes = {"stdin": theirs.fileno(), "stdout": theirs.fileno(), "stderr": messages}
        with toolchain.started(command, cwd=where, **pipes):
            theirs.close()
            yield Server(ours, (where / _EARLY, log))


@contextlib.contextmanager
def _pyocd(target: str, where: Path) -> Iterator[Server]:
    port, log = _free_port(), where / _LOG
    with log.open("wb") as messages:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": messages, "stderr": messages}
        running = toolchain.started(pyocd(target, port), cwd=where, **pipes)
        with running as program, _when_ready(program, port, log) as connection:
            yield Server(connection, (log,))


def _free_port() -> int:
    # The system chooses a free port for 0.
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _when_ready(program: Started, port: int, log: Path) -> socket.socket:
    end = time.monotonic() + _START_SECONDS
    while program.popen.poll() is None and time.monotonic() < end:
        with contextlib.suppress(OSError):
            return _socket("127.0.0.1", port)
        time.sleep(_POLL_SECONDS)
    text = _errors([log]) or "nothing"
    what = "ended" if program.popen.poll() is not None else "serves no debugger"
    raise ToolError(f"pyocd {what}; it said: {text}", hint="see `pyocd list` and `pyocd list -t`")


def _connect(address: Address) -> socket.socket:
    try:
        return _socket(address.host, address.port)
    except OSError as error:
        raise ToolError(
            f"no debugger's server answers: {error.strerror or error}",
            where=str(address),
            hint="start it first, for example OpenOCD; `microgen help docs/guides/hardware.md` "
            "says how",
        ) from error


def _socket(host: str, port: int) -> socket.socket:
    connection = socket.create_connection((host, port), timeout=_CONNECT_SECONDS)
    # Packets are small, and each waits for the answer to the previous one.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _errors(logs: Sequence[Path]) -> str:
    text = "\n".join(
        log.read_text(encoding="utf-8", errors="replace") for log in logs if log.exists()
    )
    lines: Sequence[str] = _ERROR.findall(text) or text.split("\n")
    last = list(dict.fromkeys(line.strip() for line in lines if line.strip()))[-_MESSAGES:]
    return " ".join("; ".join(last).split())[:_SAID]
