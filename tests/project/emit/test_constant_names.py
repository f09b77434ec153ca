"""The C names of constants: they follow the layers' names, whatever those are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import pytest

from microgen import planner
from microgen.graph.ir.graph import Graph, Origin
from microgen.options import Options
from microgen.planner.program.types import Program
from microgen.project.emit import symbols
from microgen.project.emit.unit import EmitOptions, Unit
from tests.support.compiling import program_of, simplest
from tests.support.graphs import Builder


def _chain(layers: Sequence[str]) -> Graph:
    """Convolutions, one after the other."""
    b = Builder()
    tensor = b.input(1, 4, 4, 2)
    for _ in layers:
        tensor = b.conv(tensor, 2)
    graph = b.graph(tensor)
    origins = dict(zip((n.outputs for n in graph.nodes), layers, strict=True))
    nodes = [dataclasses.replace(n, origin=Origin("m", origins[n.outputs])) for n in graph.nodes]
    return dataclasses.replace(graph, nodes=tuple(nodes))


def _program(layers: Sequence[str]) -> Program:
    """Their program with kernels that take the model's own weights and biases."""
    graph = _chain(layers)
    return program_of(graph, given=simplest(graph))


def _named(program: Program, pool: Sequence[str] = ()) -> Mapping[str, str]:
    plan = planner.plan(program, pools=Options(pool=tuple(pool)).pools)
    return Unit(program, plan, EmitOptions("x.tflite")).constants


def test_a_constant_has_its_layers_name_and_what_it_is_to_it() -> None:
    program = _program(["block/conv1/Relu;block/bn", "conv2"])
    found = _named(program)
    assert found["p0"] == "tvmgen_default_block_conv1_Relu_weight"
    assert found["p1"] == "tvmgen_default_block_conv1_Relu_bias"
    assert found["p2_multiplier"] == "tvmgen_default_block_conv1_Relu_multiplier"
    assert found["p3"] == "tvmgen_default_conv2_weight"


@pytest.mark.parametrize(
    "layer", ["a", "A/b", "a b", "/", "", "é", "\u202e", "x" * 300, "3", "int"]
)
def test_names_are_identifiers_and_no_two_are_equal(layer: str) -> None:
    found = _named(program_of(_chain([layer, layer, f"{layer}_1"]))).values()
    assert len(set(found)) == len(found)
    assert all(name.isascii() and name.isidentifier() and "__" not in name for name in found)
    assert max(map(len, found)) < 90


def test_a_name_that_a_pool_has_is_left_to_it() -> None:
    found = _named(_program(["conv"]), ["conv_weight:*"])
    assert found["p0"] == "tvmgen_default_conv_weight_1"
    assert found["p1"] == "tvmgen_default_conv_bias"


def test_a_name_that_an_operator_has_is_left_to_it() -> None:
    program = _program(["fused_nn_conv2d_nn"])
    (function,) = program.functions
    assert function.name == "tvmgen_default_fused_nn_conv2d_nn_bias_add"
    taken = dataclasses.replace(function, name="tvmgen_default_fused_nn_conv2d_nn_bias")
    calls = tuple(dataclasses.replace(c, function=taken.name) for c in program.calls)
    found = _named(dataclasses.replace(program, functions=(taken,), calls=calls))
    assert found["p1"] == "tvmgen_default_fused_nn_conv2d_nn_bias_1"


def test_relays_layers_are_named_without_their_lines() -> None:
    found = _named(_program(["%3 nn.conv2d (line 17)"]))
    assert found["p0"] == "tvmgen_default_3_nn_conv2d_weight"


def test_what_the_graph_executor_loads_keeps_the_names_of_the_file() -> None:
    program = _program(["conv"])
    names = symbols.of_constants(program, planner.plan(program), has_graph=True)
    assert names["p0"] == "tvmgen_default_p0"
    assert names["p2_multiplier"] == "tvmgen_default_p2_multiplier"
