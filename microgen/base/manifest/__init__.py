"""``microgen.json``, the manifest of a generated project, as typed records.

``verify``, ``run`` and ``inspect`` know a project only from this file and the other files in its
folder.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import cattrs

from microgen.base.errors import ModelError, ProjectError
from microgen.base.files import MANIFEST
from microgen.base.formats import checked_json
from microgen.base.formats.structuring import structure
from microgen.base.manifest import note
from microgen.base.manifest.calls import (
    ArgumentRecord,
    CallRecord,
    InnerLayers,
    RoundsRecord,
    RowCall,
    RunRecord,
    StepRecord,
)
from microgen.base.manifest.records import (
    BlobRecord,
    BufferRecord,
    ConstantRecord,
    DeadChannelsRecord,
    DeviceRecord,
    EstimateRecord,
    ExternalRecord,
    FunctionRecord,
    HeldRecord,
    ModelRecord,
    ModuleRecord,
    OverlapRecord,
    PlanRecord,
    PoolRecord,
    PortRecord,
    SharedRecord,
    TypeRecord,
)
from microgen.base.manifest.schedule import FeedRecord, PatchRecord, RowsRecord

__all__ = [
    "FORMAT",
    "ArgumentRecord",
    "BlobRecord",
    "BufferRecord",
    "CallRecord",
    "ConstantRecord",
    "DeadChannelsRecord",
    "DeviceRecord",
    "EstimateRecord",
    "ExternalRecord",
    "FeedRecord",
    "FunctionRecord",
    "HeldRecord",
    "InnerLayers",
    "Manifest",
    "ModelRecord",
    "ModuleRecord",
    "OverlapRecord",
    "PatchRecord",
    "PlanRecord",
    "PoolRecord",
    "PortRecord",
    "RoundsRecord",
    "RowCall",
    "RowsRecord",
    "RunRecord",
    "SharedRecord",
    "StepRecord",
    "TypeRecord",
    "built_from",
    "digested",
    "is_as_written",
    "load",
    "record_fields",
]

FORMAT = 1
# A limit, because the file may come from elsewhere.
_MOST_BYTES = 2**28
_DIGEST = "digest"  # of everything else in the file
# Absent if there is none.
_OPTIONAL = (
    *("blob", "dead_channels", "external", "feed", "schedule", "shared_workspace"),
    note.BUILT_FROM,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(ModuleRecord):
    """The whole of ``microgen.json``: the first model's record, and the facts about the firmware.

    ``board`` is ``Board.to_json()``. ``files`` maps each other file of the project to its SHA-256.
    ``more`` are the other models. ``shared_workspace`` is None if the models share no workspace.
    ``built_from`` is the digest of everything that decides the code, which the firmware's notes
    repeat (``manifest.note``); projects of earlier versions have none.
    """

    format: int
    microgen: str
    board: dict[str, Any]
    estimate: EstimateRecord
    files: dict[str, str]
    more: tuple[ModuleRecord, ...] = ()
    shared_workspace: SharedRecord | None = None
    built_from: str = ""

    @property
    def modules(self) -> tuple[ModuleRecord, ...]:
        """Every model, in the order they were given."""
        return (self, *self.more)

    @property
    def seen_count(self) -> int:
        """The layers of one sample, in all models, that can be read from memory."""
        calls = [call for module in self.modules for call in module.calls]
        # A layer of a loop is read in each round.
        inner = sum(1 for call in calls for _ in call.round_calls)
        return inner + sum(len(call.read) - len(call.in_rounds) for call in calls)

    def pool_array(self, pool: str) -> str:
        """The symbol of main's array for a pool that it passes to the manifest's own module."""
        # Two models may have pools of the same name, so the module is part of the symbol then.
        return f"pool_{self.module}_{pool}" if self.more else f"pool_{pool}"

    def port_array(self, pool: PoolRecord) -> str:
        """The symbol of main's array, for an input or output of the manifest's own module, in which
        the pool lies; empty if the pool lies in no such array."""
        ports = {port.name: port.nbytes for port in self.inputs + self.outputs}
        if pool.port not in ports:
            return ""
        # A pool that is larger than the port has bytes in front of it, so main's array has another
        # name.
        kind = "memory" if pool.nbytes != ports[pool.port] else "buffer"
        return f"{self.module}_{pool.port}_{kind}" if self.more else f"{pool.port}_{kind}"

    def seen_from(self, module: ModuleRecord) -> Manifest:
        """The same manifest with ``module`` as the first model, and the others as ``more``."""
        others = tuple(m for m in self.modules if m.module != module.module)
        # ``fields``, so that a field that is added later is not forgotten here.
        of_firmware = {f.name: getattr(self, f.name) for f in fields(self)}
        return Manifest(**{**of_firmware, **record_fields(module), "more": others})

    @property
    def units(self) -> dict[str, list[str]]:
        """The translation units of each model, by its module."""
        return note.units(self.files, tuple(module.module for module in self.modules))

    def note(self, module: ModuleRecord) -> str:
        """The text of a model's notes up to the compiler's name."""
        return note.text(
            module,
            microgen=self.microgen,
            board=str(self.board.get("name")),
            built_from=self.built_from,
        )

    def content(self) -> dict[str, Any]:
        """The JSON value of the file, without its digest."""
        data = cattrs.unstructure(self)
        for record in (data, *data["more"]):
            for key in _OPTIONAL:
                if not record.get(key, True):
                    del record[key]
            for call in record["calls"]:
                if call["run"] is None:
                    del call["run"]
        # Lists instead of tuples, as in a manifest that was read.
        return dict(json.loads(json.dumps(data)))

    def dumps(self) -> bytes:
        """The file's content, with the digest of everything else in it. Keys are sorted, so equal
        manifests have equal bytes."""
        return digested(self.content()).encode()


def record_fields(module: ModuleRecord) -> dict[str, Any]:
    """The fields of one module's record by name."""
    return {f.name: getattr(module, f.name) for f in fields(ModuleRecord)}


