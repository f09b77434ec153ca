"""What TensorFlow Lite Micro with CMSIS-NN takes for layers that ``--codegen cmsis-nn`` leaves to
our kernels, in instructions.

Of int8: figures of layers of other people's networks that run with both, and for transposed
convolutions those of CMSIS-NN 7.0.0's function alone, as for int16. Of float32: the least of eight
networks, whose convolutions and dense layers are TensorFlow Lite Micro's own. Of several shapes the
least figure is taken. Where there is none, ours is taken for the peer's, too: a ratio of 1, though
the peer's portable kernels are slower.
"""

from __future__ import annotations

from collections.abc import Mapping

from scripts.bench.other.kinds import Layer

CORES = {"mps2_an386": 0, "mps3_an547": 1}
# Instructions for each multiply-accumulate, and for each element of the result: of Cortex-M4, and
# of Cortex-M55. An LSTM's elements are its state at each step.
Figure = tuple[tuple[float, float], tuple[float, float]]
_KNOWN: Mapping[str, Mapping[str, Figure]] = {
    "int8": {
        "batch_matmul": ((2.0, 54), (0.6, 19)),
        "lstm": ((1.65, 680), (0.52, 340)),
        "conv2d_transpose": ((4.2, 0), (2.4, 0)),
        "concatenate": ((0, 2.7), (0, 3.3)),
        "pad": ((0, 2.1), (0, 0.2)),
        "quantize": ((0, 33), (0, 14)),
        "elu": ((0, 37), (0, 29)),
    },
    "float32": {
        "conv2d": ((9.4, 0), (8.4, 0)),
        "depthwise": ((20, 0), (19, 0)),
        "dense": ((8, 0), (7, 0)),
        "conv2d_transpose": ((9.4, 0), (8.4, 0)),
        "lstm": ((8.5, 0), (7.3, 0)),
    },
    "int16": {
        "conv2d": ((1.7, 70), (0.4, 50)),
        "depthwise": ((6, 55), (4.5, 42)),
        "dense": ((2.55, 0), (1.25, 0)),
    },
}
# With more input channels a transposed convolution is computed as a convolution of an image with
# zeros between its pixels.
_MANY, _REVERSED = 16, ((8.0, 0), (1.35, 0))


def of_layer(layer: Layer, kind: str, board: str) -> int | None:
    """Instructions of the peer for a layer of a network of a kind, or None where no figure is
    known."""
    known = _KNOWN[kind]
    name = layer.kind if layer.kind in known else layer.kind.partition(",")[0].partition(" ")[0]
    if name not in known:
        return None
    figure = known[name]
    if kind == "int8" and name == "conv2d_transpose" and _depth(layer) > _MANY:
        figure = _REVERSED
    each, elements = figure[CORES[board]]
    return round(each * layer.macs + elements * layer.elements)


def _depth(layer: Layer) -> int:
    """The channels of the input."""
    return layer.graph.types[layer.node.inputs[0]].shape[3]
