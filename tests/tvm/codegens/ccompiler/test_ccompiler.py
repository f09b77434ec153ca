"""The C of the guide's graph, character for character; what is refused; outputs of every kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microgen import relay
from microgen.base.errors import UnsupportedError
from microgen.compiler.codegens.external import CSource, ExternalFunction
from microgen.relay.expr import Call, Function, Op, TensorType, Type
from microgen.relay.transform import OperatorCall
from microgen.target import board as boards
from microgen.tvm.codegens.ccompiler import CODEGEN
from tests.compiler.codegens import functions

BOARD = boards.load("native")

GUIDE = """\
#define CSOURCE_BINARY_OP_2D(p_ID_, p_OP_, p_DIM1_, p_DIM2_)                   \\
    static void p_ID_(const float *a, const float *b, float *out)              \\
    {                                                                          \\
        for (int32_t i = 0; i < p_DIM1_; ++i) {                                \\
            for (int32_t j = 0; j < p_DIM2_; ++j) {                            \\
                const int32_t k = i * p_DIM2_ + j;                             \\
                out[k] = a[k] p_OP_ b[k];                                      \\
            }                                                                  \\
        }                                                                      \\
    }                                                                          \\
    struct csource_op_end

CSOURCE_BINARY_OP_2D(ccompiler_0_0, *, 10, 10);
CSOURCE_BINARY_OP_2D(ccompiler_0_1, -, 10, 10);
CSOURCE_BINARY_OP_2D(ccompiler_0_2, +, 10, 10);

static void ccompiler_0_(
    const float *in0,
    const float *in1,
    const float *in2,
    const float *in3,
    float *out0,
    uint8_t *scratch)
{
    float *buf_0 = (float *)(void *)&scratch[0];
    float *buf_1 = (float *)(void *)&scratch[400];
    ccompiler_0_2(in0, in1, buf_0);
    ccompiler_0_1(buf_0, in2, buf_1);
    ccompiler_0_0(buf_1, in3, out0);
}

int32_t ccompiler_0(
    const float *in0,
    const float *in1,
    const float *in2,
    const float *in3,
    float *out0,
    uint8_t *scratch)
{
    ccompiler_0_(in0, in1, in2, in3, out0, scratch);
    return 0;
}"""


def _vars(count: int, shape: tuple[int, ...] = (10, 10)) -> list[relay.Var]:
    return [relay.var(f"c_compiler_input{i}", shape=shape) for i in range(count)]


def _compiled(*given: ExternalFunction) -> CSource:
    (source,) = CODEGEN.compile(given, BOARD)
    assert isinstance(source, CSource)
    return source


def test_the_guides_graph() -> None:
    a, b, c, d = _vars(4)
    out = relay.multiply(relay.subtract(relay.add(a, b), c), d)
    source = _compiled(functions.of("ccompiler_0", [a, b, c, d], out))
    assert source.code == GUIDE
    (function,) = source.functions
    assert (function.symbol, function.constants, function.scratch) == ("ccompiler_0", (), 800)
    assert not source.files


def test_buffers_share_the_scratch() -> None:
    (x,) = _vars(1)
    value = x
    for _ in range(6):
        value = relay.negative(value)
    source = _compiled(functions.of("f", [x], value))
    assert source.functions[0].scratch == 800
    assert source.code.count("&scratch[0]") == 3


def test_a_constant_is_a_parameter() -> None:
    (x,) = _vars(1, (2,))
    weight = np.array([1, 2], np.float32)
    source = _compiled(functions.of("f", [x], relay.add(x, relay.const(weight))))
    ((name, array),) = source.functions[0].constants
    assert name == "const_0"
    assert array is weight or np.array_equal(array, weight)
    assert "f_0(in0, const_0, out0);" in source.code


def test_outputs_that_nothing_computes_are_copied() -> None:
    x, y = _vars(2, (3,))
    total = relay.add(x, y)
    body = relay.Tuple([total, total, x, relay.const(np.zeros(2, np.int32))])
    code = _compiled(functions.of("f", [x, y], body)).code
    assert code.startswith("#include <string.h>\n")
    for line in ("f_0(in0, in1, out0);", "(out1, out0, 12);", "(out2, in0, 12);", "const_0, 8);"):
        assert line in code


def test_what_nothing_reads_is_not_computed() -> None:
    x, y = _vars(2, (3,))
    pair = relay.Tuple([relay.add(x, relay.const(np.ones(3, np.float32))), relay.abs(x)])
    source = _compiled(functions.of("f", [x, y], relay.TupleGetItem(pair, 1)))
    assert "BINARY" not in source.code
    assert "(void)in1;" in source.code
    assert source.functions[0].constants == ()


def test_static_functions_keep_clear_of_other_symbols() -> None:
    x, y = _vars(2, (3,))
    made = [functions.of(symbol, [x, y], relay.add(x, y)) for symbol in ("f", "f_", "f_0")]
    code = _compiled(*made).code
    assert "static void f__(" in code
    assert "CSOURCE_BINARY_OP_1D(f_0_, +, 3);" in code
    assert code.count("int32_t f_0(") == 1


@pytest.mark.parametrize(
    ("op", "types", "result", "why"),
    [
        ("add", [((2, 3), "float32"), ((3,), "float32")], ((2, 3), "float32"), "no broadcasting"),
        ("divide", [((2,), "int32")] * 2, ((2,), "int32"), "it is int32, and divide is taken of"),
        ("add", [((2,), "int8")] * 2, ((2,), "int8"), "taken of float32 or int32"),
        ("nn.relu", [((2,), "float64")], ((2,), "float64"), "it is float64"),
    ],
)
def test_predicates_say_why_not(
    op: str,
    types: list[tuple[tuple[int, ...], str]],
    result: tuple[tuple[int, ...], str],
    why: str,
) -> None:
    args: tuple[Type, ...] = tuple(TensorType(*t) for t in types)
    call = OperatorCall(op, {}, args, TensorType(*result), (None,) * len(args))
    assert why in (CODEGEN.support.operators[op](call) or "")


def test_predicates_take_every_rank() -> None:
    for shape in ((), (1,), (2, 3), (1, 2, 3, 4, 5)):
        tensor = TensorType(shape, "int32")
        call = OperatorCall("multiply", {}, (tensor, tensor), tensor, (None, None))
        assert CODEGEN.support.operators["multiply"](call) is None


def _refused(function: ExternalFunction) -> str:
    with pytest.raises(UnsupportedError) as caught:
        CODEGEN.compile([function], BOARD)
    return str(caught.value)


def test_what_was_never_relay_is_refused() -> None:
    (x,) = _vars(1)
    function = replace(functions.of("f", [x], relay.abs(x)), relay=None)
    assert 'layer "sum": ccompiler compiles only Relay, which f is not;' in _refused(function)


def test_functions_annotated_by_hand_are_checked() -> None:
    (x,) = _vars(1, (2,))
    assert "does not take the operator exp, in f;" in _refused(functions.of("f", [x], relay.exp(x)))
    short = relay.var("s", shape=(1,))
    assert "add: its argument 1 is" in _refused(functions.of("f", [x, short], relay.add(x, short)))
    inner = relay.var("i", shape=(2,))
    call = Call(Function([inner], Call(Op("abs"), [inner])), [x])
    assert "does not take a function inside" in _refused(functions.of("f", [x], call))
