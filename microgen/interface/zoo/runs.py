"""Runs the zoo: computes the missing cells, reads the stored cells, and stores each result when it
is ready."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microgen import frontends
from microgen.base.errors import MicrogenError, ToolError
from microgen.base.output import progress
from microgen.frontends import model_files
from microgen.interface.zoo import cluster, identity
from microgen.interface.zoo.listing import FILE, ListedModel
from microgen.interface.zoo.results import Cell, Store, failed
from microgen.interface.zoo.work import Task


@dataclass(frozen=True, slots=True)
class ZooPlan:
    """The user's request. ``options`` are keywords of ``generate``, as plain data. ``limit`` is the
    most seconds of a cell. An empty ``scheduler`` means a cluster of ``workers`` processes on this
    machine."""

    entries: Sequence[ListedModel]
    boards: Sequence[str]
    options: Mapping[str, Any]
    limit: float
    scheduler: str = ""
    workers: int = 1


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model of the list, with its digest (empty if it cannot be read) and its cell by board."""

    entry: ListedModel
    sha256: str
    cells: Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class _Model:
    """A model before its cells are known. ``keys`` are the keys of its cells by board, and
    ``options`` the options of ``generate``. If the model cannot be read, ``cell`` is the cell of
    all boards."""

    entry: ListedModel
    sha256: str
    keys: Mapping[str, str]
    options: Mapping[str, Any]
    cell: Cell | None = None


def run(plan: ZooPlan, store: Store, note: Callable[[str], None]) -> tuple[ModelRow, ...]:
    """The rows, in the list's order. Cells in the store are not computed again; each other cell is
    stored when it is ready. ``note`` is called with a sentence for each package or tool that is not
    installed.

    Raises MicrogenError if the work cannot be done at all; finished cells are in the store.
    """
    models = [_model(entry, plan) for entry in plan.entries]
    wanted: dict[str, tuple[_Model, str]] = {}
    for model in models:
        for board, key in model.keys.items():
            # Files with equal bytes share a key, so each network is done once.
            wanted.setdefault(key, (model, board))
    cells = {key: cell for key in wanted if (cell := store.get(key, plan.limit)) is not None}
    lacking = {cell.lacking for cell in cells.values()}
    missing = {key: job for key, job in wanted.items() if key not in cells}
    for key, cell in _done(plan, missing, store, len(wanted)):
        cells[key] = cell
        lacking.add(cell.lacking)
    for sentence in sorted(filter(None, lacking)):
        note(f"not compared with an outside oracle: {sentence}")
    return tuple(
        ModelRow(
            model.entry,
            model.sha256,
            {board: model.cell or cells[model.keys[board]] for board in plan.boards},
        )
        for model in models
    )


def _model(entry: ListedModel, plan: ZooPlan) -> _Model:
    try:
        options, values = _inputs(entry, plan)
        sha256 = identity.of_model(frontends.stored(entry.path) | values)
    except MicrogenError as error:
        cell = failed("read", f"{error.what}, in line {entry.line} of the list", error.hint)
        return _Model(entry, "", {}, {}, cell)
    name = identity.name_of(entry.path)
    keys = {board: identity.key(sha256, name, board, options) for board in plan.boards}
    return _Model(entry, sha256, keys, options)


def _inputs(entry: ListedModel, plan: ZooPlan) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The options for a model, and the files of values that they name, by the names under which
    workers get them. Raises MicrogenError if one cannot be read."""
    bind, files = list[str](), dict[str, bytes]()
    for each in (*plan.options.get("bind", ()), *entry.bind):
        name, _, value = each.rpartition("=")
        if value.endswith(FILE):
            own = f"bind{len(files)}{FILE}"
            files[own] = model_files.read(Path(value))
            each = f"{name}={own}"
        bind.append(each)
    dim = [*plan.options.get("dim", ()), *entry.dim]
    state = [*plan.options.get("state", ()), *entry.state]
    return {**plan.options, "dim": dim, "bind": bind, "state": state}, files


def _done(
    plan: ZooPlan, missing: Mapping[str, tuple[_Model, str]], store: Store, total: int
) -> Iterator[tuple[str, Cell]]:
    """Yields the missing cells with their keys, each when it is in the store."""
    if not missing:
        return
    cluster.check_installed()
    done = total - len(missing)
    progress.count("cells", done, total)
    tasks = _tasks(plan, missing, uuid.uuid4().hex)
    with (
        cluster.connected(plan.scheduler, min(plan.workers, len(missing))) as client,
        contextlib.closing(cluster.results(client, tasks)) as results,
    ):
        for key, result in results:
            if result.refusal:  # the worker cannot work, which is not a result of the model
                raise ToolError(result.refusal, hint=result.hint)
            # A cell that others ended would otherwise never be done again.
            if result.is_lasting:
                store.put(key, result.cell)
            done += 1
            progress.count("cells", done, total)
            yield key, result.cell


def _tasks(
    plan: ZooPlan, missing: Mapping[str, tuple[_Model, str]], run: str
) -> Iterator[tuple[str, Task]]:
    """The tasks with their keys. Each model is read when its task is sent, so few are in memory."""
    for key, (model, board) in missing.items():
        files = frontends.stored(model.entry.path)
        _, values = _inputs(model.entry, plan)
        # The file is read a second time, and the key is the digest of the first reading.
        if identity.of_model(files | values) != model.sha256:
            raise MicrogenError(
                "has changed in the meantime",
                where=str(model.entry.path),
                hint="run the command again: it does only what is missing",
            )
        name = Path(identity.name_of(model.entry.path))
        first, *others = files.items()
        named = {name.name: first[1], **{f"{name.stem}{end}": data for end, data in others}}
        named |= values
        yield key, Task(run, identity.own(), named, board, model.options, plan.limit)
