"""Program structure: names, storage ids, shared functions, outputs in the caller's buffers."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import UnsupportedError
from microgen.base.names import cnames
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Graph, Node, Origin
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.moves.layouts import TransposeAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.options import Options
from microgen.planner.program.types import Role, Storage
from tests.support.compiling import program_of
from tests.support.graphs import Builder


def test_functions_are_named_as_tvm_names_them() -> None:
    b = Builder()
    conv = b.conv(b.input(1, 4, 4, 2), 2, activation=Activation.RELU)
    program = program_of(b.graph(b.softmax(b.dense(b.reshape(conv, 1, 32), 3))))
    assert [f.name for f in program.functions] == [
        "tvmgen_default_fused_nn_conv2d_nn_bias_add_clip",
        "tvmgen_default_fused_nn_dense_nn_bias_add",
        "tvmgen_default_fused_nn_softmax",
    ]


def test_equal_functions_are_one_called_with_other_weights() -> None:
    b = Builder()
    first = b.conv(b.input(1, 4, 4, 2), 2)
    program = program_of(b.graph(b.conv(first, 2)))
    assert len(program.functions) == 1
    weights = [call.args[1].name for call in program.calls]
    assert len(set(weights)) == 2


def test_functions_that_differ_in_a_parameter_get_a_number() -> None:
    b = Builder()
    first = b.conv(b.input(1, 4, 4, 2), 2)
    program = program_of(b.graph(b.conv(first, 2, stride=2)))
    names = [f.name for f in program.functions]
    assert names[1] == f"{names[0]}_1"


def test_a_name_over_80_characters_is_cut_and_hashed() -> None:
    b = Builder()
    graph = b.graph(b.conv(b.input(1, 4, 4, 2), 2))
    (function,) = program_of(graph, Options(name="m" * 64)).functions
    assert function.name.startswith(f"tvmgen_{'m' * 64}_fused_")
    assert len(function.name) == 80 + 18
    assert function.name.endswith("_")


def test_inputs_constants_and_outputs_take_storage_ids_too() -> None:
    """TVM's on-demand allocator numbers them in A-normal form: the input gets 0.

    Then each call's constants (weight, bias, two tables) and its result follow.
    """
    b = Builder()
    first = b.conv(b.input(1, 4, 4, 2), 2)
    second = b.conv(first, 3)
    program = program_of(b.graph(b.conv(second, 2)))
    assert [buffer.name for buffer in program.buffers] == ["sid_5", "sid_10"]
    assert program.calls[-1].args[-1].storage is Storage.OUTPUT


def test_a_returned_result_goes_straight_to_the_callers_buffer_through_views() -> None:
    b = Builder()
    conv = b.conv(b.input(1, 4, 4, 2), 2)
    program = program_of(b.graph(b.reshape(conv, 32)))
    assert not program.buffers
    assert program.calls[0].args[-1].storage is Storage.OUTPUT


def test_an_output_that_is_read_inside_is_read_from_the_callers_buffer() -> None:
    b = Builder()
    conv = b.conv(b.input(1, 4, 4, 2), 2)
    program = program_of(b.graph(conv, b.conv(conv, 3)))
    assert program.calls[1].args[0] == program.calls[0].args[-1]
    assert [port.name for port in program.outputs] == ["output0", "output1"]


def test_a_constant_operand_is_a_constant_argument() -> None:
    b = Builder()
    program = program_of(b.graph(b.add(b.input(1, 2, 2, 3), b.int8(3))))
    (function,) = program.functions
    roles = [p.role for p in function.parameters]
    assert roles[:2] == [Role.INPUT, Role.CONSTANT]
    assert roles[-1] is Role.OUTPUT


def test_ports_whose_names_sanitise_equally_stay_apart() -> None:
    taken: set[str] = set()
    for name in ("a/b", "a.b", "a_b", "3d", "int", "", "_x", "été"):
        plain = cnames.unique(cnames.identifier(name), taken)
        assert plain.isidentifier()
        assert plain.isascii()
        assert plain not in taken
        taken.add(plain)


def test_a_bias_that_could_overflow_the_accumulator_is_refused() -> None:
    b = Builder()
    data = b.input(1, 2, 2, 1)
    weight = b.weight((1, 1, 1, 1), 0)
    bias = b.constant(np.array([2**31 - 1], np.int32), None)
    attrs = Conv2DAttrs((1, 1), (1, 1), "VALID", Activation.NONE, Rounding.DOUBLE)
    graph = b.graph(b.node("nn.conv2d", attrs, data, weight, bias))
    with pytest.raises(UnsupportedError, match=r'layer "layer0".*bias may reach 21474\d+'):
        program_of(graph)


def test_equal_slices_of_tensors_of_different_sizes_are_two_functions() -> None:
    """Packed functions check the sizes of their tensors, which a kernel of slices does not know."""
    b = Builder()
    half = StridedSliceAttrs((0, 0), (1, 1), (2, 4))
    first = b.node("strided_slice", half, b.input(3, 4))
    program = program_of(b.graph(b.node("strided_slice", half, b.clip(first, Activation.RELU))))
    slices = [call.function for call in program.calls if call.steps[0].op == "strided_slice"]
    assert len(set(slices)) == 2


def test_equal_transposes_of_bool_and_uint8_are_two_functions() -> None:
    """Packed functions check the dtypes of their tensors, which a kernel of moves does not know."""
    kinds = {"a": DType.BOOL, "b": DType.UINT8}
    types = {name: ArrayType((2, 3), kind) for name, kind in kinds.items()}
    types |= {f"{name}_t": ArrayType((3, 2), kind) for name, kind in kinds.items()}
    turn = TransposeAttrs((1, 0))
    nodes = tuple(
        Node("transpose", (name,), (f"{name}_t",), turn, Origin("m", name)) for name in kinds
    )
    graph = Graph("g", ("a", "b"), ("a_t", "b_t"), nodes, types, {})
    assert len({call.function for call in program_of(graph).calls}) == 2
