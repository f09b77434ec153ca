"""Cases of functions of one value.

int8 and int16 cases have all values and random quantizations, float32 cases values of every
magnitude.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Quant
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    beyond,
    by_litert,
    by_reference,
    float_type,
)
from tests.support.tflite_builder import OperatorSpec, OptionValue, TensorSpec, build_model

EVERY = np.arange(-128, 128).astype(np.int8)
EVERY_INT16 = np.arange(-(2**15), 2**15).astype(np.int16)


@dataclass(frozen=True)
class Ranges:
    """The ranges of random quantizations: exponents of two, or values that the operator
    requires."""

    usual: tuple[float, float] = (-9, 2)
    extreme: tuple[float, float] = (-20, 12)
    zero_point: int | None = None
    output_scale: float | None = None


def unary_case(op: str, attrs: Attrs, code: str, data: ArrayType, output: ArrayType) -> Case:
    """A case of all int8 values."""
    assert output.quant is not None
    return Case(op, attrs, [data], [EVERY], output.quant, code, "")


def quantization(
    rng: np.random.Generator, ranges: Ranges, scale: float | None, zero_point: int | None
) -> ArrayType:
    """The type of an int8[256]. Its scale is sometimes extreme, its zero point often at an end."""
    low, high = ranges.extreme if rng.random() < 0.2 else ranges.usual
    if zero_point is None:
        zero_point = int(rng.choice([-128, 127, 0, int(rng.integers(-128, 128))]))
    return activation_type((256,), scale or 2.0 ** rng.uniform(low, high), zero_point)


def random_cases(case: Case, block: int, ranges: Ranges, count: int = 50) -> Iterator[Case]:
    """The case with other quantizations; those that the op refuses are left out."""
    rng = np.random.default_rng(block)
    op = registry()[case.op]
    for _ in range(count):
        data = quantization(rng, ranges, None, ranges.zero_point)
        output = quantization(rng, ranges, ranges.output_scale, None)
        if rng.random() < 0.1 and ranges.output_scale is None:
            output = data
        assert output.quant is not None
        if op.check(case.attrs, [data], [output]) is None:
            yield replace(case, types=[data], output_quant=output.quant)


def check_random(
    op: str, attrs: Attrs, code: str, block: int, ranges: Ranges | None = None
) -> None:
    """Compares fifty quantizations with LiteRT's reference kernel. The op must take most."""
    some = activation_type((256,), 1, 0)
    case = unary_case(op, attrs, code, some, some)
    cases = list(random_cases(case, block, ranges or Ranges()))
    assert len(cases) > 25
    for found in cases:
        assert_equal(found)


def types(scale_in: float, scale_out: float, zero_point: int = 0) -> tuple[ArrayType, ArrayType]:
    """The types of input and output with these scales, and with the output's zero point."""
    return activation_type((256,), scale_in, 0), activation_type((256,), scale_out, zero_point)


def results(op: str, attrs: Attrs, data: ArrayType, output: ArrayType) -> list[int]:
    """The reference's result for each value from -128 on."""
    (found,) = registry()[op].reference(attrs, Operands((EVERY,), (data,), (output,)))
    return [int(value) for value in found]


def int16_type(scale: float, size: int = EVERY_INT16.size) -> ArrayType:
    """An int16 tensor's type. The scale is rounded to float32, because a file's is."""
    return ArrayType((size,), DType.INT16, Quant((float(np.float32(scale)),), (0,)))


@dataclass(frozen=True)
class Operator:
    """A TFLite operator: its code, its version for int16, and its options."""

    code: str
    version: int = 1
    options_type: str = ""
    options: Mapping[str, OptionValue] | None = None


def int16_case(
    op: str, attrs: Attrs, operator: Operator, data: ArrayType, output: ArrayType, values: Array
) -> Case:
    """A case of these values for the operator."""
    assert output.quant is not None
    return Case(
        op,
        attrs,
        [replace(data, shape=values.shape)],
        [values],
        output.quant,
        operator.code,
        operator.options_type,
        operator.options or {},
        version=operator.version,
        output_dtype=DType.INT16,
    )


def check_int16(
    op: str,
    attrs: Attrs,
    operator: Operator,
    scales: Callable[[np.random.Generator], tuple[float, float]],
    values: Array = EVERY_INT16,
    count: int = 30,
) -> None:
    """Compares random scales of input and output with LiteRT's kernel. The op must take most."""
    rng = np.random.default_rng(0)
    taken = 0
    for _ in range(count):
        data, output = map(int16_type, scales(rng))
        if registry()[op].check(attrs, [data], [output]) is None:
            taken += 1
            assert_equal(int16_case(op, attrs, operator, data, output, values))
    assert taken > count // 2


def powers(
    low: float, high: float, output: tuple[float, float] | float
) -> Callable[[np.random.Generator], tuple[float, float]]:
    """A function that draws scales 2**x with x between ``low`` and ``high``, and the output's
    likewise or as given."""

    def scales(rng: np.random.Generator) -> tuple[float, float]:
        made = output if isinstance(output, float) else 2.0 ** rng.uniform(*output)
        return 2.0 ** rng.uniform(low, high), made

    return scales


def float_arrays(least: float = -np.inf) -> list[Array]:
    """Arrays of values of about one magnitude, and of all. No value is below ``least``."""
    rng = np.random.default_rng(0)
    arrays = [rng.normal(0, 2.0**power, 200) for power in range(-20, 8)]
    arrays.append(rng.choice([-1, 1], 500) * 10.0 ** rng.uniform(-38, 38, 500))
    arrays.append(rng.normal(0, 3, (2, 3, 4, 5)))
    return [np.where(a < least, np.abs(a), a).astype(np.float32) for a in arrays]


def check_floats(
    op: str,
    attrs: Attrs,
    operator: Operator,
    least: float = -np.inf,
    litert: Callable[[Case], Array] = by_litert,
) -> None:
    """Checks that LiteRT's results are within the op's bound, with infinities and NaN in place."""
    for array in float_arrays(least):
        case = Case(
            op,
            attrs,
            [float_type(array.shape)],
            [array],
            None,
            operator.code,
            operator.options_type,
            operator.options or {},
            output_dtype=DType.FLOAT32,
        )
        ours, theirs = by_reference(case), litert(case)
        wrong = np.argwhere(beyond(case, theirs))
        assert not len(wrong), f"{case!r}: {array[tuple(wrong[0])]} gives {ours} {theirs}"


def by_default_litert(case: Case) -> Array:
    """The results of LiteRT's default kernels, for operators that its reference kernels lack."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    specs = [TensorSpec(name, case.types[0].shape, "float32") for name in ("x", "y")]
    interpreter = Interpreter(
        model_content=build_model(specs, [OperatorSpec(case.code, ["x"], ["y"])], ["x"], ["y"]),
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    )
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], case.arrays[0])
    interpreter.invoke()
    result: Array = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return result


def check_int16_is_refused(op: str, attrs: Attrs) -> None:
    """The sentence must say which dtypes are taken."""
    found = registry()[op].check(attrs, [int16_type(0.5)], [int16_type(0.5)])
    assert found == "the input is int16[65536]; it must be int8 or float32"
