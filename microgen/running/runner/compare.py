"""Finds the first layer and element outside of its bound, and the distance of each layer to its
bound."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from microgen.base.errors import short
from microgen.base.manifest import ModuleRecord
from microgen.graph.ir.beside import Expected, distance, exceeds
from microgen.graph.ir.graph import Array
from microgen.graph.ir.layouts import Shown
from microgen.graph.ir.rounds import plain

EQUAL = "equal"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first element that differs, in the order of execution.

    ``layer`` is the model's name of the layer, and ``index`` has one number per dimension of the
    model's tensor. ``allowed`` is the element's bound. ``differing`` of the tensor's ``size``
    elements differ, by at most ``largest``. ``call`` is None for a tensor that no call computes.
    """

    sample: int
    call: int | None
    layer: str
    tensor: str
    index: tuple[int, ...]
    found: float
    expected: float
    differing: int
    size: int
    largest: float
    allowed: float = 0.0
    rule: str = EQUAL

    def __str__(self) -> str:
        at = ",".join(map(str, self.index))
        call = "" if self.call is None else f"call {self.call}, "
        # Integers are printed as they are; floats whose bound is known need more digits, because
        # the difference can be in the last digits.
        wanted = f"{self.expected:g}"
        if self.allowed:
            wanted = f"{self.expected:.9g} within {self.allowed:.3g} ({self.rule})"
        actual = f"{self.found:.9g}" if self.allowed else f"{self.found:g}"
        return (
            f'sample {self.sample}, {call}layer "{short(self.layer)}": '
            f"{short(self.tensor)}[{at}] is {actual}, expected {wanted}; "
            f"{self.differing} of {self.size} elements differ, by {self.largest:g} at most"
        )


@dataclass(frozen=True, slots=True)
class Held:
    """A compared tensor: the ``rule`` of its bound, the greatest bound of an element, and the
    largest difference of an element as a fraction of the element's own bound. The fraction is 0 if
    all elements are equal, and above 1 if one is outside of its bound. ``departs`` elements differ
    because the implementation defines them in another way, for the reason ``why``. ``name`` is the
    implementation's name of the tensor. ``unlimited`` other elements differ, but any value is
    allowed for them."""

    sample: int
    call: int | None
    layer: str
    tensor: str
    rule: str
    bound: float
    ratio: float
    departs: int = 0
    why: str = ""
    name: str = ""
    unlimited: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            **{name: getattr(self, name) for name in ("sample", "call", "layer", "tensor", "rule")},
            "bound": number(self.bound),
            "ratio": number(self.ratio),
        }


def number(value: float) -> float | None:
    """The number for JSON, in which infinity is null."""
    return value if math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class Unseen:
    """A layer whose result could not be read, because it was not in memory when call number
    ``call`` returned. Its errors are attributed to the next layer that could be read."""

    call: int
    layer: str
    tensor: str
    why: str

    def __str__(self) -> str:
        return f'call {self.call}, layer "{short(self.layer)}": {self.why}'


