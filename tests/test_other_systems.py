"""Pure Python also works where systems are not Linux: the test takes away what they lack."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import microgen
from microgen.interface import cli
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

ROOT = Path(__file__).resolve().parents[1]

# Python's own library for POSIX needs some of it once, when it is imported.
_LACKING = """
import json, multiprocessing, numpy, os, signal, subprocess, sys, tempfile

for name in ("SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGPIPE", "SIGQUIT", "SIGSTOP",
             "SIGCONT", "alarm", "setitimer", "pthread_sigmask", "sigwait", "siginterrupt"):
    delattr(signal, name)
import _signal
for name in ("SIGHUP", "pthread_sigmask", "setitimer"):
    delattr(_signal, name)
for name in ("killpg", "getpgid", "setsid", "setpgid", "fork", "getuid", "geteuid", "getgid",
             "mkfifo", "mknod", "sched_getaffinity", "chown", "getpgrp", "pread", "O_NOFOLLOW",
             "O_DIRECTORY", "O_NONBLOCK", "O_CLOEXEC", "statvfs", "sysconf"):
    delattr(os, name)
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "curses"):
    sys.modules[name] = None
listed = os.listdir

def listdir(path="."):
    if str(path).startswith("/proc"):
        raise FileNotFoundError(path)
    return listed(path)

os.listdir = listdir
from microgen.building import guard
from microgen.__main__ import main

guard._SHELL = "/no/shell"
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["microgen", *arguments]
    try:
        code = main()
    except SystemExit as end:  # as argparse ends after --version
        code = end.code
    if code:
        sys.exit(code)
    print("END", flush=True)
"""


def _microgen(*commands: Sequence[str | Path]) -> list[str]:
    """What each command writes. One process runs all of them, because it imports for longer than
    most of them take."""
    asked = json.dumps([[str(word) for word in words] for words in commands])
    command = [sys.executable, "-X", "warn_default_encoding"]
    command += ["-W", "error::EncodingWarning:microgen", "-c", _LACKING, asked]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, "unexpected" in ran.stderr) == (0, False), ran.stderr
    *said, rest = ran.stdout.split("END\n")
    assert (len(said), rest) == (len(commands), "")
    return said


def test_what_starts_no_program(tmp_path: Path) -> None:
    project, usual = tmp_path / "p", tmp_path / "usual"
    _, inspected, planned, version = _microgen(
        ("generate", SMALL, "-b", "mps2_an386", "-o", project),
        ("inspect", SMALL),
        ("plan", SMALL),
        ("--version",),
    )
    assert cli.main(["generate", str(SMALL), "-b", "mps2_an386", "-o", str(usual)]) == 0
    assert _files(project) == _files(usual)
    assert "dense" in inspected
    assert "workspace" in planned
    assert "microgen" in version


def _files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@NEEDS_ARM
@NEEDS_NINJA
def test_verify_starts_the_compilers_own_programs_only(tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(SMALL, "mps2_an386", project)
    microgen.build(project)
    assert "ok" in _microgen(("verify", project))[0]


@pytest.mark.parametrize("name", ["SIGHUP", "SIGKILL", "killpg", "sched_getaffinity", "fcntl"])
def test_what_other_systems_lack_is_asked_for(name: str) -> None:
    """Each use is after a question whether it is there, in the same function or module."""
    for path in sorted((ROOT / "microgen").rglob("*.py")):
        text = path.read_text("utf-8")
        if f".{name}" in text or f"import {name}" in text:
            assert "hasattr" in text or "getattr" in text, path
