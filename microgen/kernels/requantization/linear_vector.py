"""The tables of MG_LINEAR_VECTOR of ``crt/include/microgen/requantization/scaling_s8.h``, and its
requirement, which is a proof.

Kinds of transforms: ``linear_vector_multiplier``, int32 [channels]; ``linear_vector_offset``, int32
[filters]; ``linear_vector_shift``, int8 [2]: to the left and to the right. Sources and arguments
are those of ``linear_multiplier``, but ``channels`` is 1 if all of them have one multiplier, and of
shifts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from microgen.graph.arithmetic import linear_vector
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels import base
from microgen.kernels.requantization import linear, transforms

Constants = Callable[[Node, Graph], tuple[base.KernelConstant, ...]]


def refusal(node: Node, graph: Graph, constants: Constants, axis: int, is_raw: bool) -> str | None:
    """Refusal unless ``linear_vector`` is exact for all channels. Arguments are those of
    ``linear.refusal``."""
    constant = _multiplier(constants(node, graph), node, graph, axis, is_raw)
    fitted = _fitted(constant.arrays(graph), dict(constant.arguments))
    return linear.inexact(fitted.is_exact, "the linear requantization of vectors")


def tables(constants: Constants, axis: int, is_raw: bool) -> Constants:
    """The same constants for this requantization: weight, offsets instead of the bias, multipliers,
    shifts."""

    def changed(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
        given = constants(node, graph)
        multiplier = _multiplier(given, node, graph, axis, is_raw)
        offset = dataclasses.replace(multiplier, name="offset", transform="linear_vector_offset")
        shift = dataclasses.replace(
            _with(multiplier, channels=1),
            name="shift",
            ctype="int8_t",
            transform="linear_vector_shift",
        )
        return (given[0], offset, multiplier, shift)

    return changed


def _multiplier(
    given: Sequence[base.KernelConstant], node: Node, graph: Graph, axis: int, is_raw: bool
) -> base.KernelConstant:
    multiplier = linear.multiplier_of(given, node, graph, axis, is_raw)
    entries = dict(given[2].arguments)["channels"]
    return _with(
        dataclasses.replace(multiplier, transform="linear_vector_multiplier"), channels=entries
    )


def _with(constant: base.KernelConstant, **arguments: float | int | str) -> base.KernelConstant:
    changed = {**dict(constant.arguments), **arguments}
    return dataclasses.replace(constant, arguments=tuple(changed.items()))


@transforms.remembered
def _fitted(
    sources: Sequence[Array], arguments: transforms.Arguments
) -> linear_vector.LinearVector:
    channels = sources[1].shape[int(arguments["axis"])]
    return linear_vector.fit(linear.channels(sources, {**arguments, "channels": channels}))


def _proven(
    sources: Sequence[Array], arguments: transforms.Arguments
) -> linear_vector.LinearVector:
    fitted = _fitted(sources, arguments)
    if not fitted.is_exact.all():
        raise ValueError("the linear requantization of vectors is not exact for all channels")
    return fitted


def _multipliers(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    found = _proven(sources, arguments).multipliers
    return found[: int(arguments["channels"])].astype(np.int32)


def _offsets(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    return _proven(sources, arguments).offsets.astype(np.int32)


def _shifts(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    found = _proven(sources, arguments)
    return np.array([found.left, -found.right], np.int8)


TRANSFORMS: Mapping[str, transforms.Function] = {
    "linear_vector_multiplier": _multipliers,
    "linear_vector_offset": _offsets,
    "linear_vector_shift": _shifts,
}
