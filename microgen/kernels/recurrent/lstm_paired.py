"""The kernel for nn.lstm with int8 data and paired weights, for the Arm DSP extension."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.base.errors import MicrogenError
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels import base
from microgen.kernels.constant import KernelConstant
from microgen.kernels.recurrent import gate_functions, lstm
from microgen.kernels.requantization import paired, transforms
from microgen.kernels.work import Work, common

OP_NAME = lstm.OP_NAME
PRECEDENCE = 1
_GROUP, _GATES, _STEP = 8, 4, 4  # sums of a group, gates of a cell, values of a step
_ORDER = (0, 1, 3, 2)  # of the gates in a group
_UNIT = 256  # the kernel's sums are times this number
_BLOCK = 8  # cells whose gates' functions are computed together
_MOST_LEFT = 7  # shifts to the left of sums
_FEWEST_BITS = 2  # of the cell state's integer part


def _refusal(node: Node, graph: Graph) -> str | None:
    return (
        lstm.with_extras(node, graph)
        or lstm.dsp_refusal(node, graph)
        or _refuses_scales(node, graph)
        or _refuses(node, graph)
    )


def _refuses(node: Node, graph: Graph) -> str | None:
    """Refusal unless all weights can be paired, and all sums times 256 fit int32."""
    try:
        for constant in _sums(node, graph):
            transforms.kept(constant.transform, constant.arrays(graph), constant.arguments)
    except (MicrogenError, ValueError) as error:
        return str(error)
    return None


def _refuses_scales(node: Node, graph: Graph) -> str | None:
    p = lstm.parameters(node, graph)
    left = max(_left(p.weight), _left(p.recurrent))
    if left > _MOST_LEFT:
        return f"sums are shifted to the left by {left}, the kernel does by up to {_MOST_LEFT}"
    if p.hidden[1] >= 0:
        return "the hidden state's scale has no shift to the right, the kernel needs one"
    if p.cell_bits < _FEWEST_BITS:
        return f"the cell state has {p.cell_bits} integer bits, the kernel needs {_FEWEST_BITS}"
    return None


def _left(scales: Sequence[tuple[int, int]]) -> int:
    return max(0, *(shift for _, shift in scales))


def _constants(node: Node, graph: Graph) -> tuple[KernelConstant, ...]:
    return (*_sums(node, graph), *gate_functions.constants())


def _sums(node: Node, graph: Graph) -> tuple[KernelConstant, ...]:
    """The weights, and what both sums start with."""
    names = lstm.names_of(node)
    p = lstm.parameters(node, graph)
    # The sums over the input and over the state have scales of their own, so their zero points
    # cannot be in one bias.
    return (
        KernelConstant("input_weight", "int32_t", names.weight, transform="pair_gates"),
        KernelConstant("recurrent_weight", "int32_t", names.recurrent, transform="pair_gates"),
        _start("bias", names.weight, p.input_zero_point, _left(p.weight), names.bias),
        _start("recurrent_bias", names.recurrent, p.state_zero_point, _left(p.recurrent)),
    )


def _start(name: str, weight: str, zero: int, left: int, bias: str = "") -> KernelConstant:
    return KernelConstant(
        name,
        "int32_t",
        weight,
        transform="start_gates",
        arguments=(("zero", zero), ("left", left)),
        more=((bias, "data"),) if bias else (),
    )


def _in_groups(array: Array) -> Array:
    """A gate's array [gates, cells, ...] as [sums, ...] in the order of the groups, with zeros for
    a last cell without another."""
    by_cell = array[list(_ORDER)].swapaxes(0, 1)
    flat = by_cell.reshape(-1, *array.shape[2:])
    padding = [(0, -len(flat) % _GROUP), *[(0, 0)] * (flat.ndim - 1)]
    return np.pad(flat, padding)


def _row(weight: Array) -> transforms.Arguments:
    return {"rows": 1, "run": weight.shape[-1], "group": _GROUP}


# pair_gates: a weight of int8 [4, cells, values]. int32 [groups, steps, 8]: see lstm_s8_paired.h.
def _pair_gates(sources: Sequence[Array], _arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    return transforms.apply("pair", (_in_groups(weight),), _row(weight))


# start_gates: a weight of int8 [4, cells, values], and its bias [4, cells] if there is one;
# ``zero``, and the largest shift to the left of a sum, ``left``. int32 [groups, 8]: 256 times what
# the kernel's sums start with.
def _start_gates(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    weight, *bias = (_in_groups(source) for source in sources)
    values = weight.astype(np.int64)
    start = (bias[0].astype(np.int64) if bias else 0) - int(arguments["zero"]) * values.sum(axis=1)
    row = _row(sources[0])
    raw = start + paired.missing(weight, row)
    limit = 2**31
    worst = int(paired.reached(_UNIT * raw, weight, row).max())
    if worst >= limit:
        raise ValueError(f"sums times 256 may reach {worst}, the accumulator holds {limit - 1}")
    # The kernel shifts sums once more to the left than their scale says.
    sums = int((np.abs(start) + 255 * np.abs(values).sum(axis=1)).max())
    if sums << int(arguments["left"]) + 1 >= limit:
        raise ValueError(f"sums may reach {sums}, which their shift to the left does not keep")
    return np.asarray((_UNIT * raw).reshape(-1, _GROUP).astype(np.int32))


TRANSFORMS: Mapping[str, transforms.Function] = {
    "pair_gates": _pair_gates,
    "start_gates": _start_gates,
}


def _steps(values: int) -> int:
    return -(-values // _STEP)


def _scratch(node: Node, graph: Graph) -> int:
    """The rows of the input and of the state, in bytes."""
    _, cells, features = lstm.types_of(node, graph).weight.shape
    return 2 * _STEP * (_steps(features) + _steps(cells))


def _work(node: Node, graph: Graph) -> Work:
    """Steps, blocks of cells, cells; groups of sums and their steps."""
    _, cells, features = lstm.types_of(node, graph).weight.shape
    steps = math.prod(graph.types[node.outputs[0]].shape) // cells
    groups = steps * -(-cells // 2)
    words = _steps(features) + _steps(cells)
    return {
        **common(node, graph),
        "row_word": steps * words,
        "cell_block": steps * -(-cells // _BLOCK),
        "cell": steps * cells,
        "group": groups,
        "group_step": groups * words,
    }


_KERNEL = lstm.of_rows(lstm.INTEGER, "mg_lstm_s8_paired", base.DSP, _refusal, _constants, _work)

IMPLEMENTATIONS = (dataclasses.replace(_KERNEL, scratch=_scratch),)
