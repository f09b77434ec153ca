"""Finds the first layer and element in which traced layers differ from expected ones.

Integers must be equal. Floats may differ by ``FLOAT_TOLERANCE`` of the tensor's range: the larger
of its greatest magnitude and the distance from its least to its greatest value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.errors import InternalError
from microgen.ir.graph import Array
from microgen.manifest import ModuleRecord
from microgen.runner.trace import Layer

FLOAT_TOLERANCE = 1e-5


def differs(found: Array, expected: Array) -> Array:
    """Which elements differ, bool of the arrays' shape."""
    if expected.dtype.kind != "f":
        unequal: Array = found != expected
        return unequal
    finite = np.isfinite(expected)
    values = expected[finite].astype(np.float64)
    span = max(np.ptp(values), np.abs(values).max()) if values.size else 0.0
    apart = np.abs(np.where(finite, found, 0).astype(np.float64) - np.where(finite, expected, 0))
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    far: Array = np.where(finite, ~(apart <= FLOAT_TOLERANCE * span), ~same)
    return far


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
    module: ModuleRecord, layers: Iterable[Layer], expected: Sequence[Mapping[str, Array]]
) -> Comparison:
    """Compare a module's layers with ``expected[sample][tensor]``, element by element.

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
        first = _difference(module, layer, reference)
        if first:
            return Comparison(compared, tuple(absent), first)
    if not compared:
        raise InternalError("no traced layer has an expected tensor to be compared with")
    return Comparison(compared, tuple(absent), None)


def _difference(module: ModuleRecord, layer: Layer, reference: Array) -> Difference | None:
    if reference.size != layer.array.size:
        raise InternalError(
            f"{layer.tensor} has shape {layer.array.shape}, the reference's {reference.shape}"
        )
    reference = reference.reshape(layer.array.shape)
    wrong = differs(layer.array, reference)
    if not wrong.any():
        return None
    index = np.unravel_index(int(np.argmax(wrong)), layer.array.shape)
    distance = np.abs(layer.array.astype(np.float64) - reference.astype(np.float64))
    return Difference(
        sample=layer.sample,
        call=layer.call,
        layer=module.calls[layer.call].layer,
        tensor=layer.tensor,
        index=tuple(map(int, index)),
        found=layer.array[index].item(),
        expected=reference[index].item(),
        differing=int(np.count_nonzero(wrong)),
        size=int(wrong.size),
        largest=float(distance.max()),
    )
