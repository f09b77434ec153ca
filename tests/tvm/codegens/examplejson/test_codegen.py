"""Relay functions as ExampleJSON: the guide's text byte for byte, and what is refused and why."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import relay
from microgen.base.errors import UnsupportedError
from microgen.compiler import codegens
from microgen.compiler.partition.relay_module import Partitioning, partition_module
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.tvm.codegens.examplejson import CODEGEN, sizes, text
from microgen.tvm.codegens.examplejson.payload import ExampleJson
from tests.relay.blob.samples import GUIDE as GUIDES_TEXT
from tests.tvm.codegens.examplejson import interpreter
from tests.tvm.codegens.examplejson.functions import (
    GUIDE,
    compiled,
    external,
    payload_text,
    random_module,
    text_of,
)

EXAMPLE = Path(__file__).resolve().parents[4] / "examples" / "byoc_guide.relay"

NAMED = GUIDES_TEXT + "subgraph_0: tvmgen_default_examplejsoncompiler_main_0\n"


def test_the_guides_text() -> None:
    assert text_of(external(GUIDE)) == GUIDES_TEXT


def test_the_payload_is_a_string() -> None:
    made = compiled(external(GUIDE))
    assert made.payload == len(GUIDES_TEXT).to_bytes(8, "little") + GUIDES_TEXT.encode()
    assert made.payload == ExampleJson(GUIDES_TEXT).dumps()
    assert made.runtime.type_key == "examplejson"


def test_the_codegen_has_the_guides_name() -> None:
    assert codegens.registry()["examplejsoncompiler"] is CODEGEN


def test_a_function_of_another_name_has_a_line_more() -> None:
    assert text_of(external(GUIDE, "tvmgen_default_examplejsoncompiler_main_0")) == NAMED


def test_the_blobs_reader_knows_the_functions() -> None:
    found = text_of(external(GUIDE, "f"), external(GUIDE, "subgraph_0"), external(GUIDE, "g"))
    assert ExampleJson(found).symbols == ("f", "subgraph_0", "g")
    assert ExampleJson(found).facts == {"inputs": 12, "kernels": ["add", "sub", "mul"] * 3}


def test_several_functions_are_subgraphs_of_one_text() -> None:
    names = ("f", "subgraph_0", "a_subgraph_of_mine", "g")
    subgraphs = text.parse(text_of(*(external(GUIDE, name) for name in names)))
    headers = ["subgraph_1", "subgraph_0", "a_subgraph_of_mine", "subgraph_2"]
    assert [subgraph.header for subgraph in subgraphs] == headers
    assert [subgraph.symbol for subgraph in subgraphs] == [*names]


def test_a_value_that_several_read_is_one_node() -> None:
    found = text_of(
        external("""\
def @main(%x: Tensor[(3), float32], %unused: Tensor[(2, 2), float32]) {
  %0 = add(%x, %x);
  %1 = multiply(%0, %0);
  subtract(%1, %0)
}
""")
    )
    assert found == (
        "subgraph_0\n  input 0 3\n  input 1 2 2\n  add 2 inputs: 0 0 shape: 3\n"
        "  mul 3 inputs: 2 2 shape: 3\n  sub 4 inputs: 3 2 shape: 3\n"
    )


def test_several_outputs_stand_in_the_last_line() -> None:
    module = """\
