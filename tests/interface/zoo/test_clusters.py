"""``microgen zoo`` on clusters of processes: killed workers, a scheduler's address, Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.interface.zoo import models
from tests.support.tools import NEEDS_GDBSERVER, NEEDS_NINJA

pytestmark = [
    NEEDS_NINJA,
    NEEDS_GDBSERVER,
    pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc"),
]

SECONDS = 240.0
CELL = "microgen.interface.zoo.stages"


def until(what: Callable[[], bool], seconds: float = SECONDS) -> bool:
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    return what()


def commands(folder: Path, word: str = "") -> dict[int, bytes]:
    """The command lines of the processes whose temporary files are in ``folder``, by their ids."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes()
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if f"TMPDIR={folder}\0".encode() in environment and word.encode() in line:
            found[int(entry.name)] = line
    return found


def building(folder: Path) -> list[int]:
    """The processes that work on a cell and have come to its build."""
    found = []
    for pid in commands(folder, CELL):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/cwd/stage.txt").read_text() == "build":
                found.append(pid)
    return found


def parent(pid: int) -> int:
    """The process that started ``pid``, or 0 if ``pid`` has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])


def workers_that_build(folder: Path) -> list[int]:
    """The workers whose cells have come to their build.

    What a cell starts looks like the cell itself until it is another program, so only those
    processes count that a worker has started.
    """
    workers = commands(folder, "spawn_main")
    return sorted({parent(pid) for pid in building(folder)} & set(workers))


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="module")
def start(scratch: Path) -> Iterator[Start]:
    """A function that starts a module of Python. What still runs in the end is ended."""
    started = []

    def start(*arguments: str | Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", *map(str, arguments)],
            env={**os.environ, "TMPDIR": str(scratch)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=SECONDS)


@pytest.fixture(scope="module")
def listing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return models.write(tmp_path_factory.mktemp("models"))


def killed(start: Start, scratch: Path, listing: Path, workers: int) -> Path:
    """The results of a run with so many workers, one of which was killed in the middle."""
    made = listing.parent / f"killed_{workers}"
    process = start(
        *("microgen", "zoo", listing, "--boards", "native", "-o", made, "--workers", str(workers))
    )
    assert until(lambda: bool(workers_that_build(scratch))), "nothing was ever built"
    (victim,) = workers_that_build(scratch)
    os.kill(victim, signal.SIGKILL)
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (1, "running 5 models on native ...\n"), out
    return made


@pytest.fixture(scope="module")
def tables(start: Start, scratch: Path, listing: Path) -> Path:
    return killed(start, scratch, listing, workers=2)


def statuses(made: Path) -> dict[str, str]:
    found = json.loads((made / "zoo.json").read_text())["models"]
    return {model["model"]: model["cells"]["native"]["status"] for model in found}


def left(scratch: Path) -> bool:
    """Whether a process or a temporary file is left."""
    return bool(commands(scratch) or list(scratch.iterdir()))


@pytest.mark.slow
def test_a_killed_worker_of_four_loses_nothing(start: Start, scratch: Path, listing: Path) -> None:
    check_tables(killed(start, scratch, listing, workers=4), scratch)


def test_a_killed_worker_loses_nothing(tables: Path, scratch: Path) -> None:
    check_tables(tables, scratch)


def check_tables(tables: Path, scratch: Path) -> None:
    assert statuses(tables) == {
        "valid.tflite": "ok",
        "refused.tflite": "refused",
        "corrupt.tflite": "refused",
        "text.onnx": "refused",
        "missing.tflite": "failed",
    }
    assert len(list((tables / "cells").iterdir())) == 4
    assert until(lambda: not left(scratch), 30), commands(scratch)


def test_a_run_that_finds_everything_does_nothing(
    tables: Path, listing: Path, start: Start
) -> None:
    def files() -> dict[str, tuple[int, bytes]]:
        return {
            path.name: (path.stat().st_mtime_ns, path.read_bytes())
            for path in (tables / "cells").iterdir()
        }

    before, table = files(), (tables / "zoo.json").read_bytes()
    process = start("microgen", "zoo", listing, "--boards", "native", "-o", tables)
    process.communicate(timeout=SECONDS)
    assert process.returncode == 1
    assert files() == before
    assert (tables / "zoo.json").read_bytes() == table


@pytest.fixture(scope="module")
def scheduler(
    start: Start, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, subprocess.Popen[str]]:
    """The address of a scheduler with one worker of two threads, and the scheduler."""
    place = tmp_path_factory.mktemp("scheduler") / "address.json"
    where = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", place)
    process = start("distributed.cli.dask_scheduler", *where)
    assert until(place.exists)
    worker = ("--scheduler-file", place, "--no-nanny", "--no-dashboard", "--nthreads", "2")
    start("distributed.cli.dask_worker", *worker)
    return json.loads(place.read_text())["address"], process


@pytest.mark.slow
def test_a_scheduler_of_the_team_gives_the_same_bytes(
    tables: Path, listing: Path, start: Start, scheduler: tuple[str, object]
) -> None:
    made = listing.parent / "by address"
    command = ("microgen", "zoo", listing, "--boards", "native", "-o", made)
    process = start(*command, "--scheduler", scheduler[0])
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (1, "running 5 models on native ...\n"), out
    for name in ("zoo.json", "zoo.md"):
        assert (made / name).read_bytes() == (tables / name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("where", ["here", "by address"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_end_ends_every_cell_and_keeps_what_was_done(
    listing: Path,
    start: Start,
    scheduler: tuple[str, object],
    tmp_path: Path,
    scratch: Path,
    where: str,
    number: signal.Signals,
) -> None:
    made = tmp_path / "out"
    place = ("--workers", "1") if where == "here" else ("--scheduler", scheduler[0])
    assert until(lambda: not commands(scratch, CELL), 30)
    process = start("microgen", "zoo", listing, "--boards", "native", "-o", made, *place)

    def is_in_the_middle() -> bool:
        return bool(commands(scratch, CELL) and list((made / "cells").glob("*.json")))

    assert until(is_in_the_middle)
    process.send_signal(number)
    begin = time.monotonic()
    _, err = process.communicate(timeout=SECONDS)
    assert time.monotonic() - begin < 30
    killed = number == signal.SIGKILL
    assert process.returncode == (-number if killed else 130)
    if not killed:  # after SIGKILL, Python reports its semaphores
        assert err == "running 5 models on native ...\nmicrogen: interrupted\n"
    if not (killed and where == "by address"):  # then the tasks end by themselves
        assert until(lambda: not commands(scratch, CELL), 15)
    assert until(lambda: not commands(scratch, "spawn_main"), 15)
    assert list((made / "cells").glob("*.json"))
    assert not (made / "zoo.json").exists()


@pytest.mark.slow
def test_a_scheduler_that_ends_is_one_line(
    listing: Path, start: Start, scheduler: tuple[str, subprocess.Popen[str]], tmp_path: Path
) -> None:
    """The last test that has the scheduler."""
    made = tmp_path / "out"
    command = ("microgen", "zoo", listing, "--boards", "native", "-o", made, "-q")
    process = start(*command, "--scheduler", scheduler[0])
    assert until(lambda: bool(list((made / "cells").glob("*.json"))))
    scheduler[1].kill()
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out) == (2, "")
    assert err == (
        "microgen: the connection to Dask's scheduler is lost; run the command again: it does only "
        "what is missing\n"
    )


@pytest.mark.slow
def test_no_scheduler_is_one_line(listing: Path, start: Start, tmp_path: Path) -> None:
    command = ("microgen", "zoo", listing, "--boards", "native", "-o", tmp_path / "out", "-q")
    process = start(*command, "--scheduler", "tcp://127.0.0.1:9")
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("microgen: tcp://127.0.0.1:9: no scheduler of Dask answers: ")
