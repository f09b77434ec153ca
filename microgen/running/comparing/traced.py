"""Maps the layers that were read from the firmware to tensors of the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from microgen.base.errors import InternalError
from microgen.graph.ir import layouts
from microgen.graph.ir.beside import Expected
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.layouts import Shown
from microgen.running.runner import TracedLayer

Output = tuple[str, Array]  # the model's name of an output, and its array


@dataclass(frozen=True, slots=True)
class Traced:
    """The tensors of a graph that were read from a firmware.

    ``layers``, by sample: the name by which a layer was read -> the array, in the dtype and shape
    of the tensor that it shows. ``names``: tensor of the graph -> the layers that show it, in the
    order in which they are computed. ``absent`` are the names of layers without a tensor in the
    graph.
    """

    layers: tuple[Mapping[str, Array], ...]
    shows: Mapping[str, Shown]
    names: Mapping[str, tuple[str, ...]]
    absent: tuple[str, ...]
    # By sample: the tensors of graphs inside loops, by their names in each round.
    inner: tuple[Mapping[str, Array], ...]

    @property
    def found(self) -> list[dict[str, Array]]:
        """By sample: tensor of the graph -> the array of the first layer that shows it."""
        firsts = {tensor: first for tensor, (first, *_) in self.names.items()}
        return [
            {**{t: each[n] for t, n in firsts.items() if n in each}, **inner}
            for each, inner in zip(self.layers, self.inner, strict=True)
        ]

    @property
    def partly(self) -> dict[str, Shown]:
        """The tensors that these layers show in another layout or without some channels."""
        firsts = {tensor: self.shows[first] for tensor, (first, *_) in self.names.items()}
        return {tensor: show for tensor, show in firsts.items() if not show.is_plain}

    def without(self, tensors: Iterable[str]) -> Traced:
        """A copy without some tensors."""
        gone = {*tensors}
        return replace(self, names={t: n for t, n in self.names.items() if t not in gone})

    def also(self, sample: int, one: Expected) -> Iterator[Expected]:
        """Yields the tensor that is expected in a sample, under the name by which it was read, then
        the other layers that show the tensor. These layers only move its elements."""
        first, *others = self.names.get(one.tensor, (one.name,))
        yield replace(one, name=first)
        # Without a result there is nothing to compare the other layers with.
        for name in others if one.found is not None else ():
            if name in self.layers[sample]:
                assert one.found is not None
                own = self.shows[name].filled(self.layers[sample][name], one.found)
                # Elements are only moved, so the bound is 0 and no rule applies.
                exact = np.broadcast_to(0.0, own.shape)
                yield Expected(one.node, one.tensor, one.found, exact, (), own, name=name)


def traced(
    graph: Graph,
    shows: Mapping[str, Shown],
    layers: Iterable[TracedLayer],
    outputs: Sequence[Mapping[str, Output]],
    states: set[str],
    *,
    has_inner: bool,
) -> Traced:
    """The layers of some samples as tensors of a graph. ``shows`` maps the names of layers to
    tensors; ``states`` are the names of variables. ``outputs``, by sample, take the place of
    layers: tensor of the graph -> the firmware's output. If the graph ``has_inner``, the graphs
    inside its loops are those of the firmware. Raises InternalError if sizes differ."""
    read: list[dict[str, Array]] = [{} for _ in outputs]
    inner: list[dict[str, Array]] = [{} for _ in outputs]
    for layer in layers:
        if layer.is_inner:
            inner[layer.sample] |= {layer.tensor: layer.array} if has_inner else {}
            continue
        read[layer.sample] |= {layer.tensor: layer.array, **layer.variables}
    for each, by_tensor in zip(read, outputs, strict=True):
        for tensor, (port, array) in by_tensor.items():
            # The output that the caller got is compared, even if its layer was read, too.
            is_read = port in each and port in shows and shows[port].tensor == tensor
            each[port if is_read else tensor] = array
    known = {*graph.types, *shows, *states}
    absent = {name for each in read for name in each if name not in known}
    arrays = tuple(
        {name: _shaped(shows[name], name, array) for name, array in each.items() if name in shows}
        for each in read
    )
    names = layouts.by_model(shows, (name for each in arrays for name in each))
    return Traced(arrays, shows, names, tuple(sorted(absent)), tuple(inner))


def of_model(source: Graph, reduced: Graph) -> dict[str, Shown]:
    """The tensors that layers' names mean in the model's graph ``source``. ``reduced`` is the graph
    after the passes. Names that are not in ``reduced`` are the names of the model's own ports."""
    own = {name: Shown(name, kind) for name, kind in source.types.items()}
    return {**own, **layouts.shown(reduced, source.types)}


def of_reduced(source: Graph, reduced: Graph) -> dict[str, Shown]:
    """The tensors that layers' names mean in the graph after the passes. Layers that compute
    outputs have the model's names for them."""
    pairs = zip(source.outputs, reduced.outputs, strict=True)
    ports = {port: Shown(name, reduced.types[name]) for port, name in pairs}
    return {**ports, **{name: Shown(name, kind) for name, kind in reduced.types.items()}}


def _shaped(show: Shown, name: str, array: Array) -> Array:
    kind = show.kind
    wanted = int(np.prod(show.shape)) * kind.dtype.nbytes
    # Another size would let ``reshape`` raise an error that does not name the layer.
    if wanted != array.nbytes:
        raise InternalError(f"{name} has shape {array.shape}, the reference's {show.shape}")
    return np.ascontiguousarray(array).view(kind.dtype.numpy).reshape(show.shape)
