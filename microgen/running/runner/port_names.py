"""The names that arrays of samples may have for inputs and outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from microgen.base.errors import InputError, short
from microgen.base.manifest import Manifest, ModuleRecord, PortRecord
from microgen.graph.ir.graph import Array

Ranked = Sequence[Sequence[str]]
"""The names of an input in ranks. A name that an input has in an earlier rank than all others means
that input."""


def inputs(manifest: Manifest) -> list[PortRecord]:
    """The inputs of all models in order; if there are several, with names ``<module>.<tensor>``."""
    return [p for m in manifest.modules for p in _named_ports(manifest, m, "inputs")]


def outputs(manifest: Manifest) -> list[PortRecord]:
    """The outputs, named as in ``inputs``."""
    return [p for m in manifest.modules for p in _named_ports(manifest, m, "outputs")]


def _named_ports(manifest: Manifest, module: ModuleRecord, kind: str) -> list[PortRecord]:
    ports: Sequence[PortRecord] = getattr(module, kind)
    # With one model the names are the tensors' own, so a project of one model needs no prefix.
    if not manifest.more:
        return list(ports)
    return [
        replace(
            port,
            tensor=f"{module.module}.{port.tensor}",
            aliases=tuple(f"{module.module}.{alias}" for alias in port.aliases),
        )
        for port in ports
    ]


def of_module(
    manifest: Manifest, module: ModuleRecord, kind: str, arrays: Mapping[str, Array]
) -> dict[str, Array]:
    """The arrays of one module, by its tensors' names. ``kind`` is "inputs" or "outputs".
    An array may be missing."""
    ports: Sequence[PortRecord] = getattr(module, kind)
    pairs = zip(ports, _named_ports(manifest, module, kind), strict=True)
    return {port.tensor: arrays[full.tensor] for port, full in pairs if full.tensor in arrays}


def ranked(manifest: Manifest) -> list[Ranked]:
    """The names of each of ``inputs``: its own; with several models the name without the module's;
    then its aliases, in the same two forms; then ``input<k>``, counted over all models."""
    if not manifest.more:
        return of_ports(manifest.inputs)
    named = [(m, port) for m in manifest.modules for port in m.inputs]
    return [
        (
            (f"{m.module}.{port.tensor}",),
            (port.tensor,),
            tuple(f"{m.module}.{alias}" for alias in port.aliases),
            port.aliases,
            (f"input{k}",),
        )
        for k, (m, port) in enumerate(named)
    ]


def of_ports(ports: Iterable[PortRecord]) -> list[Ranked]:
    """The names of each input of one model."""
    return [((port.tensor,), port.aliases, (f"input{k}",)) for k, port in enumerate(ports)]


def accepted(names: Sequence[Ranked]) -> list[tuple[str, ...]]:
    """The names that each input's array may have, best first: the names that no other input has in
    the same rank or in an earlier one."""
    first: dict[str, int] = {}
    for own in names:
        for rank, several in enumerate(own):
            for name in several:
                first[name] = min(rank, first.get(name, rank))
    counts = Counter(
        name
        for own in names
        for rank, several in enumerate(own)
        for name in {*several}
        if first[name] == rank
    )
    return [
        tuple(
            dict.fromkeys(
                name
                for rank, several in enumerate(own)
                for name in several
                if first[name] == rank and counts[name] == 1
            )
        )
        for own in names
    ]


def resolved(
    ports: Sequence[PortRecord], names: Sequence[Ranked], arrays: Mapping[str, Array]
) -> list[Array]:
    """The array of each input. Raises InputError if one is missing, if there are two for an input,
    or if a name means no input, or several."""
    own = accepted(names)
    _check_unclear(ports, names, own, arrays)
    found = [_array(port, known, arrays) for port, known in zip(ports, own, strict=True)]
    known = {name for several in own for name in several}
    others = [name for name in arrays if name not in known]
    if others:
        raise InputError(
            f"the model has no input {short(others[0])!r}",
            hint=f"its inputs: {', '.join(repr(short(port.tensor)) for port in ports)}",
        )
    return found


def _check_unclear(
    ports: Sequence[PortRecord],
    names: Sequence[Ranked],
    own: Sequence[tuple[str, ...]],
    arrays: Mapping[str, Array],
) -> None:
    clear = {name for several in own for name in several}
    for name in arrays:
        if name in clear:
            continue
        among = zip(ports, names, strict=True)
        owners = [port.tensor for port, ranks in among if any(name in rank for rank in ranks)]
        # The name could mean either input, and a guess would feed the wrong one.
        if len(owners) > 1:
            meant = " or ".join(map(repr, map(short, owners)))
            raise InputError(
                f"the name {short(name)!r} could mean {len(owners)} inputs",
                hint=f"name it {meant}",
            )


def _array(port: PortRecord, names: Sequence[str], arrays: Mapping[str, Array]) -> Array:
    present = [name for name in names if name in arrays]
    # Several names of one input are accepted, so two may be there, with different arrays.
    if len(present) == 1:
        return arrays[present[0]]
    several = " and ".join(map(short, present))
    what = (
        f"there are {_number(len(present))} arrays ({several})" if present else "there is no array"
    )
    shape = ",".join(map(str, port.shape))
    raise InputError(
        f"{what} for the input {short(port.tensor)!r}, {port.dtype}[{shape}]",
        hint=f"found: {', '.join(repr(short(name)) for name in arrays) or 'no arrays'}; name it "
        f"{' or '.join(repr(short(name)) for name in names)}",
    )


def _number(count: int) -> str:
    return "two" if count == 2 else str(count)