def load(project: Path) -> Manifest:
    """Read a project's manifest. Raises ProjectError if it is absent or damaged."""
    data = _read(project)
    # Checked before the records, because another format has other records.
    version = data.pop("format", None)
    if version != FORMAT:
        raise ProjectError(
            f"has format {version!r}, but this microgen reads {FORMAT}",
            where=str(project / MANIFEST),
            hint="generate again with this version",
        )
    # The digest is not a field of the record, because it covers the record.
    data.pop(_DIGEST, None)
    try:
        return structure({**data, "format": FORMAT}, Manifest)
    except ValueError as error:
        raise ProjectError(
            f"does not have the records of a manifest: {error}",
            where=str(project / MANIFEST),
            hint="generate again",
        ) from error


def is_as_written(project: Path) -> bool:
    """Whether a project's manifest is unchanged since ``dumps`` wrote it, by its digest of itself.
    Raises as ``load`` does."""
    # This finds accidental edits. It is no protection, because anybody can write a new digest.
    data = _read(project)
    return bool(data.pop(_DIGEST, None) == _digest(data))


def built_from(project: Path) -> str:
    """The digest of everything that decides the code, computed from a project's present manifest.
    Raises as ``load``, which has to accept the manifest first."""
    return note.digest(_read(project))


def digested(data: dict[str, Any]) -> str:
    """The text of a manifest's JSON value, with the digest of everything else in it."""
    content = {key: value for key, value in data.items() if key != _DIGEST}
    whole = {**content, _DIGEST: _digest(content)}
    return json.dumps(whole, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _digest(data: dict[str, Any]) -> str:
    """The SHA-256 of the JSON value. It does not depend on the layout of the text."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _read(project: Path) -> dict[str, Any]:
    path = project / MANIFEST
    if path.exists() and not path.is_file():  # a device or a pipe might never end
        raise ProjectError("is not a regular file", where=str(path), hint="generate again")
    try:
        if path.stat().st_size > _MOST_BYTES:
            what = f"has {path.stat().st_size} bytes; a manifest has at most {_MOST_BYTES}"
            raise ProjectError(what, where=str(path), hint="generate again")
        place = checked_json.parse(path.read_bytes(), str(path))
    except OSError as error:
        raise ProjectError(
            "is not a generated project: it has no microgen.json",
            where=str(project),
            hint="run `microgen generate MODEL -b BOARD -o DIR` first",
        ) from error
    except ModelError as error:
        raise ProjectError(error.what, where=str(path), hint="generate again") from error
    if not place.is_object():
        raise ProjectError("is not a JSON object", where=str(path), hint="generate again")
    return dict(place.value)
