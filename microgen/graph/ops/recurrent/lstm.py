"""nn.lstm: a sequence through a long short-term memory, which keeps its state between runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Quant, Types
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.balls import Ball
from microgen.graph.ops.base import Inexact, OpDefinition, Operands, Shape, Shapes, writing
from microgen.graph.ops.constraints import activations_constraint, first_of, weight_constraint
from microgen.graph.ops.cost import by_rows
from microgen.graph.ops.recurrent import lstm_integer, lstm_sequence, lstm_tables
from microgen.graph.ops.recurrent.lstm_sequence import Inputs

OUTPUT_STATE, CELL_STATE = 4, 5  # positions of the variables


@dataclass(frozen=True, slots=True)
class LstmAttrs(Attrs):
    """Inputs: data [batch, steps, features], or [steps, batch, features] if ``time_major``; weights
    of the input [gates, cells, features] and of the output state [gates, cells, outputs]; bias
    [gates, cells]; the output state, batch * outputs values, and the cell state, batch * cells
    values, both variables. With ``has_peephole`` there are also weights of the cell state
    [gates - 1, cells]; with ``has_projection``, weights [outputs, cells] and an optional bias
    [outputs].

    Gates are input, forget, cell and output, in that order. If there are only three, the input gate
    is one minus the forget gate. The cell gate has no peephole. Without projection, there are as
    many outputs as cells. The output has data's shape with ``outputs`` as its last dimension.

    Either everything is float32; or data, weights, output and its state are int8, weights have one
    scale per gate, cell state and peephole are int16, and biases int32. Then ``hidden`` is the
    quantization of the cells' outputs, and the scale of the cell state is a power of two.

    With ``by_tables`` the integers are computed as in TensorFlow Lite Micro: four gates, whose
    functions are interpolated, without peepholes and projection, and without ``hidden``. Then data,
    output and its state may also be int16, with int64 biases.

    ``cell_clip`` and ``projection_clip`` limit magnitudes; 0 means no limit.
    """

    time_major: bool
    cell_clip: float
    projection_clip: float
    has_peephole: bool = False
    has_projection: bool = False
    hidden: Quant | None = None
    by_tables: bool = False


def infer(attrs: LstmAttrs, inputs: Types) -> Shapes:
    """The shape of data, with the number of outputs as its last dimension."""
    by_role = Inputs.of(inputs, attrs.has_peephole, attrs.has_projection)
    three_dimensional = (by_role.data, by_role.weight, by_role.recurrent)
    if any(len(t.shape) != 3 for t in three_dimensional):
        raise ValueError(f"{', '.join(map(str, three_dimensional))} must have 3 dimensions each")
    gates, cells, _ = by_role.weight.shape
    outputs = by_role.recurrent.shape[2]
    if gates not in (3, 4):
        raise ValueError(f"the weights {by_role.weight} are of {gates} gates; 3 or 4 are expected")
    if not attrs.has_projection and outputs != cells:
        raise ValueError(f"{cells} cells without projection cannot have {outputs} outputs")
    for role, tensor, shape in _expected(by_role):
        if tensor is not None and tensor.shape != shape:
            raise ValueError(f"the {role} is {tensor}; {list(shape)} is expected")
    batch = by_role.data.shape[1 if attrs.time_major else 0]
    _check_states(by_role, batch * outputs, batch * cells)
    return ((*by_role.data.shape[:2], outputs),)


def _expected(by_role: Inputs[ArrayType]) -> tuple[tuple[str, ArrayType | None, Shape], ...]:
    """The name, the type and the required shape of each input."""
    gates, cells, features = by_role.weight.shape
    outputs = by_role.recurrent.shape[2]
    return (
        ("input", by_role.data, (*by_role.data.shape[:2], features)),
        ("recurrent weights", by_role.recurrent, (gates, cells, outputs)),
        ("bias", by_role.bias, (gates, cells)),
        # All gates but the cell gate have a peephole.
        ("peephole", by_role.peephole, (gates - 1, cells)),
        ("projection", by_role.projection, (outputs, cells)),
        ("projection bias", by_role.projection_bias, (outputs,)),
    )


def _check_states(by_role: Inputs[ArrayType], outputs: int, cells: int) -> None:
    states = (("output", by_role.output_state, outputs), ("cell", by_role.cell_state, cells))
    for role, tensor, size in states:
        if tensor.size != size:
            raise ValueError(f"the {role} state is {tensor}; {size} values are expected")


def check(attrs: LstmAttrs, inputs: Types, outputs: Types) -> str | None:
    """All float32, or integers as ``LstmAttrs`` says, with scales that the fixed point holds."""
    by_role = Inputs.of(inputs, attrs.has_peephole, attrs.has_projection)
    # This form refuses NaN, too.
    if not attrs.cell_clip >= 0 or not attrs.projection_clip >= 0:
        return f"a limit is {min(attrs.cell_clip, attrs.projection_clip)}; 0 or more is expected"
    accepted = lstm_tables.DTYPES if attrs.by_tables else (DType.INT8, DType.FLOAT32)
    if sentence := activations_constraint(by_role.data, outputs[0], accepted):
        return sentence
    if floats.is_float(outputs[0]):
        return _all_float(inputs)
    if sentence := _integer_types(attrs, by_role):
        return sentence
    if attrs.by_tables:
        return _only_gates(attrs, by_role) or lstm_tables.constraint(by_role)
    return lstm_integer.constraint(by_role, attrs.hidden, outputs[0])


def _all_float(inputs: Types) -> str | None:
    for tensor in inputs:
        if not floats.is_float(tensor):
            return (
                f"an operand is {tensor} with float32 data, which quantizes while it runs "
                "(hybrid); all must be float32, or all integers"
            )
    return None


def _integer_types(attrs: LstmAttrs, by_role: Inputs[ArrayType]) -> str | None:
    if attrs.hidden is None and not attrs.by_tables:
        return "the quantization of the hidden state is missing"
    data = by_role.data.dtype
    expected = (
        ("bias", by_role.bias, DType.INT32 if data is DType.INT8 else DType.INT64),
        ("output state", by_role.output_state, data),
        ("cell state", by_role.cell_state, DType.INT16),
        ("peephole", by_role.peephole, DType.INT16),
        ("projection", by_role.projection, DType.INT8),
        ("projection bias", by_role.projection_bias, DType.INT32),
    )
    for role, tensor, dtype in expected:
        if tensor is not None and tensor.dtype is not dtype:
            return f"the {role} is {tensor}; with {data.value} data it must be {dtype.value}"
    weights = filter(None, (by_role.weight, by_role.recurrent, by_role.projection))
    return first_of(weight_constraint(weight, axis=0) for weight in weights)


def _only_gates(attrs: LstmAttrs, by_role: Inputs[ArrayType]) -> str | None:
    gates = by_role.weight.shape[0]
    if gates == 4 and not attrs.has_peephole and not attrs.has_projection:
        return None
    return "with tables, four gates without peepholes and projection are expected"


def reference(attrs: LstmAttrs, operands: Operands) -> Arrays:
    """The output, then the new output state and cell state."""
    arrays = Inputs.of(operands.inputs, attrs.has_peephole, attrs.has_projection)
    output = operands.output_types[0]
    if floats.is_float(output):
        balls = _floats(attrs, tuple(map(Ball.of, operands.inputs)))
        return tuple(floats.rounded(ball.value) for ball in balls)
    types = Inputs.of(operands.input_types, attrs.has_peephole, attrs.has_projection)
    if attrs.by_tables:
        scaling = lstm_tables.parameters(types, attrs.cell_clip)
        return lstm_tables.run(arrays, scaling, time_major=attrs.time_major)
    assert attrs.hidden is not None, "checked"
    p = lstm_integer.parameters(
        types, attrs.hidden, output, (attrs.cell_clip, attrs.projection_clip)
    )
    return lstm_integer.run(arrays, p, time_major=attrs.time_major)


def _floats(
    attrs: LstmAttrs, inputs: Sequence[Ball], actual: Array | None = None
) -> tuple[Ball, ...]:
    own = Inputs.of(inputs, attrs.has_peephole, attrs.has_projection)
    clips = (attrs.cell_clip, attrs.projection_clip)
    return lstm_sequence.run_float(own, clips, time_major=attrs.time_major, actual=actual)


def _balls(attrs: LstmAttrs, inexact: Inexact) -> tuple[Ball, ...]:
    return _floats(attrs, bounds.inputs(inexact), inexact.found[0])


OP = OpDefinition(
    "nn.lstm",
    LstmAttrs,
    infer,
    check,
    reference,
    writes=writing(OUTPUT_STATE, CELL_STATE),
    cost=by_rows,
    bound=bounds.balls(_balls),
)
