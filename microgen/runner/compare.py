"""Finds the first layer and element in which traced layers differ from expected ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.errors import InternalError
from microgen.ir.graph import Array
from microgen.manifest import Manifest
from microgen.runner.trace import Layer


@dataclass(frozen=True, slots=True)
class Difference:
    """The first element that differs, in the order of execution.

    ``layer`` is the model's name of the layer, ``index`` has one number per dimension of the
    tensor; ``differing`` of ``size`` elements of the tensor differ, by ``largest`` at most.
    """

    sample: int
    call: int
    layer: str
    tensor: str
    index: tuple[int, ...]
    found: float
    expected: float
    differing: int
    size: int
    largest: float

    def __str__(self) -> str:
        at = ",".join(map(str, self.index))
        return (
            f'sample {self.sample}, call {self.call}, layer "{self.layer}": '
            f"{self.tensor}[{at}] is {self.found:g}, expected {self.expected:g}; "
            f"{self.differing} of {self.size} elements differ, by {self.largest:g} at most"
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a comparison found. ``compared`` layers had an expected tensor, ``absent`` names the
    tensors that had none; ``first`` is None if all that were compared are equal."""

    compared: int
    absent: tuple[str, ...]
    first: Difference | None


def compare(
    manifest: Manifest, layers: Iterable[Layer], expected: Sequence[Mapping[str, Array]]
) -> Comparison:
    """Compare layers with ``expected[sample][tensor]``, element by element, exactly.

    An expected tensor may have another shape of the same size. Raises InternalError if sizes
    differ, or if nothing could be compared.
    """
    compared, absent = 0, dict[str, None]()
    for layer in layers:
        reference = expected[layer.sample].get(layer.tensor)
        if reference is None:
            absent[layer.tensor] = None
            continue
        compared += 1
        first = _difference(manifest, layer, reference)
        if first:
            return Comparison(compared, tuple(absent), first)
    if not compared:
        raise InternalError("no traced layer has an expected tensor to be compared with")
    return Comparison(compared, tuple(absent), None)


def _difference(manifest: Manifest, layer: Layer, reference: Array) -> Difference | None:
    if reference.size != layer.array.size:
        raise InternalError(
            f"{layer.tensor} has shape {layer.array.shape}, the reference's {reference.shape}"
        )
    reference = reference.reshape(layer.array.shape)
    differs = layer.array != reference
    if not differs.any():
        return None
    index = np.unravel_index(int(np.argmax(differs)), layer.array.shape)
    distance = np.abs(layer.array.astype(np.float64) - reference.astype(np.float64))
    return Difference(
        sample=layer.sample,
        call=layer.call,
        layer=manifest.calls[layer.call].layer,
        tensor=layer.tensor,
        index=tuple(map(int, index)),
        found=layer.array[index].item(),
        expected=reference[index].item(),
        differing=int(np.count_nonzero(differs)),
        size=int(differs.size),
        largest=float(distance.max()),
    )
