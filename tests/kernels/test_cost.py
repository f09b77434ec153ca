"""The work of nodes, and the estimates that coefficients make of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Graph, Node
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.convolution import conv2d, conv2d_transpose
from microgen.graph.ops.depthwise import depthwise_conv2d
from microgen.kernels import cost, measured, registry
from microgen.kernels.base import Implementation
from microgen.kernels.work import work
from microgen.target.cpu import CPUS
from scripts.measuring import costs, layer_costs, shapes, tables
from scripts.measuring.builder import Builder
from tests.support import graphs

TABLE = measured.load(measured.COSTS)
OF_KERNELS = [name for name in TABLE.rows if name.startswith("mg_")]
IMPLEMENTATIONS = {kernel.symbol: kernel for found in registry().values() for kernel in found}
WINDOWS: list[tuple[Pair, Pair, Pair, Pair, Padding]] = [
    # size, kernel, strides, dilation, padding
    ((7, 6), (3, 3), (1, 1), (1, 1), "SAME"),
    ((7, 6), (3, 2), (2, 3), (1, 1), "SAME"),
    ((9, 9), (3, 3), (1, 2), (2, 3), "SAME"),
    ((8, 5), (4, 5), (3, 1), (1, 1), "VALID"),
    ((3, 3), (2, 3), (1, 1), (1, 1), (4, 0, 5, 7)),  # some windows lie outside
]


def _node(op: str, attrs: object, *shapes: tuple[int, ...]) -> tuple[Node, Graph]:
    b = graphs.Builder()
    b.types |= {f"i{n}": ArrayType(s, DType.FLOAT32) for n, s in enumerate(shapes)}
    b.node(op, attrs, *(f"i{n}" for n in range(len(shapes))))  # type: ignore[arg-type]
    return b.nodes[0], b.graph("layer0")


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("groups", [1, 2])
def test_multiplications_of_a_convolution_are_those_inside(
    window: tuple[Pair, Pair, Pair, Pair, Padding], groups: int
) -> None:
    size, kernel, strides, dilation, padding = window
    attrs = conv2d.Conv2DAttrs(strides, dilation, padding, Activation.NONE, Rounding.DOUBLE)
    data, weight = (2, *size, 6), (4, *kernel, 6 // groups)
    node, graph = _node("nn.conv2d", attrs, data, weight)
    found = conv2d.sums(attrs, np.ones(data), np.ones(weight), 0).sum()
    assert work(node, graph)["mac"] == found
    parts = work(node, graph)
    assert parts["mac"] == parts["block_value"] * 4 + parts["rest_value"]
    assert parts["block_value"] == parts["block_quad"] * 4 + parts["block_left"]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("multiplier", [1, 3])
def test_multiplications_of_a_depthwise_convolution_are_those_inside(
    window: tuple[Pair, Pair, Pair, Pair, Padding], multiplier: int
) -> None:
    size, kernel, strides, dilation, padding = window
    attrs = depthwise_conv2d.DepthwiseConv2DAttrs(
        strides, dilation, padding, multiplier, Activation.NONE, Rounding.DOUBLE
    )
    data, weight = (2, *size, 5), (1, *kernel, 5 * multiplier)
    node, graph = _node("nn.depthwise_conv2d", attrs, data, weight)
    found = depthwise_conv2d.sums(attrs, np.ones(data), np.ones(weight), 0).sum()
    assert work(node, graph)["mac"] == found
    parts = work(node, graph)
    assert parts["mac"] == parts["block_tap"] * 4 + parts["rest_tap"]


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_multiplications_of_a_transposed_convolution_are_those_inside(padding: Padding) -> None:
    size = (10, 9) if padding == "SAME" else (11, 9)
    attrs = conv2d_transpose.Conv2DTransposeAttrs(
        (2, 3), padding, size, Activation.NONE, Rounding.DOUBLE
    )
    data, weight = (1, 5, 3, 6), (7, 3, 3, 6)
    node, graph = _node("nn.conv2d_transpose", attrs, data, weight)
    found = conv2d_transpose.transposed(np.ones(data), np.ones(weight), attrs).sum()
    assert work(node, graph)["mac"] == found


def test_work_of_a_small_layer_is_as_counted_by_hand() -> None:
    b = graphs.Builder()
    b.dense(b.int8(3, 10), 6)
    found = work(b.nodes[0], b.graph("layer0"))
    assert (found["call"], found["output"], found["pixel"], found["mac"]) == (1, 18, 3, 180)
    assert (found["block_pixel"], found["rest_pixel"]) == (3, 6)  # one block of four, two features
    assert (found["block_quad"], found["block_left"], found["rest_value"]) == (6, 6, 60)
    assert found["rounded_once"] == 18


def test_ops_without_products_have_no_multiplications() -> None:
    b = graphs.Builder()
    data = b.int8(2, 8)
    b.add(data, data)
    found = work(b.nodes[0], b.graph("layer0"))
    assert (found["output"], found["input"], found["row"], found["part"]) == (16, 16, 2, 2)
    assert "mac" not in work(b.nodes[0], b.graph("layer0"))


def test_every_cpu_has_a_core_that_stands_for_it() -> None:
    found = {name: cost.measured_core(cpu) for name, cpu in CPUS.items()}
    assert [name for name, core in found.items() if core is None] == ["host"]
    assert (
        found
        | {
            **dict.fromkeys(("cortex-m0", "cortex-m0plus", "cortex-m23"), "cortex-m0"),
            **dict.fromkeys(
                ("cortex-m3", "cortex-m33-nodsp-nofp", "cortex-m33-nodsp"), "cortex-m3"
            ),
            **dict.fromkeys(("cortex-m4", "cortex-m4f"), "cortex-m4f"),
            **dict.fromkeys(("cortex-m7", "cortex-m7f-sp", "cortex-m7f"), "cortex-m7f"),
            **dict.fromkeys(("cortex-m33-nofp", "cortex-m33"), "cortex-m33"),
            **dict.fromkeys(
                ("cortex-m55-nofp", "cortex-m55-nomve.fp", "cortex-m55", "cortex-m85"), "cortex-m55"
            ),
            **dict.fromkeys(("rv32imc", "rv32imac", "rv32imafc"), "rv32imac"),
        }
        == found
    )
    assert all(tables.board(core).qemu for core in cost.cores())


@pytest.fixture
def dense() -> tuple[Node, Graph]:
    b = graphs.Builder()
    b.dense(b.int8(2, 10), 8)
    return b.nodes[0], b.graph("layer0")


def _given(monkeypatch: pytest.MonkeyPatch, core: str, **more: object) -> None:
    form = {
        "instructions": {"call": 100, "mac": 2.5},
        "cycles": {"output": 7.04},
        "code_bytes": {"call": 40, "block_pixel": 9, "rest_pixel": 900},
        "unseen": [],
        **more,
    }
    monkeypatch.setattr(cost, "table", lambda _symbol: {core: {"specialised": form}})


def test_a_cost_is_the_sum_of_work_times_coefficients(
    dense: tuple[Node, Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    _given(monkeypatch, "cortex-m3")
    found = _estimate("mg_dense_s8", dense, "cortex-m3")
    # 160 products and 16 outputs; bytes are those of the parts that there are
    assert found == cost.Cost(instructions=500, cycles=113, code_bytes=49)
    assert _estimate("mg_dense_s8", dense, "cortex-m33-nodsp") == found


def _estimate(
    symbol: str, layer: tuple[Node, Graph], cpu: str, *, shared: bool = False
) -> cost.Cost | None:
    return cost.estimate(IMPLEMENTATIONS[symbol], *layer, CPUS[cpu], shared=shared)


def test_what_was_not_measured_is_not_estimated(
    dense: tuple[Node, Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cost.table("mg_no_such_kernel") == {}
    _given(monkeypatch, "cortex-m3")
    assert _estimate("mg_dense_s8", dense, "cortex-m3", shared=True) is None
    assert _estimate("mg_dense_s8", dense, "cortex-m0") is None
    assert _estimate("mg_dense_s8", dense, "host") is None
    _given(monkeypatch, "cortex-m3", unseen=["rounded_once"])
    assert _estimate("mg_dense_s8", dense, "cortex-m3") is None


def test_floats_need_an_fpu_like_that_of_the_measured_core(monkeypatch: pytest.MonkeyPatch) -> None:
    b = Builder()
    node = shapes.FIT["nn.dense"][0](b, DType.FLOAT32, 8)
    for core, same, other in (
        ("cortex-m4f", "cortex-m4f", "cortex-m4"),
        ("cortex-m3", "cortex-m33-nodsp-nofp", "cortex-m33-nodsp"),
    ):
        _given(monkeypatch, core)
        assert _estimate("mg_dense_f32", (node, b.graph()), same)
        assert _estimate("mg_dense_f32", (node, b.graph()), other) is None


def _layer(symbol: str) -> tuple[Implementation, Node, Graph]:
    """A kernel, and the first of the fit's layers that it can compute."""
    case = next(
        case
        for op, its_layers in shapes.FIT.items()
        for kernel in registry()[op]
        if kernel.symbol == symbol
        for case in layer_costs.fitting(kernel, its_layers)
    )
    builder = Builder()
    return case.kernel, case.build(builder), builder.graph()


