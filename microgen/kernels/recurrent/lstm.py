"""Kernels for nn.lstm."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from microgen.graph.arithmetic.int8 import float_range
from microgen.graph.arithmetic.int16 import SUM_LIMIT
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, DType, Graph, Node
from microgen.graph.ops.recurrent import lstm, lstm_integer, lstm_tables
from microgen.graph.ops.recurrent.lstm import LstmAttrs
from microgen.graph.ops.recurrent.lstm_sequence import Inputs
from microgen.kernels import base
from microgen.kernels.recurrent import recurrent
from microgen.kernels.work import Work
from microgen.target.cpu import Feature

OP_NAME = "nn.lstm"
_GATES = 4
_LIMITS = {DType.INT8: 2**31 - 1, DType.INT16: SUM_LIMIT}  # of accumulators


def types_of(node: Node, graph: Graph) -> Inputs[ArrayType]:
    """The types of the node's inputs."""
    return names_of(node).each(lambda name: graph.types[name])


def names_of(node: Node) -> Inputs[str]:
    """The names of the node's inputs."""
    attrs = base.attrs_of(node, LstmAttrs)
    return Inputs.of(node.inputs, attrs.has_peephole, attrs.has_projection)


def _shape(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, LstmAttrs)
    types = types_of(node, graph)
    gates, cells, features = types.weight.shape
    leading = types.data.shape[:2]
    batches, steps = reversed(leading) if node.attrs.time_major else leading
    return (
        ("batches", batches),
        ("steps", steps),
        ("features", features),
        ("cells", cells),
        ("outputs", types.recurrent.shape[2]),
        ("time_major", int(node.attrs.time_major)),
        ("gates", gates),
    )


def float_params(node: Node, graph: Graph) -> base.Fields:
    """The fields of the parameters of a float32 layer."""
    assert isinstance(node.attrs, LstmAttrs)
    _, no_limit = float_range(Activation.NONE)
    # A clip of 0 means that there is no limit, but a kernel always clamps.
    clips = (node.attrs.cell_clip or no_limit, node.attrs.projection_clip or no_limit)
    return (*_shape(node, graph), ("cell_clip", clips[0]), ("projection_clip", clips[1]))


def parameters(node: Node, graph: Graph) -> lstm_integer.LstmParameters:
    """The parameters of a layer whose gates' functions are gemmlowp's."""
    attrs = base.attrs_of(node, LstmAttrs)
    assert attrs.hidden is not None
    output = graph.types[node.outputs[0]]
    clips = (attrs.cell_clip, attrs.projection_clip)
    return lstm_integer.parameters(types_of(node, graph), attrs.hidden, output, clips)


def _integer_params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, LstmAttrs)
    p = parameters(node, graph)
    # With a projection, TFLite subtracts the zero point; see lstm_integer.
    sign = -1 if attrs.has_projection else 1
    return (
        *_shape(node, graph),
        ("input_offset", -p.input_zero_point),
        ("state_offset", -p.state_zero_point),
        *_tables("input", p.weight),
        *_tables("recurrent", p.recurrent),
        *_tables("peephole", _with_none_for_the_cell_gate(p.peephole)),
        ("cell_bits", p.cell_bits),
        ("cell_clip", p.cell_clip),
        *base.scale_fields(p.hidden, "hidden"),
        ("hidden_offset", sign * p.hidden_zero_point),
        ("projection_offset", p.hidden_zero_point),
        *base.scale_fields(p.projection or (0, 0), "projection"),
        ("output_offset", p.state_zero_point),
        ("projection_clip", p.projection_clip),
    )


def _with_none_for_the_cell_gate(
    scales: Sequence[lstm_integer.Scale],
) -> Sequence[lstm_integer.Scale]:
    # Gates are input, forget, cell and output, and the kernel has a scale for each.
    return (*scales[:-1], (0, 0), *scales[-1:])


def _table_params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, LstmAttrs)
    p = lstm_tables.parameters(types_of(node, graph), attrs.cell_clip)
    return (
        *(field for field in _shape(node, graph) if field[0] not in ("outputs", "gates")),
        ("input_offset", -p.input_zero_point),
        ("state_offset", -p.state_zero_point),
        *_tables("input", p.weight),
        *_tables("recurrent", p.recurrent),
        *base.scale_fields(p.take, "take"),
        ("tanh_multiplier", p.tanh.multiplier),
        ("tanh_shift", p.tanh.shift),
        ("cell_clip", p.cell_clip),
        *base.scale_fields(p.hidden, "hidden"),
    )


def _tables(name: str, scales: Sequence[lstm_integer.Scale]) -> base.Fields:
    """Multipliers and shifts of four gates. The first ones are 0 if there are only three gates."""
    padded = [*[(0, 0)] * (_GATES - len(scales)), *scales]
    return (
        (f"{name}_multiplier", tuple(multiplier for multiplier, _ in padded)),
        (f"{name}_shift", tuple(shift for _, shift in padded)),
    )


def _constants(*ctypes: str) -> Callable[[Node, Graph], tuple[base.KernelConstant, ...]]:
    """The weights and biases in the order of the kernels, with these C types. A kernel with fewer
    types has only the first constants.
    """

    def constants(node: Node, _graph: Graph) -> tuple[base.KernelConstant, ...]:
        names = names_of(node)
        found = {
            "input_weight": names.weight,
            "recurrent_weight": names.recurrent,
            "bias": names.bias,
            "peephole": names.peephole or "",
            "projection": names.projection or "",
            "projection_bias": names.projection_bias or "",
        }
        return tuple(map(base.KernelConstant, found, ctypes, found.values()))

    return constants


