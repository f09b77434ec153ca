"""Several nodes in one primitive function: which ones, its name, and its results."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from microgen.compiler import codegens, lowering, partition
from microgen.compiler.codegens import fusion
from microgen.compiler.codegens.base import Primitive
from microgen.compiler.codegens.fusion import Surroundings
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Graph, Node, Origin
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.moves.layouts import LayoutTransformAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.ops.unary.activations import ClipAttrs
from microgen.kernels.base import KernelConstant
from microgen.planner.program.kernel_call import KernelCode
from microgen.planner.program.steps import InnerBuffer, NotStored, Output, Step
from microgen.planner.program.types import Inner, KernelCall, Parameter, Program, Role
from microgen.target import board as boards

BOARD = boards.load("mps2_an386")
ORIGIN = Origin("x.relay", "conv")
LAYOUTS = (("data_layout", "NCHW"),)


def _layout(source: str, target: str, data: str, out: str) -> Node:
    return Node("layout_transform", (data,), (out,), LayoutTransformAttrs(source, target), ORIGIN)


def channels_first() -> Graph:
    """A float32 NCHW convolution with weights and bias as inputs, and a relu."""
    attrs = Conv2DAttrs((1, 1), (1, 1), (1, 1, 1, 1), Activation.RELU, Rounding.SINGLE)
    shapes = {
        "d": (1, 4, 6, 5),
        "w": (3, 4, 3, 3),
        "b": (3,),
        "d1": (1, 6, 5, 4),
        "w1": (3, 3, 3, 4),
        "c": (1, 6, 5, 3),
        "out": (1, 3, 6, 5),
    }
    nodes = (
        _layout("NCHW", "NHWC", "d", "d1"),
        _layout("OIHW", "OHWI", "w", "w1"),
        Node("nn.conv2d", ("d1", "w1", "b"), ("c",), attrs, ORIGIN, layouts=LAYOUTS),
        _layout("NHWC", "NCHW", "c", "out"),
    )
    types = {name: ArrayType(shape, DType.FLOAT32) for name, shape in shapes.items()}
    return Graph("x", ("d", "w", "b"), ("out",), nodes, types, {})


def lowered(graph: Graph) -> Program:
    parts = partition.assign(graph, [codegens.registry()["builtin"]], BOARD)
    known = codegens.registry()
    return lowering.lower(parts, known, BOARD, module="default", output_names=graph.outputs)


def test_changes_of_layout_are_fused_into_the_function_under_tvms_name() -> None:
    program = lowered(channels_first())
    (function,) = program.functions
    assert function.name == "tvmgen_default_fused_nn_conv2d_nn_bias_add_nn_relu"
    assert [(p.name, p.ctype, p.role.value) for p in function.parameters] == [
        ("in0", "float", "input"),
        ("in1", "float", "input"),
        ("in2", "float", "input"),
        ("out0", "float", "output"),
        ("scratch", "uint8_t", "scratch"),
    ]
    (call,) = program.calls
    assert [a.name for a in call.args] == ["d", "w", "b", "output"]
    assert [(step.op, step.kernel) for step in call.steps] == [
        ("layout_transform", "mg_strided_copy"),
        ("layout_transform", "mg_strided_copy"),
        ("nn.conv2d", "mg_conv2d_f32"),
        ("layout_transform", "mg_strided_copy"),
    ]
    assert call.scratch == 3 * 4 * 9 * 4 + 6 * 5 * 4 * 4 + 6 * 5 * 3 * 4


def test_what_something_else_reads_is_not_inside() -> None:
    graph = channels_first()
    groups = fusion.groups(graph.nodes, graph.replace(outputs=("out", "c")))
    assert [[n.op for n in group] for group in groups] == [
        ["layout_transform", "layout_transform", "nn.conv2d"],
        ["layout_transform"],
    ]


def test_a_change_that_ends_one_function_begins_no_other() -> None:
    graph = channels_first()
    relu = Node("clip", ("out",), ("last",), ClipAttrs(Activation.RELU), ORIGIN)
    types = {**graph.types, "last": graph.types["out"]}
    longer = graph.replace(nodes=(*graph.nodes, relu), outputs=("last",), types=types)
    assert [[n.op for n in group] for group in fusion.groups(longer.nodes, longer)] == [
        ["layout_transform", "layout_transform", "nn.conv2d", "layout_transform"],
        ["clip"],
    ]
    assert len(lowered(longer).functions) == 2


def test_without_declared_layouts_each_change_is_a_function_of_its_own() -> None:
    graph = channels_first()
    nodes = tuple(replace(node, layouts=()) for node in graph.nodes)
    assert [len(group) for group in fusion.groups(nodes, graph.replace(nodes=nodes))] == [1] * 4


def test_a_change_after_a_view_is_a_function_of_its_own() -> None:
    types = {
        name: ArrayType(shape, DType.FLOAT32)
        for name, shape in (("x", (24,)), ("v", (1, 2, 3, 4)), ("out", (1, 3, 4, 2)))
    }
    view = Node("reshape", ("x",), ("v",), ReshapeAttrs((1, 2, 3, 4)), ORIGIN)
    graph = Graph("x", ("x",), ("out",), (view, _layout("NCHW", "NHWC", "v", "out")), types, {})
    assert [f.name for f in lowered(graph).functions] == ["tvmgen_default_fused_layout_transform"]


@pytest.mark.parametrize("place", [{"target": "npu"}, {"function": "npu_0"}])
def test_no_function_spans_two_targets(place: dict[str, str]) -> None:
    graph = channels_first()
    nodes = tuple(replace(n, **place) if n.op == "nn.conv2d" else n for n in graph.nodes)  # type: ignore[arg-type]
    assert [len(group) for group in fusion.groups(nodes, graph.replace(nodes=nodes))] == [1] * 4


def test_a_change_of_layout_by_itself_is_a_function() -> None:
    graph = channels_first()
    alone = graph.replace(nodes=graph.nodes[:1], outputs=("d1",), inputs=("d",))
    assert [f.name for f in lowered(alone).functions] == ["tvmgen_default_fused_layout_transform"]


def _step(name: str, reads: str, writes: str, nbytes: int, scratch: int = 0) -> Primitive:
    parameters = (
        Parameter("in0", "float", Role.INPUT),
        Parameter("table", "int8_t", Role.CONSTANT),
        Parameter("out0", "float", Role.OUTPUT),
        Parameter("scratch", "uint8_t", Role.SCRATCH),
    )
    names = tuple(p.name for p in parameters)
    return Primitive(
        words=(name,),
        target="cpu",
        parameters=parameters,
        body=(KernelCall(KernelCode(name, "x.h"), (), names),),
        inputs=(reads,),
        constants=(KernelConstant("table", "int8_t", name),),
        outputs=(writes,),
        output_bytes=(nbytes,),
        scratch=scratch,
        in_place=(),
        steps=(Step(name, Origin("x", name), writes, _int8(nbytes), "", name, ""),),
    )


def _int8(nbytes: int) -> ArrayType:
    return ArrayType((nbytes,), DType.INT8)


def test_inner_buffers_share_bytes_when_they_live_apart() -> None:
    steps = [
        _step("a", "x", "t", 100, 8),
        _step("b", "t", "u", 30, 8),
        _step("c", "u", "v", 60, 8),
        _step("d", "v", "y", 400, 8),
    ]
    whole = fusion.fused(steps, steps[1], Surroundings(("y",), {}))
    assert whole.words == ("b",)
    tensors = {"t": 100, "u": 30, "v": 60}
    offset = {
        name: [a.offset for a in kernel.args if isinstance(a, Inner) and a.ctype == "float"][-1]
        for name, kernel in zip(tensors, whole.body, strict=False)
    }
    assert offset["v"] == offset["t"] == 0  # one is dead before the other is written
    assert offset["u"] >= 100
    assert whole.scratch < sum(tensors.values()) + 32
    assert [p.name for p in whole.parameters] == [
        "in0",
        "table",
        "table_",
        "table__",
        "table___",
        "out0",
        "scratch",
    ]
    assert [c.tensor for c in whole.constants] == ["a", "b", "c", "d"]


def test_a_step_says_who_overwrites_its_result() -> None:
    parts = [
        _step("a", "x", "t", 100, 8),
        _step("b", "t", "u", 30, 8),
        _step("c", "u", "v", 60, 8),
        _step("d", "v", "y", 400, 8),
    ]
    whole = fusion.fused(parts, parts[1], Surroundings(("y",), {}))
    assert [step.op for step in whole.steps] == ["a", "b", "c", "d"]
    first, second, third, last = [step.place for step in whole.steps]
    assert first == InnerBuffer(0, "c")  # see the test above
    assert isinstance(second, InnerBuffer)
    assert not second.overwritten_by
    assert (third, last) == (InnerBuffer(0), Output(0))
    assert [bool(step.unseen) for step in whole.steps] == [True, False, False, False]


def test_a_scratch_overwrites_a_result_too() -> None:
    parts = [
        _step("a", "x", "t", 16, 8),
        _step("b", "t", "u", 16, 8),
        _step("c", "u", "y", 16, 400),
    ]
    whole = fusion.fused(parts, parts[0], Surroundings(("y",), {}))
    assert whole.steps[0].unseen == 'layer "c" overwrites it in the same function'
    assert not whole.steps[1].unseen


def test_two_results_are_two_outputs() -> None:
    parts = [_step("a", "x", "t", 16, 8), _step("b", "t", "u", 16, 8), _step("c", "u", "y", 16, 8)]
    whole = fusion.fused(parts, parts[0], Surroundings(("t", "y"), {}))
    assert [step.place for step in whole.steps] == [Output(0), InnerBuffer(0), Output(1)]


def test_the_layers_of_one_kernel_keep_their_places_inside_the_whole() -> None:
    """A kernel for three layers, of which it stores the second at 32 in its scratch."""
    kernel = _step("k", "t", "y", 16, 64)
    own = [replace(kernel.steps[0], op=op, tensor=op) for op in ("first", "second", "third")]
    why = "mg_k computes it together with the next layer"
    places = (NotStored(why), InnerBuffer(32), Output(0))
    steps = tuple(replace(s, place=place) for s, place in zip(own, places, strict=True))
    parts = [_step("a", "x", "t", 100, 8), replace(kernel, steps=steps)]
    whole = fusion.fused(parts, parts[1], Surroundings(("y",), {}))
    (at,) = (a.offset for a in whole.body[1].args if isinstance(a, Inner) and a.ctype == "uint8_t")
    assert [step.op for step in whole.steps] == ["a", "first", "second", "third"]
    assert [step.place for step in whole.steps[1:]] == [
        NotStored(why),
        InnerBuffer(at + 32),
        Output(0),
    ]
    assert whole.steps[1].unseen == why


@pytest.mark.parametrize("seed", range(20))
def test_no_two_inner_buffers_that_live_together_overlap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 8))
    sizes = [int(n) for n in rng.integers(1, 200, count)]
    steps = [
        _step(f"s{i}", f"t{i - 1}", f"t{i}", nbytes, int(rng.integers(1, 50)))
        for i, nbytes in enumerate(sizes)
    ]
    # every step after the first also reads the first's result, so it is live to the end
    steps = [steps[0], *(_reading(step, "t0") for step in steps[1:])]
    whole = fusion.fused(steps, steps[0], Surroundings(steps[-1].outputs, {}))
    for i, kernel in enumerate(whole.body):
        spans = []
        for argument, role in zip(kernel.args, steps[i].parameters, strict=True):
            if isinstance(argument, Inner):
                spans.append((argument.offset, _nbytes(steps, i, role)))
        spans.sort()
        assert all(a + n <= b for (a, n), (b, _) in itertools.pairwise(spans))
        assert all(a + n <= whole.scratch for a, n in spans)


def _reading(step: Primitive, tensor: str) -> Primitive:
    if step.inputs == (tensor,):
        return step
    extra = Parameter("in1", "float", Role.INPUT)
    body = (replace(step.body[0], args=("in1", *step.body[0].args)),)
    return replace(
        step,
        parameters=(extra, *step.parameters),
        body=body,
        inputs=(tensor, *step.inputs),
    )


def _nbytes(steps: list[Primitive], index: int, parameter: Parameter) -> int:
    if parameter.role is Role.SCRATCH:
        return steps[index].scratch
    if parameter.role is Role.OUTPUT:
        return steps[index].output_bytes[0]
    name = "t0" if parameter.name == "in1" else steps[index].inputs[-1]
    return steps[int(name[1:])].output_bytes[0]


def test_changes_of_layout_on_another_target_are_not_inside() -> None:
    graph = channels_first()
    conv = replace(graph.nodes[2], target="npu0")
    groups = fusion.groups((*graph.nodes[:2], conv, graph.nodes[3]), graph)
    assert [len(group) for group in groups] == [1, 1, 1, 1]


def test_a_state_among_the_inputs_is_its_own_argument() -> None:
    first = _step("a", "x", "t", 16, 8)
    plain = _step("b", "t", "y", 16, 8)
    state = Parameter("in1", "int8_t", Role.STATE)
    second = replace(
        plain,
        parameters=(plain.parameters[0], state, *plain.parameters[1:]),
        body=(replace(plain.body[0], args=("in0", "in1", *plain.body[0].args[1:])),),
        inputs=("t", "memory"),
    )
    whole = fusion.fused([first, second], second, Surroundings(("y",), {}))
    assert whole.inputs == ("x", "memory")
    roles = {p.name: p.role for p in whole.parameters}
    assert (roles["in0"], roles["in1"]) == (Role.INPUT, Role.STATE)
    assert isinstance(whole.body[1].args[0], Inner)
    assert whole.body[1].args[1] == "in1"
