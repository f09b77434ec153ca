"""External functions from Relay text, as the partitioner hands them to a codegen."""

from __future__ import annotations

import random
from collections.abc import Sequence

from microgen import relay
from microgen.base.errors import ModelError
from microgen.base.formats.byte_stream import Stream
from microgen.compiler.codegens.external import ExternalFunction, LoadedModule
from microgen.frontends.relay.convert import convert as from_module
from microgen.graph.ir.graph import Origin
from microgen.relay.expr import Expr, Function
from microgen.relay.module import IRModule
from microgen.target import board as boards
from microgen.tvm.codegens.examplejson import CODEGEN
from microgen.tvm.codegens.examplejson.payload import ExampleJson

ORIGIN = Origin("m.relay", "%0")
GUIDE = """\
def @main(%input0: Tensor[(10, 10), float32], %input1: Tensor[(10, 10), float32],
          %input2: Tensor[(10, 10), float32], %input3: Tensor[(10, 10), float32]) {
  %0 = add(%input0, %input1);
  %1 = subtract(%0, %input2);
  multiply(%1, %input3)
}
"""


def external(source: str | IRModule, symbol: str = "subgraph_0") -> ExternalFunction:
    """The main function of a module or of its text, under another name."""
    module = relay.infer_type(relay.parse(source) if isinstance(source, str) else source)
    assert module.types is not None
    graph = from_module(module, file="m.relay")
    return ExternalFunction(symbol, graph, module["main"], module.types, ORIGIN)


def compiled(*functions: ExternalFunction, board: str = "mps2_an386") -> LoadedModule:
    """The one module that the codegen makes of the functions."""
    (made,) = CODEGEN.compile(functions, boards.load(board))
    assert isinstance(made, LoadedModule)
    return made


def text_of(*functions: ExternalFunction) -> str:
    """The text that the codegen makes of the functions."""
    return payload_text(compiled(*functions).payload)


def payload_text(payload: bytes) -> str:
    """The text of a payload: the guide's ``GetSource``."""
    stream = Stream(payload, ModelError, "ExampleJSON", "")
    text = ExampleJson.loads(stream).graph
    stream.end("string")
    return text


def random_module(seed: int) -> IRModule:
    """A function of the codegen's operators, with shared values and sometimes several results."""
    rng = random.Random(seed)
    shape = tuple(rng.choice((1, 2, 3, 5)) for _ in range(rng.randrange(1, 5)))
    params = [relay.var(f"x{i}", shape=shape) for i in range(rng.randrange(1, 5))]
    values: list[Expr] = [*params]
    for _ in range(rng.randrange(1, 15)):
        op = rng.choice((relay.add, relay.subtract, relay.multiply))
        values.append(op(*_two(rng, values)))
    body = values[-1] if rng.random() < 0.7 else relay.Tuple(values[-2:])
    return relay.infer_type(IRModule.from_expr(Function(params, body)))


def _two(rng: random.Random, values: Sequence[Expr]) -> list[Expr]:
    return [rng.choice(values[-rng.randrange(1, 6) :]) for _ in range(2)]
