"""Servers that ``run --on`` starts, imitated by small programs, and those that are not there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from microgen.base.errors import MicrogenError, RunError, ToolError
from microgen.running.runner.remote import servers, target
from microgen.running.runner.remote.address import parse
from tests.running.runner.remote.fake import free_port
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_OPENOCD

# Each notes its arguments and its folder, says something and speaks the protocol, on its standard
# input and output or on a port.
_OPENOCD = """
import os, sys
log = sys.argv[sys.argv.index("-c") + 1].split(";")[0].split()[1]
with open(os.environ["NOTE"], "w") as note:
    print(os.getcwd(), *sys.argv[1:], sep="\\n", file=note)
with open(log, "w") as text:
    print("Info : fine", "Error: open failed", sep="\\n", file=text)
if "refuse.cfg" not in " ".join(sys.argv):
    sys.stdin.buffer.read(4)
    sys.stdout.buffer.write(b"+$S05#b8")
    sys.stdout.buffer.flush()
    sys.stdin.buffer.read()
"""
_PYOCD = """
import os, socket, sys
with open(os.environ["NOTE"], "w") as note:
    print(os.getcwd(), *sys.argv[1:], sep="\\n", file=note)
if "absent" in sys.argv:
    print("0001104 E No probe selected. [gdbserver_cmd]")
    sys.exit(1)
with socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1]))) as server:
    connection, _ = server.accept()
    with connection:
        connection.sendall(b"+$S05#b8")
        while connection.recv(100):
            pass
"""


@pytest.fixture
def note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs named openocd and pyocd are found first. They write to the file that is returned."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, text in (("openocd", _OPENOCD), ("pyocd", _PYOCD)):
        (folder / name).write_text(f"#!{sys.executable}\n{text}")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("NOTE", str(tmp_path / "note"))
    return tmp_path / "note"


def _greeting(on: str) -> tuple[bytes, str]:
    """What a server answers first, and the error that it reports."""
    with servers.connected(parse(on)) as server:
        server.connection.settimeout(20.0)
        server.connection.sendall(b"$?#3f")
        data = b""
        while len(data) < 8 and (more := server.connection.recv(100)):
            data += more
        return data, server.messages()


def test_openocd_serves_its_standard_input_and_output(
    note: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.cfg").write_text("")
    assert _greeting("openocd:my.cfg") == (b"+$S05#b8", "open failed")
    where, *arguments = note.read_text().splitlines()
    # Neither the current folder nor the project may have what a configuration includes.
    assert Path(where) != tmp_path
    assert not Path(where).exists()
    assert arguments[:4] == ["-s", str(tmp_path), "-f", str(tmp_path / "my.cfg")]
    assert "arm semihosting_fileio enable" in arguments[-1]


def test_a_configuration_may_be_one_of_openocds_own(note: Path) -> None:
    _greeting("openocd:board/nothing_here.cfg")
    assert note.read_text().splitlines()[1:3] == ["-f", "board/nothing_here.cfg"]


def test_pyocd_serves_a_port(note: Path) -> None:
    assert _greeting("pyocd:stm32f405rg") == (b"+$S05#b8", "")
    where, *arguments = note.read_text().splitlines()
    assert not Path(where).exists()
    assert arguments[:4] == ["gdbserver", "--no-wait", "--target", "stm32f405rg"]


def test_servers_that_end_at_once(note: Path) -> None:
    with pytest.raises(ToolError, match="pyocd ended; it said: No probe selected"):
        _greeting("pyocd:absent")
    assert not Path(note.read_text().splitlines()[0]).exists()


@pytest.mark.parametrize(
    ("on", "hint"), [("openocd:x.cfg", "apt-get install openocd"), ("pyocd:x", "pip install pyocd")]
)
def test_servers_that_are_not_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, on: str, hint: str
) -> None:
    monkeypatch.setattr(servers.toolchain, "search_path", lambda: str(tmp_path))
    with pytest.raises(ToolError, match=hint):
        _greeting(on)


def test_nobody_listens() -> None:
    with pytest.raises(MicrogenError, match="no debugger's server answers: Connection refused"):
        _greeting(f"gdb:localhost:{free_port()}")
    with pytest.raises(MicrogenError, match="no debugger's server answers"):
        _greeting("gdb:no.such.host.invalid:1")


@NEEDS_OPENOCD
def test_the_real_openocd_without_a_board(tmp_path: Path) -> None:
    absent = tmp_path / "absent.cfg"
    with servers.connected(parse(f"openocd:{absent}")) as server:
        server.connection.settimeout(20.0)
        assert server.connection.recv(1) == b""
        assert server.messages() == f"Can't find {absent}"
    (tmp_path / "dummy.cfg").write_text("adapter driver dummy\n")
    with servers.connected(parse(f"openocd:{tmp_path}/dummy.cfg")) as server:
        server.connection.settimeout(20.0)
        assert server.connection.recv(1) == b""
        assert server.messages()


@NEEDS_OPENOCD
@NEEDS_ARM_GCC
def test_the_real_openocd_with_a_core_that_is_not_there(
    tmp_path: Path, project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenOCD's server tells about an ARM7, although its adapter is a dummy. A reset would fail."""
    command = servers.openocd
    monkeypatch.setattr(servers, "openocd", lambda name, log: command(name, log)[:-2])
    (tmp_path / "arm7.cfg").write_text(
        "adapter driver dummy\nadapter speed 100\njtag newtap x cpu -irlen 4\n"
        "target create x.cpu arm7tdmi -chain-position x.cpu\n"
    )
    elf = project("mps2_an386") / "build" / "firmware.elf"
    with (
        pytest.raises(RunError, match="the server's core is arm without the M profile"),
        target.opened(parse(f"openocd:{tmp_path}/arm7.cfg"), elf, 5.0),
    ):
        pass


@NEEDS_ARM_GCC
def test_an_error_has_what_the_server_said(note: Path, project: Callable[..., Path]) -> None:
    elf = project("mps2_an386") / "build" / "firmware.elf"
    with (
        pytest.raises(RunError, match=r"it said: open failed; is the board connected"),
        target.opened(parse("openocd:refuse.cfg"), elf, 5.0),
    ):
        pass
    assert note.exists()
