"""The demo of the notes on TVM's code generation: what is built, and what it prints."""

from __future__ import annotations

from microgen import relay

_OUT = "Tensor[(1, 32, 56, 56), float32]"
_PARAMS = (
    "%d1: Tensor[(1, 32, 56, 56), float32], %w1: Tensor[(32, 32, 3, 3), float32], "
    "%b1: Tensor[(32), float32]"
)

TEXT = f"""\
def @main({_PARAMS}) -> {_OUT} {{
  %0 = nn.conv2d(%d1, %w1, padding=[1, 1, 1, 1]) /* ty={_OUT} */;
  %1 = nn.bias_add(%0, %b1) /* ty={_OUT} */;
  nn.relu(%1) /* ty={_OUT} */
}}
"""

_ATTRS = 'Inline=1, Compiler="dnnl", global_symbol="tvmgen_default_dnnl_main_{}", Primitive=1'

PARTITIONED = f"""\
def @main({_PARAMS}) -> {_OUT} {{
  %0 = @tvmgen_default_dnnl_main_0(%d1, %w1) /* ty={_OUT} */;
  %1 = nn.bias_add(%0, %b1) /* ty={_OUT} */;
  @tvmgen_default_dnnl_main_2(%1) /* ty={_OUT} */
}}

def @tvmgen_default_dnnl_main_0(%dnnl_0_i0: {_OUT}, \
%dnnl_0_i1: Tensor[(32, 32, 3, 3), float32], {_ATTRS.format(0)}) -> {_OUT} {{
  nn.conv2d(%dnnl_0_i0, %dnnl_0_i1, padding=[1, 1, 1, 1]) /* ty={_OUT} */
}}

def @tvmgen_default_dnnl_main_2(%dnnl_2_i0: {_OUT}, {_ATTRS.format(2)}) -> {_OUT} {{
  nn.relu(%dnnl_2_i0) /* ty={_OUT} */
}}
"""

PARTITIONED_FOR_MY = f"""\
def @main({_PARAMS}) -> {_OUT} {{
  %0 = @tvmgen_default_my_main_0(%d1, %w1) /* ty={_OUT} */;
  %1 = nn.bias_add(%0, %b1) /* ty={_OUT} */;
  nn.relu(%1) /* ty={_OUT} */
}}

def @tvmgen_default_my_main_0(%my_0_i0: {_OUT}, \
%my_0_i1: Tensor[(32, 32, 3, 3), float32], \
Inline=1, Compiler="my", global_symbol="tvmgen_default_my_main_0", Primitive=1) -> {_OUT} {{
  nn.conv2d(%my_0_i0, %my_0_i1, padding=[1, 1, 1, 1]) /* ty={_OUT} */
}}
"""


def demo() -> relay.IRModule:
    """Line for line as in the notes."""
    d1 = relay.var("d1", shape=(1, 32, 56, 56), dtype="float32")
    w1 = relay.var("w1", shape=(32, 32, 3, 3), dtype="float32")
    b1 = relay.var("b1", shape=(32,), dtype="float32")
    conv = relay.nn.conv2d(d1, w1, strides=(1, 1), padding=(1, 1))
    bias = relay.nn.bias_add(conv, b1)
    relu = relay.nn.relu(bias)
    func = relay.Function([d1, w1, b1], relu)
    mod = relay.IRModule.from_expr(func)
    return relay.transform.InferType()(mod)
