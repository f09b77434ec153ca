"""Dask: a cluster of processes on this machine, or the team's; tasks and their results."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import time
import warnings
from collections.abc import Generator, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microgen.base.errors import ToolError, one_line
from microgen.base.formats.structuring import structure
from microgen.building import guard
from microgen.interface.zoo import work
from microgen.interface.zoo.results import failed
from microgen.interface.zoo.work import Done, Task

if TYPE_CHECKING:
    from distributed import Client, Future

INSTALL = "pip install 'distributed>=2024.8'"

_CONNECT_SECONDS = 10
_LOOK_SECONDS = 1.0
_ALONE_SECONDS = 300.0  # clusters that grow with their load may begin without workers
_END_SECONDS = 3
_LARGEST_TASK = "4GiB"  # Dask warns of larger ones; a model's file has at most 2 GiB
_LOG_LEVEL = {"DASK_LOGGING__DISTRIBUTED": "critical"}


def check_installed() -> None:
    """Raise ToolError if Dask is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise ToolError(f"`microgen zoo` needs Dask: {error}", hint=INSTALL) from None


@contextlib.contextmanager
def connected(scheduler: str, workers: int) -> Iterator[Client]:
    """A client of the scheduler at ``address``. If the address is empty, it is the client of a new
    cluster of ``workers`` processes, which ends with the block or with this process. Raises
    ToolError if no scheduler answers."""
    _silence()
    with guard.scratch() as folder, _settings(folder), contextlib.ExitStack() as opened:
        address = scheduler or opened.enter_context(_processes(workers, folder))
        yield opened.enter_context(_client(address))


def _silence() -> None:
    """Turn off the logs of Dask here and in the processes that it starts: microgen's own errors
    name the causes, or the task is done again."""
    import distributed

    os.environ.update(_LOG_LEVEL)
    for name in (distributed.__name__, "tornado", "asyncio"):
        loggers = [known for known in logging.root.manager.loggerDict if known.startswith(name)]
        for logger in loggers:
            logging.getLogger(logger).setLevel(logging.CRITICAL + 1)


@contextlib.contextmanager
def _settings(folder: Path) -> Iterator[None]:
    """Replaces Dask's settings, and silences its warnings, while the block runs."""
    import dask

    settings: dict[str, Any] = {
        "temporary-directory": str(folder),
        "distributed.admin.large-graph-warning-threshold": _LARGEST_TASK,
        "distributed.scheduler.worker-saturation": 1.0,  # a killed worker has only its own tasks
        "distributed.comm.timeouts.connect": _CONNECT_SECONDS,
    }
    with warnings.catch_warnings(), dask.config.set(settings):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _processes(workers: int, folder: Path) -> Iterator[str]:
    """The address of a cluster of processes on this machine."""
    import distributed

    cluster: Any = distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        # Dask's limit would end workers, so there is none: each cell is a process of its own.
        memory_limit=0,
        silence_logs=logging.CRITICAL,
        local_directory=str(folder),
        preload=[work.__name__],
    )
    try:
        yield str(cluster.scheduler_address)
    finally:
        with contextlib.suppress(TimeoutError):
            cluster.close(timeout=2 * _END_SECONDS)


@contextlib.contextmanager
def _client(address: str) -> Iterator[Client]:
    import distributed

    encrypts = address.startswith(("tls:", "wss:"))
    if encrypts and not distributed.Security().get_connection_args("client").get("ssl_context"):
        raise ToolError(
            "Dask has no certificates for TLS",
            where=address,
            hint="name them in Dask's configuration, at distributed.comm.tls",
        )
    try:
        client: Any = distributed.Client(
            address, timeout=_CONNECT_SECONDS, set_as_default=False, name="microgen-zoo"
        )
    except (OSError, ValueError, ImportError, TypeError) as error:
        raise ToolError(
            f"no scheduler of Dask answers: {one_line(str(error)) or type(error).__name__}",
            where=address,
            hint="give an address such as tcp://127.0.0.1:8786; `dask scheduler` starts one",
        ) from None
    try:
        yield client
    finally:
        with contextlib.suppress(TimeoutError):
            client.close(timeout=_END_SECONDS)


def results(
    client: Client, tasks: Iterator[tuple[str, Task]]
) -> Generator[tuple[str, Done], None, None]:
    """Yields the results of tasks with their keys, in the order in which tasks finish. Further
    tasks are read and sent when workers are free. If the generator is closed, the tasks are ended.

    Raises ToolError if the scheduler is lost, or if a worker cannot work at all.
    """
    finished: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
    waiting: dict[Future[Any], str] = {}
    runs: set[str] = set()
    try:
        while True:
            for key, task in islice(tasks, max(0, _room(client) - len(waiting))):
                runs.add(task.run)
                name = f"microgen-zoo-{task.run}-{key}"
                future: Future[Any] = client.submit(work.done, task, key=name, pure=False)
                future.add_done_callback(finished.put)
                waiting[future] = key
            if not waiting:
                return
            future = _taken(client, finished)
            yield waiting.pop(future), _result(future)
    finally:
        if waiting:
            _end(client, list(waiting), runs)


def _room(client: Client) -> int:
    """The number of tasks to submit. It exceeds the number of workers, so that no worker waits, and
    a cluster that grows with its load has waiting tasks."""
    # 4 even without workers, because clusters that grow with their load need some.
    return 4 + 2 * _threads(client)


def _threads(client: Client) -> int:
    """The number of threads of all workers; 0 if the scheduler does not say."""
    with contextlib.suppress(OSError, ValueError):
        return sum(map(int, client.nthreads().values()))
    return 0


def _taken(client: Client, finished: queue.SimpleQueue[Future[Any]]) -> Future[Any]:
    """The next future that has ended. Raises ToolError if the scheduler is lost, or has had no
    worker for a long time."""
    seen = time.monotonic()
    while True:
        # With a limit, because a lost scheduler ends no future.
        with contextlib.suppress(queue.Empty):
            return finished.get(timeout=_LOOK_SECONDS)
        if client.status not in ("running", "connecting"):
            raise _lost()
        if _threads(client):
            seen = time.monotonic()
        elif time.monotonic() - seen > _ALONE_SECONDS:
            raise ToolError(
                f"Dask's scheduler has had no worker for {_ALONE_SECONDS:.0f} s",
                hint="start some with `dask worker ADDRESS`",
            )


def _lost() -> ToolError:
    return ToolError(
        "the connection to Dask's scheduler is lost",
        hint="run the command again: it does only what is missing",
    )


def _result(future: Future[Any]) -> Done:
    """The result of a future that has ended. Raises ToolError if the future failed."""
    from distributed import KilledWorker

    if future.status in ("cancelled", "lost"):
        raise _lost()
    error = future.exception() if future.status == "error" else None
    # Dask gives up a task after several workers died with it: the task may be the cause.
    if isinstance(error, KilledWorker):
        cause = "each worker that tried it was killed"
        return Done(failed("run", cause), is_lasting=False)
    if error is not None:
        raise ToolError(
            f"a worker cannot run microgen: {type(error).__name__}: {one_line(str(error))}",
            hint="install the same microgen on every worker, with its extra [zoo]",
        )
    return structure(future.result(), Done)


def _end(client: Client, futures: list[Future[Any]], runs: set[str]) -> None:
    """Cancel tasks, and end the processes of tasks that run already."""
    with contextlib.suppress(Exception):  # the scheduler may be gone
        client.cancel(futures)
        for run in runs:
            ending: Any = client._run
            client.sync(ending, work.end, run, on_error="ignore", callback_timeout=_END_SECONDS)
