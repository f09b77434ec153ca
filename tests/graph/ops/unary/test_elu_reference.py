from __future__ import annotations

import pytest

from microgen.graph.ir.graph import Array, Quant, TensorType
from microgen.graph.ops.unary.activations import EluAttrs
from tests.kernels.conformance.litert_oracle import Case, by_reference, needs_litert
from tests.kernels.unary.unary_cases import (
    Operator,
    Ranges,
    check_floats,
    check_int16_is_refused,
    random_cases,
    results,
    types,
    unary_case,
)
from tests.support.arrays import assert_same
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model


def by_optimized_litert(case: Case) -> Array:
    """The results of LiteRT's default kernels, because its reference kernels lack ELU."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    tensors = [
        _spec("input", case.types[0], case.types[0].quant),
        _spec("output", case.types[0], case.output_quant),
    ]
    model = build_model(tensors, [OperatorSpec("ELU", [0], [1])], [0], [1])
    resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], case.arrays[0])
    interpreter.invoke()
    result: Array = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return result


def _spec(name: str, kind: TensorType, quant: Quant | None) -> TensorSpec:
    scale, zero_point = (quant.scale, quant.zero_point) if quant else ((), ())
    return TensorSpec(name, kind.shape, kind.dtype.value, None, scale, zero_point)


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_equals_litert(block: int) -> None:
    case = unary_case("nn.elu", EluAttrs(), "ELU", *types(1, 1))
    for found in random_cases(case, block, Ranges()):
        expected = by_optimized_litert(found)
        assert_same(by_reference(found), expected, found)


def test_negative_values_approach_minus_one() -> None:
    values = results("nn.elu", EluAttrs(), *types(1, 1 / 32))
    assert (values[0], values[127], values[128], values[129]) == (-32, -20, 0, 32)


@needs_litert
def test_floats_equal_litert() -> None:
    check_floats("nn.elu", EluAttrs(), Operator("ELU"), litert=by_optimized_litert)


def test_int16_is_refused() -> None:
    check_int16_is_refused("nn.elu", EluAttrs())
