"""From functions to one graph: order, names, tuples, lets, functions in functions, devices."""

from __future__ import annotations

import numpy as np
import pytest

from microgen import relay
from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.graph.ir.graph import Array, DType
from microgen.relay import Function
from tests.frontends.relay.evaluated import close, computed, graph_of, outputs_of, var

X = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)


def text(body: str, params: str = "%x: Tensor[(2, 3), float32]", more: str = "") -> str:
    return f"def @main({params}) {{\n{body}\n}}\n{more}"


def test_nodes_have_the_texts_names_and_lines() -> None:
    graph = graph_of(text("  %0 = nn.relu(%x);\n  %1 = add(%0, %x);\n  tanh(%1)"))
    assert graph.inputs == ("x",)
    assert [(n.op, n.outputs, n.origin.layer) for n in graph.nodes] == [
        ("clip", ("%0",), "%0 nn.relu (line 2)"),
        ("add", ("%1",), "%1 add (line 3)"),
        ("tanh", ("%2",), "%2 tanh (line 4)"),
    ]
    assert graph.name == "t"
    assert str(graph.nodes[0].origin) == 't.relay: layer "%0 nn.relu (line 2)"'


def test_a_let_names_its_value() -> None:
    graph = graph_of(text("  let %a = tanh(%x);\n  let %b = add(%a, %a);\n  multiply(%b, %a)"))
    assert [n.outputs[0] for n in graph.nodes] == ["%a", "%b", "%0"]
    (found,) = outputs_of(graph, [X])
    close(found, (np.tanh(X) + np.tanh(X)) * np.tanh(X))


def test_calls_stand_in_a_normal_order() -> None:
    x = relay.var("x", shape=(2, 3))
    left, right = relay.exp(x), relay.tanh(x)
    graph = graph_of(Function([x], relay.add(relay.multiply(right, left), left)))
    assert [n.op for n in graph.nodes] == ["tanh", "exp", "multiply", "add"]
    assert [n.outputs[0] for n in graph.nodes] == ["%0", "%1", "%2", "%3"]


def test_tuples_go_in_through_and_out() -> None:
    source = text(
        "  %0 = (%x, (%t.1, tanh(%x)));\n  %1 = %0.1;\n  (%1, %t.0, add(%1.0, %1.1))",
        "%x: Tensor[(2, 3), float32], %t: (Tensor[(2, 3), float32], Tensor[(2, 3), float32])",
    )
    graph = graph_of(source)
    assert graph.inputs == ("x", "t.0", "t.1")
    assert (graph.outputs[0], graph.outputs[2]) == ("t.1", "t.0")
    found = outputs_of(graph, [X, 2 * X, 3 * X])
    for each, expected in zip(found, (3 * X, np.tanh(X), 2 * X, 3 * X + np.tanh(X)), strict=True):
        close(each, expected)


def test_an_input_a_constant_and_one_value_twice_are_outputs() -> None:
    x = relay.var("x", shape=(2, 3))
    c = relay.const(np.arange(3, dtype=np.float32))
    y = relay.nn.relu(x)
    found = computed(relay.Tuple([x, c, y, y]), {x: X})
    for each, expected in zip(
        found, (X, np.arange(3, dtype=np.float32), *[np.maximum(X, 0)] * 2), strict=True
    ):
        close(each, expected)


def test_what_no_output_needs_is_left_out() -> None:
    graph = graph_of(text("  %0 = split(%x, indices_or_sections=3, axis=1);\n  %0.1"))
    assert [(n.op, n.outputs[0]) for n in graph.nodes] == [("strided_slice", "%0.1")]
    assert set(graph.types) == {"x", "%0.1"}


def test_equal_constants_of_one_expression_are_one() -> None:
    c = relay.const(np.ones((2, 3), np.float32))
    x = relay.var("x", shape=(2, 3))
    graph = graph_of(Function([x], relay.multiply(relay.add(x, c), c)))
    assert list(graph.constants) == ["constant0"]


def test_what_is_computed_from_constants_is_a_constant() -> None:
    graph = graph_of(text("  %0 = add(2f, 3f);\n  multiply(%x, %0)"))
    assert [n.op for n in graph.nodes] == ["multiply"]
    (found,) = outputs_of(graph, [X])
    close(found, X * np.float32(5))


INNER = """
def @twice(%y: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {
  %0 = tanh(%y);
  add(%0, %0)
}
"""


