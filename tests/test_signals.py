"""Signals end a command as Ctrl-C does. No process that it started survives, even after SIGKILL."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import microgen
from microgen.base import manifest
from microgen.base.files import FileTree
from microgen.base.manifest import note
from tests.running.runner import standin
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_CC, NEEDS_GDBSERVER

ROOT = Path(__file__).parents[1]
SECONDS = 30.0

pytestmark = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")

by_signal = pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        signal.SIGKILL,
        *(
            pytest.param(number, marks=pytest.mark.slow)
            for number in (signal.SIGINT, signal.SIGHUP)
        ),
    ],
    ids=lambda number: number.name,
)


def _until(what: Callable[[], bool]) -> bool:
    end = time.monotonic() + SECONDS
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    return what()


def _running(word: Path, file: str = "cmdline") -> set[int]:
    """The other processes whose command lines, or environments, contain a path."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if bytes(word) in (entry / file).read_bytes():
                    found.add(int(entry.name))
            except OSError:
                continue
    return found


def _program(pid: int) -> str:
    """The name of the program that a process runs; empty if it has just ended."""
    try:
        return Path(os.readlink(f"/proc/{pid}/exe")).name
    except OSError:
        return ""


Start = Callable[[list[str], Path], "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """A function that starts Python with arguments, in its own session and with a folder for
    temporary files.

    The process is ended if the test fails earlier.
    """
    with contextlib.ExitStack() as ended:

        def started(arguments: list[str], scratch: Path) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                # ccache would change the compiler's name.
                env={**os.environ, "TMPDIR": str(scratch), "CCACHE_DISABLE": "1"},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            ended.enter_context(process)
            ended.callback(process.terminate)
            return process

        yield started


def _ended(process: subprocess.Popen[str], number: signal.Signals) -> str:
    """Sends the signal, and returns what the process wrote.

    Its exit code must be the one that a shell gives a command.
    """
    process.send_signal(number)
    _, said = process.communicate(timeout=SECONDS)
    killed = number == signal.SIGKILL
    assert process.returncode == (-number if killed else 128 + number)
    assert said == ("" if killed else "microgen: interrupted\n")
    return said


def _loop(project: Path) -> None:
    """Makes main run forever, in firmware that verify still accepts."""
    path = project / "src/main.c"
    text = path.read_text()
    start = text.index("{", text.index("int main(")) + 1
    path.write_text(
        f"{text[:start]}\n    volatile int on = 1;\n    while (on) {{\n    }}\n{text[start:]}"
    )
    record = manifest.load(project)
    changed = replace(record, files={**record.files, "src/main.c": _digest(path)})
    changed = replace(changed, built_from=note.digest(changed.content()))
    header = note.header(record.module)
    noted = (project / header).read_text().replace(record.built_from, changed.built_from)
    (project / header).write_text(noted)
    changed = replace(changed, files={**changed.files, header: _digest(project / header)})
    (project / "microgen.json").write_bytes(changed.dumps())


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def looping(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A function that returns a built project for a board, whose firmware loops."""
    made: dict[str, Path] = {}

    def get(board: str) -> Path:
        if board not in made:
            made[board] = tmp_path_factory.mktemp(board) / "project"
            microgen.generate(SMALL, board, made[board])
            _loop(made[board])
            microgen.build(made[board])
        return made[board]

    return get


# In every run of the tests, each of the two signals ends an emulator or a program of the host.
_USUAL = {("mps2_an386", signal.SIGTERM), ("native", signal.SIGKILL)}


@pytest.mark.parametrize(
    ("board", "number"),
    [
        pytest.param(
            *(board, number),
            marks=[needs, *[pytest.mark.slow] * ((board, number) not in _USUAL)],
        )
        for board, needs in (("mps2_an386", NEEDS_ARM), ("native", NEEDS_CC))
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP)
    ],
)
def test_a_run_leaves_nothing(
    start: Start, looping: Callable[[str], Path], tmp_path: Path, board: str, number: signal.Signals
) -> None:
    project = looping(board)
    elf = project / "build" / "firmware.elf"
    process = start(["-m", "microgen", "run", "-q", str(project)], tmp_path)

    def firmware() -> set[int]:
        """An emulator runs a copy of the firmware in the command's temporary folder."""
        programs = ("qemu-system-arm", "firmware.elf")
        return {pid for pid in _running(elf) | _running(tmp_path) if _program(pid) in programs}

    assert _until(lambda: bool(firmware())), "the firmware never ran"
    assert list(tmp_path.iterdir()), "the command has no temporary folder"
    _ended(process, number)
    assert _until(lambda: not (_running(project) or firmware())), "a process is left"
    assert _until(lambda: not list(tmp_path.iterdir())), "a temporary folder is left"


