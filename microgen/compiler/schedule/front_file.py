"""A front in one file: ``microgen plan --explore -o FRONT.json`` writes it, and ``--schedule
FRONT.json#K`` takes its K-th schedule."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import cattrs

from microgen.base.errors import MicrogenError, ModelError, ProjectError, UnsupportedError
from microgen.base.files import content, write_whole
from microgen.base.formats import checked_json
from microgen.base.formats.structuring import structure
from microgen.base.manifest.schedule import FrontOrigin, FrontRecord, PointRecord, ScheduleRecord
from microgen.compiler.schedule import file
from microgen.compiler.schedule.front import Front

SUFFIX = ".json"
_MARK = "#"
_NUMBER = re.compile(r"[0-9]{1,9}")
_MOST = 1 << 28  # bytes; fronts have tens of schedules
_EXPLORE = "`microgen plan MODEL --explore -o FRONT.json` writes one"


def write(front: Front, path: Path) -> None:
    """Write the front. Raises ProjectError if the file cannot be written."""
    assert front.origin is not None, "the pipeline knows where it comes from"
    points = tuple(
        PointRecord(ram=one.ram.arena_io, goals=one.goals, schedule=file.record(one.schedule))
        for one in front.found
    )
    text = json.dumps(cattrs.unstructure(FrontRecord(origin=front.origin, points=points)), indent=1)
    try:
        write_whole(path, f"{text}\n".encode())
    except OSError as error:
        raise ProjectError(
            f"cannot be written: {error.strerror}", where=str(path), hint="choose another -o"
        ) from error


def load(given: str, origin: FrontOrigin) -> ScheduleRecord:
    """The schedule that ``--schedule`` names: a file, or a front and the number of one of its
    schedules. Raises ModelError if there is none, UnsupportedError if the front is of another
    model, core or options than ``origin`` says."""
    name, mark, number = given.rpartition(_MARK)
    # A file whose own name has the mark comes first.
    if not mark or _is_file(Path(given)):
        _refuse_front(given)
        return file.load(Path(given))
    if not _NUMBER.fullmatch(number):
        raise MicrogenError(
            f"{number!r} is not the number of a schedule",
            where=given,
            hint=f"give one such as {name}{_MARK}1",
        )
    front = _front(Path(name))
    _check(front.origin, origin, name)
    if not 1 <= int(number) <= len(front.points):
        raise ModelError(
            f"the front has {len(front.points)} schedules, and no number {number}",
            where=name,
            hint=f"give a number from 1 to {len(front.points)}",
        )
    return front.points[int(number) - 1].schedule


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # no name of a file
        return False


def _parsed(path: Path) -> Any:
    return checked_json.parse(content(path, "a front of schedules", _MOST), str(path)).value


def _is_front(data: Any) -> bool:
    return isinstance(data, dict) and "points" in data


def _refuse_front(given: str) -> None:
    """Raise ModelError for a front without a number. Other errors are reported later."""
    path = Path(given)
    if _is_file(path) and _is_front(_parsed(path)):
        raise ModelError(
            "is a front of several schedules",
            where=given,
            hint=f"say which one, for example {given}{_MARK}1",
        )


def _front(path: Path) -> FrontRecord:
    data = _parsed(path)
    if not _is_front(data):
        raise ModelError("is not a front of schedules", where=str(path), hint=_EXPLORE)
    try:
        return structure(data, FrontRecord)
    except ValueError as error:
        raise ModelError(
            f"is not a front of schedules: {error}", where=str(path), hint=_EXPLORE
        ) from error


def _check(found: FrontOrigin, wanted: FrontOrigin, name: str) -> None:
    """Raise UnsupportedError unless the front was explored for the same model, core and options."""
    if found.model != wanted.model:
        raise UnsupportedError("is the front of another model", where=name, hint=_EXPLORE)
    if found.core != wanted.core:
        raise UnsupportedError(
            f"is a front for {found.core}, not for {wanted.core}", where=name, hint=_EXPLORE
        )
    # Options with default values are left out of an origin, so both sides are looked at.
    for option in {**found.options, **wanted.options}:
        if found.options.get(option) != wanted.options.get(option):
            raise UnsupportedError(
                f"was explored with another --{option.replace('_', '-')}",
                where=name,
                hint="give the same to `plan --explore` and here",
            )
