"""The committed figures, ``figures.json``: the peer's, and ours that must not become worse."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from microgen.base.formats.structuring import structure
from scripts.bench.other.measuring import Asked, Found
from scripts.bench.other.peer import Peer

FILE = Path(__file__).with_name("figures.json")


@dataclass(frozen=True)
class Ours:
    """Our figures when they were committed: see ``measuring.Found``."""

    instructions: int
    cycles: int
    estimated: int
    arena: int
    balanced: int
    shared: int = 0
    layers: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Core:
    """A network's figures on a core."""

    peer: Peer | None = None
    ours: Ours | None = None


@dataclass(frozen=True)
class Stored:
    """A network: its kind, the SHA-256 of its file, and its figures by core. One that ``is_file``
    is not made here."""

    kind: str
    sha256: str = ""
    cores: dict[str, Core] = field(default_factory=dict)
    is_file: bool = False


def load(path: Path = FILE) -> dict[str, Stored]:
    """The networks by name. Raises ValueError if the file is damaged."""
    if not path.exists():
        return {}
    return structure(json.loads(path.read_text(encoding="utf-8")), dict[str, Stored])


def text(networks: Mapping[str, Stored]) -> str:
    """The file: a line for each network and core."""
    blocks = []
    for name, one in networks.items():
        cores = ",\n".join(
            f"   {json.dumps(core)}: {json.dumps(asdict(figures))}"
            for core, figures in one.cores.items()
        )
        head = {"kind": one.kind, "sha256": one.sha256, "is_file": one.is_file}
        blocks.append(f' {json.dumps(name)}: {json.dumps(head)[:-1]}, "cores": {{\n{cores}\n  }}}}')
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def found(networks: Mapping[str, Stored], names: Sequence[str]) -> Iterator[Found]:
    """The committed figures of ours, as if they had just been measured."""
    for name in names:
        one = networks.get(name, Stored(""))
        for core, figures in one.cores.items():
            if figures.ours:
                yield Found(Asked(name, core, one.kind), one.sha256, **vars(figures.ours))


def updated(networks: Mapping[str, Stored], new: Found) -> dict[str, Stored]:
    """The networks with new figures of one: the peer's, or ours. Other bytes of a network make its
    old figures invalid, so they go."""
    asked = new.asked
    before = networks.get(asked.name, Stored(asked.kind, is_file=asked.path is not None))
    if before.sha256 not in ("", new.sha256):
        before = replace(before, cores={})
    core = before.cores.get(asked.core, Core())
    if new.peer is not None:
        core = replace(core, peer=new.peer)
    else:
        numbers = new.instructions, new.cycles, new.estimated, new.arena, new.balanced, new.shared
        core = replace(core, ours=Ours(*numbers, new.layers))
    cores = {**before.cores, asked.core: core}
    return {**networks, asked.name: replace(before, sha256=new.sha256, cores=cores)}