_HALTED = """
import sys, time
from pathlib import Path
from microgen.running.runner import process, qemu
from microgen.target import board
with process.directory() as where:
    command = qemu.command(board.load(sys.argv[1]), Path(sys.argv[2]), halted=True)
    with process.started(command, where, gdb=True) as running:
        print("started", flush=True)
        time.sleep(60)
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "board",
    [pytest.param("mps2_an386", marks=NEEDS_ARM), pytest.param("native", marks=NEEDS_GDBSERVER)],
)
def test_a_debuggers_session_is_ended_too(start: Start, tmp_path: Path, board: str) -> None:
    project = standin.make(tmp_path / "project", board, "HANG")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    elf = project / "build" / "firmware.elf"
    process = start(["-c", _HALTED, board, str(elf)], scratch)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    assert _until(lambda: len(_running(elf)) > 1)
    process.kill()
    process.communicate()
    assert _until(lambda: not _running(elf)), "a process is left"
    assert _until(lambda: not list(scratch.iterdir())), "a temporary folder is left"


_SERVER = """
import sys, time
from microgen.running.runner.remote import address, servers
with servers.connected(address.parse(sys.argv[1])):
    print("started", flush=True)
    time.sleep(60)
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["openocd", "pyocd"])
def test_a_debuggers_server_is_ended_too(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The server is a program in Python that listens where pyOCD should."""
    programs, scratch = tmp_path / "programs", tmp_path / "scratch"
    programs.mkdir()
    scratch.mkdir()
    program = programs / name
    port = 'sys.argv[sys.argv.index("--port") + 1]' if name == "pyocd" else "0"
    listens = f'import socket, sys, time\ns = socket.create_server(("127.0.0.1", int({port})))\n'
    program.write_text(f"#!{sys.executable}\n{listens}time.sleep(60)\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    process = start(["-c", _SERVER, f"{name}:target"], scratch)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    assert _until(lambda: bool(_running(program)))
    process.kill()
    process.communicate()
    assert _until(lambda: not _running(program)), "a process is left"
    assert _until(lambda: not list(scratch.iterdir())), "a temporary folder is left"


_APART = """
import sys
from microgen.building import guard

apart = "import subprocess as s, time; s.Popen(['sleep', '{}'], process_group=0); time.sleep(60)"
command = [sys.executable, "-c", apart.format(sys.argv[1])]
with guard.started(command):
    print("started", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("is_killed", [True, False], ids=["killed", "left"])
def test_what_has_a_process_group_of_its_own_is_ended_too(is_killed: bool, tmp_path: Path) -> None:
    """For example, gdbserver gives the program that it starts a process group of its own."""
    seconds = f"60.{os.getpid()}{int(is_killed)}"
    sleeping = Path(f"sleep\0{seconds}")
    command = [sys.executable, "-c", _APART, seconds]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE) as process:
        assert _until(lambda: bool(_running(sleeping)))
        if is_killed:
            process.kill()
    assert _until(lambda: not _running(sleeping)), "a process is left"


_KILLED_AT_ONCE = """
import os, signal, subprocess, sys
from microgen.building import guard

class Killing(subprocess.Popen):
    def __init__(self, command, **options):
        super().__init__(command, **options)
        if command[0] == "sleep":
            os.kill(os.getpid(), signal.SIGKILL)

subprocess.Popen = Killing
with guard.started(["sleep", sys.argv[1]]):
    pass
"""


def test_what_has_just_been_started_is_ended_too() -> None:
    seconds = f"61.{os.getpid()}"
    done = subprocess.run([sys.executable, "-c", _KILLED_AT_ONCE, seconds], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert _until(lambda: not _running(Path(f"sleep\0{seconds}"))), "a process is left"


_INTERRUPTED_IN_POPEN = """
import subprocess, sys
from microgen.building import guard
class Popen(subprocess.Popen):
    def __init__(self, command, **options):
        super().__init__(command, **options)
        if command[0] == "sleep":
            raise KeyboardInterrupt
subprocess.Popen = Popen
with guard.started(["sleep", sys.argv[1]]):
    pass
"""


def test_what_is_being_started_at_an_interrupt_is_ended_too() -> None:
    """Popen waits for the program's start, and a signal may come then."""
    seconds = f"63.{os.getpid()}"
    command = [sys.executable, "-c", _INTERRUPTED_IN_POPEN, seconds]
    # No pipe, because the program would have its end.
    quiet = subprocess.DEVNULL
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=quiet, stderr=quiet)
    assert done.returncode in (1, 130, -signal.SIGINT)
    assert not _running(Path(f"sleep\0{seconds}")), "a process is left"


def test_a_watch_starts_few_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One for each process of the machine would be too many: several watches would count each
    other's, and start more and more. ``PATH`` has programs that note each start of theirs."""
    log, mark = tmp_path / "log", f"TEST_OF_WATCHES={os.getpid()}"
    for name in ("cat", "grep", "tr", "xargs"):
        noting = f'#!/bin/sh\necho >> "{log}"\nexec {shutil.which(name)} "$@"\n'
        (tmp_path / name).write_text(noting)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv(*mark.split("="))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    subprocess.run([sys.executable, "-c", _KILLED_AT_ONCE, "62"], cwd=ROOT, check=False)
    assert _until(lambda: not _running(Path(mark), "environ"))
    assert 0 < log.read_text().count("\n") < 16


@NEEDS_CC
@by_signal
def test_a_build_leaves_nothing(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    """The compiler, which ninja has started, waits for a header that is a pipe."""
    project = tmp_path / "project"
    microgen.generate(SMALL, "native", project)
    os.mkfifo(project / "src" / "pipe.h")
    main = project / "src" / "main.c"
    main.write_text(f'#include "{project}/src/pipe.h"\n{main.read_text()}')
    process = start(["-m", "microgen", "build", "-q", str(project)], tmp_path)
    compiling = project / "src" / "main.c"
    assert _until(lambda: any(_program(pid).startswith("cc1") for pid in _running(compiling)))
    _ended(process, number)
    assert _until(lambda: not _running(project)), "a process is left"


_INTERRUPTED = """
import os, runpy, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[0]:
            os.kill(os.getpid(), signal.SIGINT)
sys.argv = sys.argv[1:]
sys.meta_path.insert(0, Interrupting())
runpy.run_module("microgen", run_name="__main__", alter_sys=False)
"""


@pytest.mark.parametrize(
    "module",
    [
        *(
            "microgen.interface.cli",
            "rich.console",
            "microgen.interface.commands.generate",
            "numpy",
        ),
        *("numpy.linalg", "microgen.interface.api", "microgen.interface.commands.doctor"),
    ],
)
def test_an_interrupt_while_modules_are_imported(start: Start, tmp_path: Path, module: str) -> None:
    # A command imports what it needs, and no more.
    command = "doctor" if module.endswith("doctor") else "generate"
    process = start(["-c", _INTERRUPTED, module, command, "missing.tflite"], tmp_path)
    _, said = process.communicate(timeout=SECONDS)
    assert (process.returncode, said) == (130, "microgen: interrupted\n")


_HOOK = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPT_AT"]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
"""


def _hooked(folder: Path, module: str) -> dict[str, str]:
    """The environment in which Python interrupts itself when it looks for a module."""
    (folder / "sitecustomize.py").write_text(_HOOK)
    return {**os.environ, "PYTHONPATH": str(folder), "INTERRUPT_AT": module}


@pytest.mark.parametrize(
    "module",
    [
        "microgen.building.interrupts",
        "microgen.version",
        "microgen.__main__",
        "microgen.interface.cli",
    ],
)
def test_an_interrupt_before_the_command_is_known(tmp_path: Path, module: str) -> None:
    for command in ([sys.executable, "-m", "microgen"], [Path(sys.executable).parent / "microgen"]):
        done = subprocess.run(
            [*command, "--version"], env=_hooked(tmp_path, module), capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (130, "microgen: interrupted\n")


def test_a_program_that_imports_the_package_keeps_its_signals(tmp_path: Path) -> None:
    code = "import microgen, signal; print(signal.getsignal(signal.SIGINT).__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "default_int_handler\n"
    environment = _hooked(tmp_path, "microgen.version")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment)
    assert b"KeyboardInterrupt" in done.stderr


_SWALLOWED = """
import os, signal, sys, time
from microgen import __main__
from microgen.interface import api, cli
class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
def build(project, **_):
    {body}
    time.sleep(10)
api.build = build
sys.argv = ["microgen", "build", "x"]
sys.exit(__main__.main())
"""
_KILL = "os.kill(os.getpid(), signal.SIGINT)"


@pytest.mark.parametrize(
    "body",
    [
        "Finalized()",
        f"try: {_KILL}\n    except KeyboardInterrupt: raise ImportError('numpy')",
        f"try: {_KILL}\n    except KeyboardInterrupt: raise api.RunError('firmware')",
    ],
    ids=["by a finalizer", "by a library", "by a stage"],
)
def test_an_interrupt_is_not_swallowed(start: Start, tmp_path: Path, body: str) -> None:
    process = start(["-c", _SWALLOWED.format(body=body)], tmp_path)
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "microgen: interrupted"
    assert "Error" not in said
    assert "Traceback" not in said


def test_an_interrupt_between_two_renames_keeps_the_old_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, rename = tmp_path / "project", Path.rename

    def interrupting(path: Path, target: Path) -> Path:
        done = rename(path, target)
        if path == root:
            raise KeyboardInterrupt
        return done

    FileTree({"a": b"old"}).write_to(root)
    monkeypatch.setattr(Path, "rename", interrupting)
    with pytest.raises(KeyboardInterrupt):
        FileTree({"a": b"new"}).write_to(root, force=True)
    assert (root / "a").read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [root]


def _catches(pid: int) -> bool:
    """Whether a process has reached the first line of the package: a signal waits, or is handled
    by more than Python itself. Also true if it has ended."""
    try:
        status = (Path("/proc") / str(pid) / "status").read_text()
    except OSError:
        return True
    masks = dict(line.split(":", 1) for line in status.splitlines() if line.startswith("Sig"))
    blocked, caught = int(masks["SigBlk"], 16), int(masks["SigCgt"], 16)
    return bool(blocked & 1 << signal.SIGINT - 1 or caught & 1 << signal.SIGTERM - 1)


@pytest.mark.parametrize(
    "count", [pytest.param(3, id="some"), pytest.param(200, id="all", marks=pytest.mark.slow)]
)
def test_interrupts_at_random_times(start: Start, tmp_path: Path, count: int) -> None:
    chosen, scratch, model = random.Random(7), tmp_path / "scratch", str(SMALL)
    scratch.mkdir()
    commands = (["ops"], ["plan", "-b", "native", model])
    began = time.monotonic()
    for command in commands:
        start(["-m", "microgen", *command], scratch).communicate(timeout=SECONDS)
    longest = (time.monotonic() - began) / len(commands)
    for number in range(count):
        command = [*commands, ["generate", "-b", "native", model, "-o", f"{scratch}/p{number}"]]
        process = start(["-m", "microgen", *command[number % 3]], scratch)
        assert _until(lambda pid=process.pid: _catches(pid))
        time.sleep(chosen.uniform(0, longest))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SECONDS)
        lines = [line for line in said.splitlines() if not line.endswith("...")]
        assert (process.returncode, lines) in ((130, ["microgen: interrupted"]), (0, lines))
        assert all((path / "microgen.json").is_file() for path in scratch.iterdir())


def test_an_interrupt_that_is_ignored_stays_ignored(start: Start, tmp_path: Path) -> None:
    before = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    process = start(["-c", before + _INTERRUPTED, "microgen.interface.api", "--help"], tmp_path)
    out, said = process.communicate(timeout=SECONDS)
    assert (process.returncode, said) == (0, "")
    assert "generate" in out


def test_importing_the_package_imports_no_libraries() -> None:
    late = {"numpy", "rich", "microgen.interface.api"}
    code = f"import microgen, sys; print({late} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
    assert all(hasattr(microgen, name) for name in microgen.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = microgen.nothing