@pytest.mark.parametrize("symbol", OF_KERNELS)
def test_tables_are_of_kernels_and_name_their_work(symbol: str) -> None:
    kernel, node, graph = _layer(symbol)
    names = kernel.work(node, graph).keys()
    table = cost.table(symbol)
    assert table
    assert table.keys() <= set(cost.cores())
    for core, forms in table.items():
        assert kernel.needs <= CPUS[core].features
        assert forms.keys() <= {cost.SPECIALISED, cost.SHARED}
        for form, found in forms.items():
            fitted = [found[name] for name in ("instructions", "cycles", "code_bytes")]
            assert all(coefficients.keys() <= names for coefficients in fitted)
            assert all(c > 0 and math.isfinite(c) for each in fitted for c in each.values())
            assert set(found["unseen"]) <= names
            assert found.get("shared_bytes", 0) > 0 or form == cost.SPECIALISED
            assert cost.estimate(kernel, node, graph, CPUS[core], shared=form == cost.SHARED)


@pytest.mark.parametrize("core", cost.cores())
def test_every_kernel_has_costs_where_there_is_a_choice(core: str) -> None:
    missing = costs.missing(core)
    assert not missing, "run scripts/measure.py --missing"


def test_a_kernel_without_costs_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    table = cost.table
    gone = ("mg_conv2d_1x1_s8_dsp", "mg_softmax_s8")
    monkeypatch.setattr(cost, "table", lambda name: {} if name in gone else table(name))
    assert set(costs.missing("cortex-m4f")) == set(gone)
    alone = "mg_pad"
    monkeypatch.setattr(cost, "table", lambda name: {} if name == alone else table(name))
    assert costs.missing("cortex-m4f") == []


