"""The names that a file's signature gives to the inputs and outputs of its network.

A signature lists pairs of a name and a tensor. Converters write them in another order than the
subgraph lists its inputs and outputs, and give tensors names such as ``serving_default_x:0``. The
signature is what the network's author has chosen, so its names and its order are the interface.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from microgen.base.errors import short
from microgen.frontends.tflite.reader import Reader

_NAME = 0  # the field number in schema.fbs, table TensorMap


@dataclass(frozen=True, slots=True)
class NamedPorts:
    """The inputs or the outputs of a network, in the order of its interface. ``names`` are the
    signature's, in the same order, with "" for ports that it does not list; empty if it lists
    none. ``others``: number of an input -> further names that the signature has for it. ``note``
    is a sentence for the user if the signature's names are of no use; otherwise empty."""

    tensors: tuple[int, ...]
    names: tuple[str, ...] = ()
    others: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    note: str = ""


UNNAMED = NamedPorts(())


def inputs(reader: Reader, signature: Any, listed: Sequence[int]) -> NamedPorts:
    """The inputs of a network. ``listed`` are the inputs of its subgraph. ``signature`` is a
    SignatureDef, or None. ModelError if two of its inputs have one name."""
    found = _ports(reader, signature, "Inputs", listed)
    firsts: dict[int, str] = {}
    others: dict[int, tuple[str, ...]] = {}
    for number, name in zip(found.tensors, found.names, strict=False):
        # One tensor has one place in C, whatever the number of its names is.
        if number in firsts:
            others[number] = (*others.get(number, ()), name)
        else:
            firsts[number] = name
    if not firsts:
        return found
    return NamedPorts(tuple(firsts), tuple(firsts.values()), others, found.note)


def outputs(reader: Reader, signature: Any, listed: Sequence[int]) -> NamedPorts:
    """The outputs of a network, as ``inputs`` gives its inputs. A tensor with two names is two
    outputs, as LiteRT returns them."""
    return _ports(reader, signature, "Outputs", listed)


def _ports(reader: Reader, signature: Any, side: str, listed: Sequence[int]) -> NamedPorts:
    pairs = [] if signature is None else _pairs(reader, signature, side)
    known = {*listed}
    stray = [(name, number) for name, number in pairs if number not in known]
    if stray:
        # Tools that add operators at the ends of a network may leave the signature as it was. Then
        # the numbers mean other tensors, and so do the names of the other pairs.
        name, number = stray[0]
        kind = side.lower()
        note = (
            f"the signature's {kind} are not the network's (\"{short(name)}\" is tensor {number}), "
            f"so {kind} have the names of their tensors"
        )
        return NamedPorts(tuple(listed), note=note)
    if not any(name for name, _ in pairs):
        return NamedPorts(tuple(listed))
    _check_once(reader, [name for name, _ in pairs if name], side)
    # The subgraph has this port even if the signature leaves it out, so it has to be fed.
    named = {number for _, number in pairs}
    left = [number for number in listed if number not in named]
    return NamedPorts(
        (*(number for _, number in pairs), *left),
        (*(name for name, _ in pairs), *("" for _ in left)),
    )


def _pairs(reader: Reader, signature: Any, side: str) -> list[tuple[str, int]]:
    return [
        (reader.text(table, _NAME), int(reader.get(table, "TensorIndex")))
        for table in reader.tables(signature, side)
    ]


def _check_once(reader: Reader, names: Sequence[str], side: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise reader.invalid(
                f'has a signature with two {side.lower()} called "{short(name)}", so the name does '
                "not tell which one is meant"
            )
        seen.add(name)


def labels(given: NamedPorts, made: NamedPorts) -> dict[int, str]:
    """The names that tensors get from the signature, by their numbers, no name twice. An output
    that shares its name with an input, or its tensor with another port, gets none."""
    found: dict[int, str] = {}
    taken: set[str] = set()
    for ports in (given, made):
        for number, name in zip(ports.tensors, ports.names, strict=False):
            if name and number not in found and name not in taken:
                found[number] = name
                taken.add(name)
    return found


def called(ports: NamedPorts, names: Sequence[str]) -> tuple[str, ...]:
    """The names of ports: the signature's, or else those of their tensors in ``names``; empty if
    the signature has none."""
    pairs = zip(ports.tensors, ports.names, strict=False)
    return tuple(name or names[number] for number, name in pairs)


def numbered(made: NamedPorts, listed: Sequence[int]) -> list[tuple[str, ...]]:
    """A further name for each output, which is its name in C if there is no signature: ``output``,
    or ``output0``, ``output1``, .... Empty if they have this name anyway, or if they are in another
    order than in ``listed``, the order of the subgraph: the number would then mean another output.
    """
    if not made.names or made.tensors != tuple(listed):
        return [()] * len(made.tensors)
    count = len(listed)
    return [("output" if count == 1 else f"output{k}",) for k in range(count)]
