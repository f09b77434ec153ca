"""The buffers of the next values of variables: the variable's own one if nothing reads the old
value any more, otherwise another one, from which the value is copied at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from microgen.base.errors import InternalError
from microgen.compiler.codegens.base import Primitive, Region
from microgen.compiler.passes.views import roots
from microgen.graph.ir.graph import Graph
from microgen.planner.program.types import InPlace, Role


@dataclass(frozen=True, slots=True)
class Updates:
    """``places``: tensor -> the variable in whose buffer it is computed. ``dropped``: the numbers
    of the regions that would copy a value to its own place. ``bytes_of``: tensor -> the tensor
    whose bytes it has (``passes.views``)."""

    places: Mapping[str, str]
    dropped: frozenset[int]
    bytes_of: Mapping[str, str]


def of(graph: Graph, regions: Sequence[Region], primitives: Sequence[Primitive]) -> Updates:
    """The places of all updates of a graph after the pass ``own_updates``.

    ``regions`` are in execution order, with the primitive function of each. Raises InternalError if
    a region reads a variable after its value was replaced.
    """
    bytes_of = roots(graph)
    state = _Updating.of(graph, primitives, bytes_of)
    for variable, tensor in graph.updates.items():
        if tensor == variable:
            continue
        copy = state.writers[tensor]  # the pass own_updates has made a node for it
        source = bytes_of[primitives[copy].inputs[0]] if primitives[copy].inputs else ""
        # If the value can be computed in the variable's buffer, there is nothing left to copy.
        if _is_alone(regions[copy]) and state.fits(variable, source):
            state.dropped.add(copy)
            state.places[source] = variable
        else:
            state.places[tensor] = variable
    state.check()
    return Updates(state.places, frozenset(state.dropped), bytes_of)


def _is_alone(region: Region) -> bool:
    return [node.op for node in region.nodes] == ["copy"]


@dataclass(slots=True)
class _Updating:
    primitives: Sequence[Primitive]
    bytes_of: Mapping[str, str]
    outputs: set[str]  # tensors that the caller gets
    writers: Mapping[str, int]  # the numbers of the regions that compute tensors
    read_by: Mapping[str, list[int]]  # the numbers of the regions that read a tensor's bytes
    places: dict[str, str] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)

    @classmethod
    def of(
        cls, graph: Graph, primitives: Sequence[Primitive], bytes_of: Mapping[str, str]
    ) -> _Updating:
        """Nothing is placed yet."""
        read_by: dict[str, list[int]] = {}
        for i, primitive in enumerate(primitives):
            for name in dict.fromkeys(bytes_of[n] for n in primitive.inputs):
                read_by.setdefault(name, []).append(i)
        writers = {name: i for i, p in enumerate(primitives) for name in p.outputs}
        outputs = {bytes_of[name] for name in graph.outputs}
        return cls(primitives, bytes_of, outputs, writers, read_by)

    def readers(self, variable: str) -> list[int]:
        """The numbers of the regions that read a variable's old value."""
        return [i for i in self.read_by.get(variable, ()) if i not in self.dropped]

    def fits(self, variable: str, source: str) -> bool:
        """Whether a tensor may be computed in a variable's place: only regions before the one that
        computes it read the variable, or this region may work in place."""
        writer = self.writers.get(source)
        # The caller reads outputs after the run, and a tensor can be in one place only.
        if writer is None or source in self.outputs or source in self.places:
            return False
        readers = self.readers(variable)
        if any(reader > writer for reader in readers):
            return False
        return writer not in readers or self._is_in_place(writer, variable, source)

    def _is_in_place(self, region: int, variable: str, source: str) -> bool:
        """Whether a region may write its output where it reads the variable."""
        primitive = self.primitives[region]
        inputs, outputs = iter(primitive.inputs), iter(primitive.outputs)
        read, written = list[int](), list[int]()
        for position, parameter in enumerate(primitive.parameters):
            if parameter.role in (Role.INPUT, Role.STATE):
                if self.bytes_of[next(inputs)] == variable:
                    read.append(position)
            elif parameter.role is Role.OUTPUT and next(outputs) == source:
                written.append(position)
        pairs = {InPlace(i, o) for i in read for o in written}
        # With two operands that are the variable, writing one would change the other.
        return len(read) == 1 and pairs <= set(primitive.in_place)

    def check(self) -> None:
        """Raise InternalError unless each variable is read before it is written."""
        for tensor, variable in self.places.items():
            writer = self.writers[tensor]
            late = [reader for reader in self.readers(variable) if reader > writer]
            if late:
                raise InternalError(
                    f"region {late[0]} reads it after region {writer} has replaced it",
                    where=f"variable {variable!r}",
                )