def test_a_function_that_kernels_share_has_one_size_on_a_core() -> None:
    """Otherwise the scheduler would count it twice."""
    found: dict[tuple[str, str], set[int]] = {}
    for symbol in OF_KERNELS:
        own = set(IMPLEMENTATIONS[symbol].cores)
        for core, forms in cost.table(symbol).items():
            for form in forms.values():
                assert form.get("cores", {}).keys() <= own
                for name, nbytes in form.get("cores", {}).items():
                    found.setdefault((core, name), set()).add(nbytes)
    assert found
    assert not {name: sizes for name, sizes in found.items() if len(sizes) > 1}


def test_what_kernels_share_is_in_the_estimate() -> None:
    kernel, node, graph = _layer("mg_conv2d_s8_paired_stack")
    found = cost.estimate(kernel, node, graph, CPUS["cortex-m4f"], shared=False)
    assert found is not None
    ((name, nbytes),) = found.cores
    assert name == "mg_paired_block_twice"
    assert found.bytes == found.code_bytes + found.shared_bytes + nbytes


def test_parts_that_a_layer_does_not_have_are_in_out_of_line_forms_only() -> None:
    """Its pixels are a multiple of four, so that none is computed on its own."""
    kernel, node, graph = _layer("mg_conv2d_s8_paired_stack")
    found = cost.estimate(kernel, node, graph, CPUS["cortex-m4f"], shared=True)
    assert found is not None
    assert [name for name, _ in found.cores] == ["mg_paired_block_twice", "mg_paired_pixel_twice"]


