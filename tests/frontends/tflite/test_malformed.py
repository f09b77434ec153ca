"""The TFLite frontend: files that contradict themselves, and the words for it."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import ModelError
from microgen.frontends.tflite import reader
from tests.frontends.tweaked import (
    Network,
    Repeat,
    activation,
    conv2d,
    dense,
    depthwise,
    int8_constant,
    integers,
    refusal,
    simple,
)
from tests.support.tflite_builder import OperatorSpec

RELU = simple("RELU", (1, 4), (1, 4))
CONV = 'm.tflite: layer "y" (CONV_2D): '
ORDER = "operators must be in the order in which they run, without cycles"


def chain(*operators: tuple[str, str]) -> Network:
    """RELUs between equal tensors a, b, c, ...; the input is a, the output c."""
    tensors = tuple(activation(name, 4) for name in "abcd")
    relus = tuple(OperatorSpec("RELU", (i,), (o,)) for i, o in operators)
    return Network(tensors, relus, ("a",), ("c",))


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (
            chain(("a", "b"), ("c", "c")),
            f'tensor "c" is read by RELU before anything makes it; {ORDER}',
        ),
        (
            chain(("d", "c"), ("c", "d")),
            f'tensor "d" is read by RELU before anything makes it; {ORDER}',
        ),
        (
            chain(("a", "c"), ("a", "c")),
            f'tensor "c" is an output of RELU, but it already exists; {ORDER}',
        ),
        (
            chain(("a", "a")),
            f'tensor "a" is an output of RELU, but it already exists; {ORDER}',
        ),
        (
            chain(("a", "b")),
            f'tensor "c" is an output, but nothing makes it; {ORDER}',
        ),
        (
            chain(("a", "c")).replace(inputs=("a", "a")),
            f'tensor "a" is an input of the graph, but listed twice; {ORDER}',
        ),
        (
            conv2d().replace(inputs=("x", "w")),
            f'tensor "w" is an input of the graph, but a constant; {ORDER}',
        ),
        (
            conv2d().with_tensor("y", data=b"\0" * 12),
            f'tensor "y" is an output of CONV_2D, but a constant; {ORDER}',
        ),
        (
            chain(("a", "c")).replace(inputs=()),
            "has no inputs; give a model with both",
        ),
        (
            chain(("a", "c")).replace(outputs=()),
            "has no outputs; give a model with both",
        ),
        (chain(), "has no operators; give a model with both"),
        (
            chain(("a", "c")).replace(inputs=(7,)),
            "the graph has tensor 7 among its inputs, but there are 4; get the model file again",
        ),
        (
            chain(("a", "c")).replace(outputs=(-1,)),
            "the graph has tensor -1 among its outputs, but there are 4; get the model file again",
        ),
        (
            conv2d().with_operator(inputs=("x", -2)),
            "operator 0 (CONV_2D) has tensor -2 among its inputs, but there are 4; "
            "get the model file again",
        ),
        (
            conv2d().with_operator(outputs=()),
            "operator 0 (CONV_2D) has no output",
        ),
    ],
)
def test_an_impossible_graph(network: Network, said: str) -> None:
    assert refusal(network, ModelError) == f"m.tflite: {said}"


NORMAL = (
    "a positive, finite, normal float32 is expected; convert the model with samples on which this "
    "layer's outputs differ"
)


@pytest.mark.parametrize(
    ("network", "said"),
    [
        *(
            (
                conv2d().with_tensor("x", scale=(scale,)),
                f'scale 0 of tensor "x" is {text}; {NORMAL}',
            )
            for scale, text in (
                (float("nan"), "nan"),
                (float("inf"), "inf"),
                (-0.5, "-0.5"),
            )
        ),
        (
            conv2d().with_tensor("x", zero_point=(128,)),
            'zero point 0 of tensor "x" is 128; -128 to 127 is expected for int8',
        ),
        (
            conv2d().with_tensor("b", scale=(0.25,), zero_point=(1,)),
            'zero point 0 of tensor "b" is 1; 0 is expected for int32',
        ),
        (
            conv2d().with_tensor("w", scale=(1.0, 1.0), zero_point=(0, 0)),
            'tensor "w" has 2 scales; 1, or 3 for axis 0, are expected',
        ),
        (
            conv2d().with_tensor("w", zero_point=(0, 0)),
            'tensor "w" has 3 scales but 2 zero points',
        ),
        (
            conv2d().with_tensor("w", axis=4),
            'tensor "w" is quantized along axis 4, but has 4 axes',
        ),
        (
            conv2d().with_tensor("w", data=b"\0" * 53),
            'the buffer of tensor "w" has 53 bytes; 54 are expected for int8[3,3,3,2]',
        ),
        (
            conv2d().with_tensor("x", shape=(2**31 - 1, 2**31 - 1, 4, 2)),
            'tensor "x" of shape [2147483647, 2147483647, 4, 2] has 36893488113059364872 bytes; '
            "at most 2147483647 are accepted",
        ),
        (
            conv2d().with_tensor("x", shape_signature=(-1, 4)),
            'tensor "x" has the shape [1, 4, 4, 2], but the shape signature [-1, 4]',
        ),
        (conv2d(strideH=0), "has StrideH 0; at least 1 is expected"),
        (conv2d(strideW=-3), "has StrideW -3; at least 1 is expected"),
        (
            conv2d(dilationHFactor=715_827_883),
            "strides (1, 1) and dilation (715827883, 1) must be at most 32767, the limit of "
            "TFLite's kernels",
        ),
        (conv2d(dilationWFactor=0), "has DilationWFactor 0; at least 1 is expected"),
        (conv2d(padding=9), "has the padding number 9; SAME (0) or VALID (1) is expected"),
        (conv2d().with_operator(options_type=""), "has no Conv2DOptions"),
        (
            conv2d().with_operator(options_type="ReshapeOptions", options={}),
            "has options of type 17; 1 is expected",
        ),
        (
            conv2d().with_operator(inputs=("x",)),
            "has 1 inputs and 1 outputs; 2 or 3 and 1 are expected",
        ),
        (conv2d().with_operator(inputs=("x", -1, "b")), "lacks its input 1"),
        (
            conv2d().with_tensor("w", shape=(3, 9, 2)),
            'has "w" of shape [3, 9, 2]; 4 dimensions are expected',
        ),
        (
            conv2d().with_tensor("b", shape=(2,), data=np.array([1, 2])),
            "has 2 bias values; 3 are expected",
        ),
    ],
)
def test_a_contradiction_names_the_layer_found_and_expected(network: Network, said: str) -> None:
    assert refusal(network, ModelError) == CONV + said


PADS = integers("p", [[0, 0], [1, 2]])
POOL = {"padding": 0, "strideH": 1, "strideW": 1, "filterHeight": 1, "filterWidth": 1}


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (
            depthwise(depthMultiplier=3),
            "has the depth multiplier 3, but 4 filters for 2 channels make it 2",
        ),
        (
            depthwise().with_tensor("x", shape=(1, 4, 4, 3)),
            "has 4 filters for 3 channels; a multiple of them is expected",
        ),
        (
            dense(1, 5),
            "has an input int8[1,5], which cannot be rows of the weight's 4 features",
        ),
        (
            simple(
                "MAX_POOL_2D", (1, 4, 4, 2), (1, 4, 4, 2), options_type="Pool2DOptions"
            ).with_options(**{**POOL, "filterWidth": 0}),
            "has FilterWidth 0; at least 1 is expected",
        ),
        (
            simple("SOFTMAX", (4,), (4,), options_type="SoftmaxOptions", beta=float("nan")),
            "has beta nan; a positive, finite value is expected",
        ),
        (
            simple("RESHAPE", (2, 2), (1, 4), integers("s", [3, -1])),
            "asks for the shape [3, -1] of int8[2,2]",
        ),
        (
            simple("RESHAPE", (2, 2), (1, 4), integers("s", [-1, -1])),
            "asks for the shape [-1, -1] of int8[2,2]",
        ),
        (
            simple("SQUEEZE", (2, 1), (2,), options_type="SqueezeOptions", squeezeDims=[0]),
            "removes the axes [0] of int8[2,1]; only axes of size 1 can be removed",
        ),
        (
            simple("SQUEEZE", (2, 1), (2,), options_type="SqueezeOptions", squeezeDims=[2]),
            "has the axis 2; -2 to 1 are expected",
        ),
        (
            simple("EXPAND_DIMS", (2,), (1, 2), integers("a", [0, 1])),
            "has 2 axes; one is expected",
        ),
        (
            simple("PAD", (1, 4), (1, 7), integers("p", [[0, 0], [-1, 4]])),
            "has the negative padding -1",
        ),
        (
            simple("PAD", (1, 4), (1, 7), integers("p", [0, 3])),
            "has paddings of shape [2]; [2, 2] is expected for int8[1,4]",
        ),
        (
            simple("PADV2", (1, 4), (1, 7), PADS, int8_constant("v", 1, scale=(0.25,))),
            "pads with int8[1]; one value of the output's dtype and quantization is expected",
        ),
    ],
)
def test_each_operators_own_contradictions(network: Network, said: str) -> None:
    code = network.operators[0].code
    assert refusal(network, ModelError) == f'm.tflite: layer "y" ({code}): {said}'


def test_a_buffer_index_out_of_range() -> None:
    assert refusal(RELU, ModelError, Tensor={"Buffer": 5}) == (
        'm.tflite: tensor "x" refers to buffer 5, but there are 1; get the model file again'
    )


def test_an_operator_code_out_of_range() -> None:
    assert refusal(RELU, ModelError, Operator={"OpcodeIndex": 2}) == (
        "m.tflite: operator 0 refers to operator code 2, but there are 1; get the model file again"
    )


def test_one_shared_vector_cannot_make_the_work_quadratic() -> None:
    """20 000 operators that share one list of 20 000 inputs: 400 million indices in 160 kB."""
    network = RELU.with_operator(inputs=("x",) * 20_000)
    said = refusal(network, ModelError, SubGraph={"Operators": Repeat(20_000)})
    assert "is truncated or corrupt: its vectors claim more elements than its" in said


@pytest.mark.parametrize("most", [2000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_the_number_of_tables_is_limited(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reader.MAX_TABLES == 100_000
    monkeypatch.setattr(reader, "MAX_TABLES", most)
    said = refusal(RELU, ModelError, Model={"Buffers": Repeat(most + 1)})
    assert said == (
        f"m.tflite: is truncated or corrupt: it has more than {most} tables; "
        "get the model file again"
    )
