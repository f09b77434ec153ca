"""The value of ``run --on``: a debugger's server that runs, or one to be started."""

from __future__ import annotations

import re
from dataclasses import dataclass

from microgen.base.errors import UsageError

FORMS = "gdb:HOST:PORT, openocd:CONFIG or pyocd:TARGET"
_TARGET = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")  # pyOCD must not read it as an option


@dataclass(frozen=True, slots=True)
class Address:
    """A server. ``kind`` is gdb, openocd or pyocd. ``host`` and ``port`` are set if the server runs
    already; ``name`` is OpenOCD's configuration file or pyOCD's target."""

    kind: str
    name: str
    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def parse(text: str) -> Address:
    """The server that a text names. An address of IPv6 is in brackets, ``gdb:[::1]:3333``; without
    a host it is this machine. Raises UsageError."""
    kind, _, detail = text.partition(":")
    if kind == "gdb":
        return _running(text, detail)
    if (kind == "openocd" and detail) or (kind == "pyocd" and _TARGET.fullmatch(detail)):
        return Address(kind, detail)
    raise _wrong(text)


def _running(text: str, address: str) -> Address:
    host, _, port = address.rpartition(":")
    if len(host) > 2 and host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host or not _is_name(host):
        raise _wrong(text)
    if not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 1 << 16:
        raise _wrong(text)
    return Address("gdb", address, host or "localhost", int(port))


def _is_name(host: str) -> bool:
    """Whether a name may be a host's name in DNS. Other names are not looked up."""
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return "[" not in host


def _wrong(text: str) -> UsageError:
    return UsageError(
        f"{text!r} names no debugger's server", where="--on", hint=f"expected {FORMS}"
    )
