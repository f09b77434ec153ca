"""Compares outputs from end to end: finds the equal samples, the samples whose layers have to be
read, and the differences that layers explain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from microgen.graph.ir import beside
from microgen.graph.ir.graph import Array, Graph
from microgen.running.runner.compare import Comparison, ratio

# Reading layers stops the core at every call, so it takes far longer than a plain run.
MOST = 8  # with floats: the most samples whose layers are all read
MOST_VAGUE = 100  # the most samples whose layers are read because only layers can judge them


@dataclass(frozen=True)
class End:
    """An output of a sample: the values found and expected, and the largest difference that is
    allowed."""

    found: Array
    values: Array
    bound: Array

    @cached_property
    def ratio(self) -> float:
        """The largest ratio of a difference to its bound."""
        return ratio(self.found, self.values, self.bound)

    @cached_property
    def is_vague(self) -> bool:
        """Whether an infinite bound hides a difference: the element may have any value, and only
        layers tell whether the output is right."""
        # An infinite bound has ratio 0, so ``ratio`` alone would not find such elements.
        apart = beside.distance(self.found, self.values) > 0
        return bool((apart & np.isinf(self.bound)).any())

    @property
    def is_equal(self) -> bool:
        """Whether the output is within its bound, and the bound does not allow every value."""
        return self.ratio <= 1 and not self.is_vague

    @property
    def off(self) -> float:
        """The largest difference, divided by the greatest magnitude expected."""
        apart = float(beside.distance(self.found, self.values).max(initial=0))
        size = float(np.abs(self.values.astype(np.float64)).max(initial=0))
        # With a greatest magnitude of 0 the quotient has no meaning, so the difference itself is
        # returned.
        return apart / size if apart and math.isfinite(size) and size else apart


@dataclass(frozen=True)
class Ends:
    """The outputs of every sample."""

    samples: Sequence[Sequence[End]]

    @cached_property
    def unequal(self) -> tuple[int, ...]:
        """The samples with an output that differs from the expected output."""
        each = enumerate(self.samples)
        return tuple(i for i, ends in each if not all(end.is_equal for end in ends))

    @cached_property
    def vague(self) -> frozenset[int]:
        """The samples whose outputs are within their bounds, but whose bounds are too wide to call
        them equal."""
        return frozenset(i for i in self.unequal if all(end.ratio <= 1 for end in self.samples[i]))

    @property
    def off(self) -> float:
        """The largest ``off`` of an output."""
        return max((end.off for ends in self.samples for end in ends), default=0.0)

    @property
    def ratio(self) -> float:
        """The largest ``ratio`` of an output."""
        return max((end.ratio for ends in self.samples for end in ends), default=0.0)

    def chosen(self, *, is_exact: bool, in_sequence: bool) -> tuple[int, ...]:
        """The samples whose layers are compared. If floats are rounded and there are few samples,
        these are all. Otherwise they are the first sample beyond a bound, or the sample with the
        largest difference if there is none, and the samples with the largest differences among the
        samples that only layers can judge. ``in_sequence``: layers depend on earlier samples, which
        are then included."""
        if not is_exact and len(self.samples) <= MOST:
            return tuple(range(len(self.samples)))
        off = [max((end.off for end in ends), default=0.0) for ends in self.samples]
        # A vague sample is beyond no bound, so it is no proof of an error.
        beyond = [i for i in self.unequal if i not in self.vague]
        # argmax is the first sample with the largest difference.
        worst = beyond[0] if beyond else int(np.argmax(off))
        others = sorted(self.vague - {worst}, key=lambda i: -off[i])[: MOST_VAGUE - 1]
        return upto((worst, *others), in_sequence=in_sequence)


def upto(samples: Iterable[int], *, in_sequence: bool) -> tuple[int, ...]:
    """The samples in order. With ``in_sequence``, all samples before them are included."""
    ordered = sorted({*samples})
    return tuple(range(ordered[-1] + 1)) if in_sequence and ordered else tuple(ordered)


def explained(ends: Ends, graph: Graph, own: Comparison) -> frozenset[int]:
    """The samples whose outputs may differ from an oracle's, because the oracle's ``own`` layers
    differ from the reference within their bounds. All of a sample's outputs must have been compared
    with the reference, and one of its layers must differ. If the bounds from end to end allow any
    value, the firmware's roundings explain the difference, and no layer of the oracle need
    differ."""
    # The oracle does not compute the same network, so it explains nothing.
    if own.first is not None:
        return frozenset()
    made = {name for node in graph.nodes for name in node.outputs}
    outputs = {name for name in graph.outputs if name in made}
    judged = _by_sample(own)
    complete = (i for i in ends.unequal if outputs <= judged.get(i, {}).keys())
    # Equal layers with unequal outputs are a contradiction, which nothing explains.
    return frozenset(i for i in complete if i in ends.vague or any(judged[i].values()))


def judged(layers: Comparison | None) -> frozenset[int]:
    """The samples that layers have judged: some of their layers were read, and no such layer
    differs in an element for which any value is allowed."""
    held = layers.held if layers else ()
    return frozenset(one.sample for one in held) - {one.sample for one in held if one.unlimited}


def _by_sample(own: Comparison) -> Mapping[int, dict[str, bool]]:
    """Whether each compared tensor of each sample differs."""
    differs: dict[int, dict[str, bool]] = {}
    for held in own.held:
        differs.setdefault(held.sample, {})[held.tensor] = bool(held.ratio or held.departs)
    return differs