def _refuses(dtype: DType, *, by_tables: bool = False) -> base.Refuse:
    """Refusal unless the layer has integers of that dtype, uses tables exactly if the kernel does,
    and has sums that fit the kernel's accumulator.
    """
    constants = recurrent.constants_but_variables(dtype)

    def refusal(node: Node, graph: Graph) -> str | None:
        refused = constants(node, graph)
        if refused is None and base.attrs_of(node, LstmAttrs).by_tables is not by_tables:
            refused = base.Mismatch(
                base.Trait.ARITHMETIC, "the functions of its gates are computed otherwise"
            )
        return refused or _overflow(node, graph)

    return refusal


_integer_refusal = _refuses(DType.INT8)


def without_input_gate(node: Node, graph: Graph) -> str | None:
    """Refusal of layers without four gates."""
    if types_of(node, graph).weight.shape[0] != _GATES:
        return "there is no input gate, the kernel computes four gates at once"
    return None


def with_extras(node: Node, _graph: Graph) -> str | None:
    """Refusal of layers with peepholes or a projection."""
    attrs = base.attrs_of(node, LstmAttrs)
    if attrs.has_peephole or attrs.has_projection:
        return "it has peepholes or a projection, the kernel computes none"
    return None


def dsp_refusal(node: Node, graph: Graph) -> str | None:
    """Refusal of layers without four gates, and of those that the reference kernel refuses."""
    return without_input_gate(node, graph) or _integer_refusal(node, graph)


def _overflow(node: Node, graph: Graph) -> str | None:
    """Refusal if a sum over the input or the hidden state may exceed the accumulator."""
    types, names = types_of(node, graph), names_of(node)
    zero_point, limits = types.data.zero_point, np.iinfo(types.data.dtype.numpy)
    farthest = max(int(limits.max) - zero_point, zero_point - int(limits.min))
    worst = _largest_sum(graph, names.weight, names.bias, farthest)
    if names.projection:
        # An int8 hidden state less its zero point is at most 255 in magnitude.
        largest = _largest_sum(graph, names.projection, names.projection_bias, 255)
        worst = max(worst, largest)
    limit = _LIMITS[types.data.dtype]
    if worst <= limit:
        return None
    return f"sums with its weights and bias may reach {worst}, the kernel's accumulator {limit}"


def _largest_sum(graph: Graph, weight: str, bias: str | None, farthest: int) -> int:
    values = np.abs(graph.constants[weight].astype(np.int64)).sum(axis=-1) * farthest
    if bias:
        # -2**63 has no magnitude in int64.
        values = values + np.abs(np.clip(graph.constants[bias].astype(np.int64), -(2**62), 2**62))
    return int(values.max())


def _scratch(element_bytes: int) -> Callable[[Node, Graph], int]:
    """The scratch for the hidden state of one step of one sequence, in bytes."""
    return lambda node, graph: types_of(node, graph).weight.shape[1] * element_bytes


_INPUTS = (0, lstm.OUTPUT_STATE, lstm.CELL_STATE)
_STATES = (lstm.OUTPUT_STATE, lstm.CELL_STATE)

INTEGER = base.Implementation(
    symbol="mg_lstm_s8",
    refusal=_integer_refusal,
    params=_integer_params,
    inputs=_INPUTS,
    constants=_constants("int8_t", "int8_t", "int32_t", "int16_t", "int8_t", "int32_t"),
    scratch=_scratch(1),
    writes=_STATES,
)

_TABLES = base.Implementation(
    symbol="mg_lstm_s8_table",
    refusal=_refuses(DType.INT8, by_tables=True),
    params=_table_params,
    inputs=_INPUTS,
    constants=_constants("int8_t", "int8_t", "int32_t"),
    writes=_STATES,
)

FLOAT = base.Implementation(
    symbol="mg_lstm_f32",
    refusal=recurrent.constants_but_variables(DType.FLOAT32),
    params=float_params,
    inputs=_INPUTS,
    constants=_constants(*["float"] * 6),
    scratch=_scratch(4),
    writes=_STATES,
    ulps=64,  # units of 1: sums of magnitude 16 are off by 16 of them, and steps pass errors on
)


def of_rows(
    kernel: base.Implementation,
    symbol: str,
    needs: frozenset[Feature],
    refusal: base.Refuse,
    constants: Callable[[Node, Graph], tuple[base.KernelConstant, ...]],
    work: Callable[[Node, Graph], Work],
) -> base.Implementation:
    """A kernel beside ``kernel`` with constants of its own, and without scratch memory."""
    own = dataclasses.replace(kernel, symbol=symbol, needs=needs, refusal=refusal, work=work)
    return dataclasses.replace(own, constants=constants, scratch=base.no_scratch)


IMPLEMENTATIONS = (
    dataclasses.replace(INTEGER, symbol="mg_lstm_s8_dsp", needs=base.DSP, refusal=dsp_refusal),
    INTEGER,
    dataclasses.replace(_TABLES, symbol="mg_lstm_s8_table_dsp", needs=base.DSP),
    _TABLES,
    dataclasses.replace(
        _TABLES,
        symbol="mg_lstm_s16",
        refusal=_refuses(DType.INT16, by_tables=True),
        constants=_constants("int8_t", "int8_t", "int64_t"),
    ),
    FLOAT,
)
