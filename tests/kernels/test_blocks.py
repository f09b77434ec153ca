"""What loops require of a layer."""

from __future__ import annotations

import pytest

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import blocks, named
from tests.support.graphs import Builder

COMPACT = (
    "mg_conv2d_s8_swar_3x4",
    "mg_depthwise_conv2d_s8_padded_rows",
    "mg_depthwise_conv2d_s8_rows",
    "mg_depthwise_conv2d_s8_c16_mve",
)


@pytest.mark.parametrize(
    ("value", "fits"), [(2**15 - 1, True), (2**15, False), (-(2**15), True), (-(2**15) - 1, False)]
)
def test_parameters_fit_16_bits(value: int, fits: bool) -> None:
    refusal = blocks.short((("batches", 1), ("input_width", value)))
    assert refusal == (
        None if fits else f"input_width is {value:,}, the kernel's parameters have 16 bits"
    )


def layer(symbol: str, width: int) -> tuple[Node, Graph]:
    b = Builder()
    data = b.input(1, 3, width, 16)
    if "depthwise" in symbol:
        graph = b.graph(b.depthwise(data, padding=(0, 0, 0, 0)))
    else:
        graph = b.graph(b.conv(data, 1, padding=(0, 0, 0, 0)))
    return graph.nodes[0], graph


@pytest.mark.parametrize("symbol", COMPACT)
def test_compact_kernels_refuse_longer_rows(symbol: str) -> None:
    kernel = named("nn.depthwise_conv2d" if "depthwise" in symbol else "nn.conv2d", symbol)
    assert kernel is not None
    assert kernel.code.compact
    assert kernel.refusal(*layer(symbol, 1000)) is None
    assert "16 bits" in (kernel.refusal(*layer(symbol, 2**15)) or "")