@pytest.mark.parametrize(
    ("symbol", "like"),
    [
        ("mg_conv2d_s8_upward_paired_stack", "mg_conv2d_s8_paired_stack"),
        ("mg_depthwise_conv2d_s8_upward_planes", "mg_depthwise_conv2d_s8_planes"),
        ("mg_dense_s8_upward_portable", "mg_dense_s8_twice_portable"),
        ("mg_conv2d_s8_nearest", "mg_conv2d_s8"),
        ("mg_depthwise_conv2d_s8_nearest", "mg_depthwise_conv2d_s8"),
        ("mg_conv2d_s8_fpu_paired", "mg_conv2d_s8_paired"),
        ("mg_dense_s8_float_portable", "mg_dense_s8_twice_portable"),
    ],
)
def test_relays_roundings_cost_what_two_roundings_cost_until_they_are_measured(
    symbol: str, like: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what their requantizations add, which is nothing here: see test_samples.py."""
    table = cost.table
    monkeypatch.setattr(cost, "table", lambda name: {} if name.isupper() else table(name))
    _, node, graph = _layer(like)
    own, other = (
        cost.estimate(IMPLEMENTATIONS[name], node, graph, CPUS["cortex-m4f"], shared=False)
        for name in (symbol, like)
    )
    assert own is not None
    assert other is not None
    assert replace(own, cores=()) == replace(other, cores=())
    names = IMPLEMENTATIONS[symbol].cores
    assert own.cores == tuple(zip(names, (n for _, n in other.cores), strict=False))
    other_table = {symbol: {"cortex-m4f": {"specialised": _coefficients(call=7)}}}
    monkeypatch.setattr(cost, "table", lambda name: other_table.get(name, {}))
    found = cost.estimate(IMPLEMENTATIONS[symbol], node, graph, CPUS["cortex-m4f"], shared=False)
    assert found == cost.Cost(instructions=7, cycles=7, code_bytes=7)


def _coefficients(**each: float) -> dict[str, object]:
    return {"unseen": [], **dict.fromkeys(("instructions", "cycles", "code_bytes"), each)}


def test_every_kernel_of_relays_roundings_has_a_cost() -> None:
    """Otherwise the first in the registry would be taken, whatever it costs."""
    ops = ("nn.conv2d", "nn.depthwise_conv2d", "nn.dense")
    kernels = [kernel for op in ops for kernel in registry()[op]]
    roundings = {"upward", "nearest", "float", "fpu"}
    found = [kernel for kernel in kernels if roundings & set(kernel.symbol.split("_"))]
    found = [kernel for kernel in found if "_offset" not in kernel.symbol]  # nor are the others
    assert len(found) > 15
    assert not [
        (kernel.symbol, core)
        for kernel in found
        for core in cost.cores()
        if kernel.needs <= CPUS[core].features and core not in _table(kernel)
    ]


def _table(kernel: Implementation) -> Mapping[str, object]:
    like = kernel.measured_as
    return cost.table(kernel.symbol) or (cost.table(like.symbol) if like else {})