def test_functions_are_inlined_at_each_call() -> None:
    graph = graph_of(text("  %0 = @twice(%x);\n  @twice(%0)", more=INNER))
    assert [(n.op, n.outputs[0]) for n in graph.nodes] == [
        ("tanh", "%0:%0"),
        ("add", "%0:%1"),
        ("tanh", "%1:%0"),
        ("add", "%1:%1"),
    ]
    (found,) = outputs_of(graph, [X])
    close(found, 2 * np.tanh(2 * np.tanh(X)))


def test_primitive_functions_and_closures_are_inlined() -> None:
    source = text(
        "  let %f = fn (%y: Tensor[(2, 3), float32], Primitive=1) { add(%y, %x) };\n"
        "  %0 = %f(%x);\n  %1 = fn (%z: Tensor[(2, 3), float32]) { tanh(%z) };\n  %1(%f(%0))"
    )
    (found,) = outputs_of(graph_of(source), [X])
    close(found, np.tanh(3 * X))


def test_a_partitioned_function_marks_its_nodes() -> None:
    external = INNER.replace(
        "%y: Tensor[(2, 3), float32])",
        '%y: Tensor[(2, 3), float32], Compiler="dnnl", Primitive=1, Inline=1, '
        'global_symbol="dnnl_0")',
    )
    graph = graph_of(text("  %0 = nn.relu(%x);\n  @twice(%0)", more=external))
    assert [(n.op, n.target, n.function) for n in graph.nodes] == [
        ("clip", "", ""),
        ("tanh", "dnnl", "dnnl_0"),
        ("add", "dnnl", "dnnl_0"),
    ]


def test_a_bias_is_not_fused_across_the_border_of_a_function() -> None:
    source = """
def @main(%x: Tensor[(1, 2), float32], %w: Tensor[(3, 2), float32], %b: Tensor[(3), float32]) {
  %0 = @part(%x, %w);
  nn.bias_add(%0, %b)
}
def @part(%y: Tensor[(1, 2), float32], %v: Tensor[(3, 2), float32],
    Compiler="npu", global_symbol="npu_0") {
  nn.dense(%y, %v, units=3)
}
"""
    graph = graph_of(source)
    assert [(n.op, n.function) for n in graph.nodes] == [("nn.dense", "npu_0"), ("add", "")]


def test_layouts_do_not_cross_the_border_of_a_function() -> None:
    source = """
def @main(%x: Tensor[(1, 2, 4, 4), float32], %w: Tensor[(2, 2, 1, 1), float32]) {
  %0 = @part(%x, %w);
  %1 = nn.relu(%0);
  nn.conv2d(%1, %w)
}
def @part(%y: Tensor[(1, 2, 4, 4), float32], %v: Tensor[(2, 2, 1, 1), float32],
    Compiler="npu", global_symbol="npu_0") {
  nn.conv2d(%y, %v)
}
"""
    from microgen.compiler import passes

    graph = passes.run(graph_of(source))
    assert [(n.op, n.function) for n in graph.nodes] == [
        ("layout_transform", "npu_0"),
        ("reshape", "npu_0"),
        ("nn.conv2d", "npu_0"),
        ("layout_transform", "npu_0"),
        ("clip", ""),
        ("layout_transform", ""),
        ("reshape", ""),
        ("nn.conv2d", ""),
        ("layout_transform", ""),
    ]


ON_DEVICE = text("  %0 = tanh(%x);\n  %1 = on_device(%0, device_type=12);\n  add(%1, %x)")


def test_devices_are_targets() -> None:
    graph = graph_of(ON_DEVICE, {1: "c", 12: "npu"})
    assert [(n.op, n.target) for n in graph.nodes] == [("tanh", "npu"), ("add", "")]


def test_a_device_may_be_said_of_a_variable() -> None:
    source = text("  let %a = tanh(%x);\n  let %b = on_device(%a, device_type=12);\n  add(%b, %x)")
    graph = graph_of(source, {1: "c", 12: "npu"})
    assert [(n.op, n.target) for n in graph.nodes] == [("tanh", "npu"), ("add", "")]


@pytest.mark.parametrize("number", [0, 1])
def test_any_device_and_a_cpu_are_the_host(number: int) -> None:
    graph = graph_of(ON_DEVICE.replace("12", str(number)), {3: "npu", 4: "dsp"})
    assert {n.target for n in graph.nodes} == {""}


def test_one_target_is_that_of_everything() -> None:
    assert {n.target for n in graph_of(ON_DEVICE, {1: "npu"}).nodes} == {"npu"}
    assert {n.target for n in graph_of(ON_DEVICE, {1: "llvm"}).nodes} == {""}