def @main(%x: Tensor[(3), float32], %y: Tensor[(3), float32]) {
  %0 = add(%x, %y);
  %1 = subtract(%0, %y);
  (%1, %x, %0)
}
"""
    assert text_of(external(module)).splitlines()[-1] == "subgraph_0: subgraph_0 outputs: 3 0 2"
    assert text_of(external(module, "f")).splitlines()[-1] == "subgraph_0: f outputs: 3 0 2"


@pytest.mark.parametrize("seed", range(100))
def test_random_functions_are_what_the_text_computes(seed: int) -> None:
    function = external(random_module(seed), f"f{seed}")
    made = compiled(function)
    source = payload_text(made.payload)
    (subgraph,) = text.parse(source)
    assert text.show([subgraph]) == source
    rng = np.random.default_rng(seed)
    inputs = [rng.standard_normal(t.type.shape).astype(np.float32) for t in function.inputs]
    names = (tensor.name for tensor in function.inputs)
    values = evaluate(function.graph, dict(zip(names, inputs, strict=True)), registry())
    outputs = interpreter.run(subgraph, inputs)
    for tensor, found in zip(function.outputs, outputs, strict=True):
        np.testing.assert_array_equal(found, values[tensor.name])
    (only,) = made.functions
    assert (only.symbol, only.constants) == (f"f{seed}", ())
    assert only.workspace == sizes.workspace_bytes(subgraph)
    assert made.pool_bytes == sizes.pool_bytes([subgraph], 4)
    assert compiled(function, board="native").pool_bytes == sizes.pool_bytes([subgraph], 8)


def test_a_chain_needs_one_place() -> None:
    x = relay.var("x", shape=(100,))
    chain = x
    for _ in range(2000):
        chain = relay.add(chain, x)
    module = relay.IRModule.from_expr(relay.Function([x], chain))
    assert compiled(external(module)).functions[0].workspace == 400


REFUSED = {
    "add(%a, %row)": "broadcasts Tensor[(2, 3), float32] and Tensor[(3), float32]",
    "multiply(%scalar, %scalar)": "float32 has 0 dimensions; ExampleJSON has 1 to 6",
    "add(%int, %int)": "Tensor[(2, 3), int32]; ExampleJSON has float32 only",
    "subtract(%deep, %deep)": "has 7 dimensions; ExampleJSON has 1 to 6",
    "add(%a, nn.relu(%a))": "nn.relu; ExampleJSON has add, subtract, multiply",
    "add(%a, meta[relay.Constant][0])": "constant",
}
PARAMS = (
    "%a: Tensor[(2, 3), float32], %row: Tensor[(3), float32], %scalar: float32, "
    "%int: Tensor[(2, 3), int32], %deep: Tensor[(1, 1, 1, 1, 1, 1, 2), float32]"
)


def _module(body: str) -> relay.IRModule:
    """A function with those parameters of ``PARAMS`` that the body uses."""
    params = [p for p in re.split(r", (?=%)", PARAMS) if f"{p.split(':')[0]}" in body]
    source = f"def @main({', '.join(params)}) {{ {body.replace('meta[relay.Constant][0]', '%c')} }}"
    if "meta" not in body:
        return relay.parse(source)
    source = source.replace("def @main(", "def @main(%c: Tensor[(2, 3), float32], ")
    return relay.bind_params(relay.parse(source), {"c": np.ones((2, 3), np.float32)})


@pytest.mark.parametrize("body", REFUSED)
def test_what_cannot_be_said(body: str) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(REFUSED[body])) as found:
        compiled(external(_module(body), "f"))
    assert str(found.value).startswith('m.relay: layer "%0": f has something ')


def test_a_function_that_was_never_relay() -> None:
    with pytest.raises(UnsupportedError, match="nodes that are not Relay"):
        compiled(dataclasses.replace(external(GUIDE), relay=None))


@pytest.mark.parametrize("body", [body for body in REFUSED if "relu" not in body])
def test_what_cannot_be_said_is_left_to_others(body: str) -> None:
    module = relay.infer_type(_module(body))
    found = partition_module(module, [CODEGEN.support], Partitioning("m", merge_regions=True))
    assert [*found.module.functions] == ["main"]
    (refusal,) = found.refusals
    assert REFUSED[body].split("; ")[0] in refusal.why


def test_the_example_has_work_for_everyone() -> None:
    compiled = microgen.compile_model(
        EXAMPLE, "mps2_an386", codegen=("examplejsoncompiler", "ccompiler"), merge_regions=True
    )
    (code,) = [code for _, code in compiled.program.runtime_modules]
    assert payload_text(code.payload) == NAMED
    assert [function.name for function in compiled.program.functions] == [
        "tvmgen_default_examplejsoncompiler_main_0",
        "tvmgen_default_ccompiler_main_4",
        "tvmgen_default_fused_clip",
    ]


def test_without_merging_each_operator_is_a_subgraph() -> None:
    compiled = microgen.compile_model(EXAMPLE, "mps2_an386", codegen=("examplejsoncompiler",))
    (code,) = [code for _, code in compiled.program.runtime_modules]
    symbols = [subgraph.symbol for subgraph in text.parse(payload_text(code.payload))]
    assert symbols == [f"tvmgen_default_examplejsoncompiler_main_{k}" for k in (0, 2, 4)]