def unseen(module: ModuleRecord) -> tuple[Unseen, ...]:
    """The layers of a module that cannot be read."""
    return tuple(
        Unseen(call.index, step.layer, step.tensor, step.unseen)
        for call in module.calls
        for step in call.steps
        # A later call has the whole result of which this one writes a run.
        if step not in call.read and not call.run
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison. ``held`` are the compared tensors, ``absent`` names tensors
    without expected values, and ``unseen`` are layers that could not be read. ``first`` is None if
    all compared tensors are within their bounds. ``misnamed`` says which tensors do not have the
    value of the model's tensor of that name after the passes; only outputs among them are
    compared."""

    held: tuple[Held, ...]
    absent: tuple[str, ...]
    first: Difference | None
    unseen: tuple[Unseen, ...] = ()
    misnamed: tuple[str, ...] = ()

    @property
    def compared(self) -> int:
        """The number of compared tensors."""
        return len({held.name for held in self.held})

    @property
    def samples(self) -> int:
        """The number of compared samples."""
        return len({held.sample for held in self.held})

    @property
    def departures(self) -> tuple[str, ...]:
        """The layers in which the implementation differs from others on purpose, as sentences."""
        # The same reason in the same layer is one sentence, whatever the number of samples.
        layers = {(held.why, held.layer): 0 for held in self.held if held.departs}
        for held in self.held:
            if held.departs:
                layers[held.why, held.layer] += held.departs
        return tuple(
            f'oracles differ in {count} of the elements of layer "{short(layer)}": {why}'
            for (why, layer), count in layers.items()
        )

    @property
    def is_exact(self) -> bool:
        """Whether every element had to be equal."""
        return not any(held.bound for held in self.held)


def compare(
    module: ModuleRecord,
    expected: Iterable[tuple[int, Expected]],
    absent: Iterable[str] = (),
    shows: Mapping[str, Shown] = MappingProxyType({}),
) -> Comparison:
    """Compare a module's tensors, each with its sample's number, with the expected tensors, up to
    the first tensor that differs. ``absent`` is passed on to the result. ``shows`` maps the
    expected tensors to the model's tensors if they differ. There may be nothing to compare.
    """
    calls = {step.tensor: call.index for call in module.calls for step in call.read}
    held: list[Held] = []
    for sample, one in expected:
        if one.found is None:
            # The firmware has no such tensor in memory, or it could not be read.
            continue
        is_same = np.array_equal(one.found, one.values)
        call = calls.get(one.name or plain(one.tensor))
        held.append(_held(sample, call, one, is_same=is_same))
        first = None if is_same else _difference(held[-1], one, shows.get(one.tensor))
        if first:
            return Comparison(tuple(held), tuple(absent), first)
    return Comparison(tuple(held), tuple(absent), None)


def ratio(actual: Array, expected: Array, bound: Array) -> float:
    """The greatest distance of an element as a fraction of its bound."""
    apart = distance(actual, expected)
    with np.errstate(divide="ignore", invalid="ignore"):
        # No difference is 0 even if the bound is 0, and an unlimited bound allows any: both would
        # be NaN.
        parts = np.where(apart > 0, np.where(np.isinf(bound), 0, apart / bound), 0)
    return float(parts.max(initial=0))


def rule(one: Expected) -> str:
    """A tensor's rules in words."""
    return ", then ".join(name for name in one.rules if name != EQUAL) or EQUAL


def _held(sample: int, call: int | None, one: Expected, *, is_same: bool) -> Held:
    assert one.found is not None
    near = 0.0 if is_same else ratio(one.found, one.values, one.bound)
    largest = float(one.bound.max(initial=0))
    layer, name = one.node.origin.layer, one.name or one.tensor
    departs, unlimited = (0, 0) if is_same else (one.departures, one.unlimited)
    unlimited = 0 if one.why else unlimited
    return Held(
        *(sample, call, layer, one.tensor, rule(one), largest, near, departs, one.why, name),
        unlimited,
    )


def _difference(held: Held, one: Expected, show: Shown | None) -> Difference | None:
    assert one.found is not None
    wrong = exceeds(one.found, one.values, one.bound)
    if not wrong.any():
        return None
    # ``argmax`` of booleans is the first True, in the order of memory.
    index = tuple(map(int, np.unravel_index(int(np.argmax(wrong)), wrong.shape)))
    return Difference(
        sample=held.sample,
        call=held.call,
        layer=held.layer,
        tensor=show.tensor if show else held.tensor,
        index=show.index_in_model(index) if show else index,
        found=one.found[index].item(),
        expected=one.values[index].item(),
        differing=int(np.count_nonzero(wrong)),
        size=int(wrong.size),
        largest=float(distance(one.found, one.values)[wrong].max()),
        allowed=float(one.bound[index]),
        rule=held.rule,
    )