@pytest.mark.parametrize(("number", "name"), [(12, "ext_dev"), (2, "cuda"), (77, "77")])
def test_a_device_without_a_target_is_named(number: int, name: str) -> None:
    source = ON_DEVICE.replace("12", str(number))
    with pytest.raises(
        UnsupportedError, match=f"t.relay:3:.*No target is provided for device {name}"
    ):
        graph_of(source, {1: "c", 3: "npu"})


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            text("  device_copy(%x, src_device_type=1, dst_device_type=2)"),
            r"line 2.*The AOT executor does not currently support device_copy",
        ),
        (text("  if (True) { %x } else { %x }"), r"t\.relay:2:.*if is not supported\."),
        (text("  match (%x) { }"), r"does not support matching"),
        (text("  ref(%x)"), r"does not support references \(found RefCreateNode\)"),
        (
            text("  %x", "%x: Tensor[(?, 3), float32]"),
            r"Cannot allocate memory symbolic tensor shape",
        ),
        (text("  %x", "%x: Tensor[(2, 3), float64]"), r"%x.*dtype that no kernel has"),
        (text("  nn.relu(%x)", "%x: Tensor[(0, 3), float32]"), r"has no elements"),
        (text("  %x", "%x: Tensor[(65536, 65536), float32]"), r"has 17179869184 bytes"),
        (text('  zeros(shape=[65536, 8000], dtype="float32")'), r"takes 8,388,608,000 bytes"),
        (text("  ()"), r"@main returns nothing"),
        (text("  1f", ""), r"@main has no inputs"),
        (text("  %x", "%x: fn (Tensor[(2), float32]) -> Tensor[(2), float32]"), r"function"),
        ("def @other(%x: Tensor[(2), float32]) { %x }", r"has no function @main"),
        (text("  @main(%x)"), r"calls itself"),
        (
            text("  nn.conv2d(%x, %x)", "%x: Tensor[(2, 2, 2, 2), int16]"),
            r"nn.conv2d of int16\[2,2,2,2\] has no kernel",
        ),
        (
            text("  qnn.tanh(%x, 1f, 0, 1f, 0)", "%x: Tensor[(2), int8]"),
            r"operator qnn\.tanh is not supported",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence_with_a_place(source: str, sentence: str) -> None:
    with pytest.raises(MicrogenError, match=sentence) as caught:
        graph_of(source)
    assert "\n" not in str(caught.value)


def test_functions_that_multiply_are_bounded() -> None:
    source = text("  @f0(%x)")
    for i in range(20):
        nested = f"@f{i + 1}(@f{i + 1}(%y))" if i < 19 else "tanh(%y)"
        source += f"def @f{i}(%y: Tensor[(2, 3), float32]) {{ {nested} }}\n"
    with pytest.raises(UnsupportedError, match="more than 20000 calls"):
        graph_of(source)


def test_chains_of_functions_are_bounded() -> None:
    source = text("  @f0(%x)")
    for i in range(200):
        nested = f"@f{i + 1}(%y)" if i < 199 else "tanh(%y)"
        source += f"def @f{i}(%y: Tensor[(2, 3), float32]) {{ {nested} }}\n"
    with pytest.raises(UnsupportedError, match="nests functions more than 100 deep"):
        graph_of(source)


def test_deep_graphs_need_no_deep_stack() -> None:
    x = relay.var("x", shape=(2, 3))
    body = x
    for _ in range(5000):
        body = relay.tanh(body)
    assert len(graph_of(Function([x], body)).nodes) == 5000


def test_params_beside_the_text_are_constants(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from microgen import frontends

    x, w = relay.var("x", shape=(1, 3)), relay.var("w", shape=(2, 3))
    module = relay.IRModule.from_expr(Function([x, w], relay.nn.dense(x, w)))
    relay.save(module, tmp_path / "m.relay", {"w": X})
    graph = frontends.load(tmp_path / "m.relay")
    assert graph.inputs == ("x",)
    assert [a.tolist() for a in graph.constants.values()] == [X.tolist()]


def test_plain_int8_numbers_mean_themselves() -> None:
    x: Array = np.array([-128, 5, 127], np.int8)
    graph = graph_of(Function([v := var("x", x)], relay.nn.relu(v)))
    assert (graph.types["x"].dtype, graph.types["x"].scale, graph.types["x"].zero) == (
        DType.INT8,
        1.0,
        0,
    )


def test_a_missing_name_is_a_models_error() -> None:
    with pytest.raises(ModelError, match=r"t\.relay:2"):
        graph_of(text("  nn.relu(%nope)"))
