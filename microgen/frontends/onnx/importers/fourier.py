"""Fourier transforms of static length, as products with constant matrices; and the windows and mel
filters with which networks use them, which are constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from microgen.frontends.onnx import move_nodes, types
from microgen.frontends.onnx.composing import binary
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.move_nodes import cut, transposed
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs

_NOTHING = 1e-12  # sines and cosines below it are roundings of 0
_HANN = (0.5, 0.5, 0.0)
_HAMMING = (25 / 46, 21 / 46, 0.0)
_BLACKMAN = (0.42, 0.5, 0.08)


def _dft(node: OnnxNode) -> BuiltTensor:
    """The transform as a product of matrices: rows along the axis, with the real and imaginary part
    of each element, times the powers of the root of unity."""
    data, axis, size = node.tensor(0), *_axis(node)
    parts = data.shape[-1]
    inverse, onesided = (bool(node.attr(name, 0)) for name in ("inverse", "onesided"))
    is_real = inverse and onesided
    if parts not in (1, 2) or (onesided and parts != 1 + inverse):
        raise node.invalid(f"has values of {parts} parts; 1 is real, 2 are complex")
    # An inverse with real results reads the first half of a symmetrical spectrum, N / 2 + 1
    # elements.
    length = _length(node, 1, 2 * (size - 1) if is_real else size)
    read = min(size, length // 2 + 1 if is_real else length)
    made = length if is_real or not onesided else length // 2 + 1
    if is_real:
        matrix = _inverse_of_real(node, length, read)
    else:
        powers = _powers(node, length, (made, read), 1 if inverse else -1)
        matrix = powers[..., :parts] / (length if inverse else 1)
    return _along(node, cut(node, data, axis, 0, read), axis, matrix)


def _axis(node: OnnxNode) -> tuple[int, int]:
    """The axis and its size. The axis is an attribute before opset 20, then an operand."""
    data = node.tensor(0, DType.FLOAT32)
    rank = len(data.shape)
    if rank < 2:
        raise node.invalid(f"has the input {data.type}; an axis and parts of numbers are expected")
    if node.version < 20:
        stated = int(node.attr("axis", 1))
    else:
        stated = -2 if node.optional(2) is None else int(move_nodes.number_of(node, 2, "axis"))
    axis = arguments.checked_axis(node, stated, rank)
    if axis == rank - 1:
        raise node.invalid(f"has the axis {stated}, which has the parts of numbers")
    return axis, data.shape[axis]


def _length(node: OnnxNode, position: int, default: int) -> int:
    """The number of elements that are transformed."""
    is_stated = node.optional(position) is not None
    size = int(move_nodes.number_of(node, position, "length")) if is_stated else default
    if size < 1:
        raise node.invalid(f"has the length {size}; 1 or more is expected")
    return size


def _powers(node: OnnxNode, length: int, shape: tuple[int, int], sign: int) -> Array:
    """The coefficients from the real and imaginary parts of each input to the real and imaginary
    parts of each output: float64 [outputs, 2, inputs, 2].
    """
    made, read = shape
    move_nodes.budgeted(node, (made, 2, read, 2), DType.FLOAT32)
    # Exponents are whole numbers modulo the length, so that no angle is large and loses digits.
    exponents = np.outer(np.arange(made, dtype=np.int64), np.arange(read, dtype=np.int64)) % length
    angles = 2 * np.pi / length * exponents
    # Roundings of 0 become 0, so that products with them add nothing.
    cosines, sines = (
        np.where(np.abs(v) < _NOTHING, 0, v) for v in (np.cos(angles), np.sin(angles))
    )
    # (a + bi) (cos + i sin) = a cos - b sin + i (a sin + b cos)
    rows = [np.stack([cosines, -sign * sines], -1), np.stack([sign * sines, cosines], -1)]
    return np.stack(rows, 1)


def _inverse_of_real(node: OnnxNode, length: int, read: int) -> Array:
    """The real parts of the inverse of a symmetrical transform, computed from the transform's first
    half."""
    matrix = _powers(node, length, (length, read), 1)[:, :1]
    # All elements but the first, and the middle one of an even length, count twice.
    counts = np.full(read, 2.0)
    counts[0] = 1
    if length % 2 == 0 and read == length // 2 + 1:
        counts[-1] = 1
    return np.asarray(matrix * counts[:, None] / length)


def _along(node: OnnxNode, data: BuiltTensor, axis: int, matrix: Array) -> BuiltTensor:
    """The data [..., axis, ..., parts] times a matrix [outputs, parts, inputs, parts]."""
    rank, (made, parts, read, read_parts) = len(data.shape), matrix.shape
    others = [k for k in range(rank - 1) if k != axis]
    moved = transposed(node, data, (*others, axis, rank - 1))
    sizes = [data.shape[k] for k in others]
    rows = node.reshaped(moved, (math.prod(sizes), read * read_parts))
    weight = _constant(node, matrix.reshape(made * parts, read * read_parts))
    attrs = DenseAttrs(Activation.UNLIMITED, Rounding.DOUBLE, keep_num_dims=False)
    result = node.reshaped(node.emit("nn.dense", attrs, (rows, weight)), (*sizes, made, parts))
    return transposed(node, result, (*range(axis), rank - 2, *range(axis, rank - 2), rank - 1))


def _stft(node: OnnxNode) -> BuiltTensor:
    """A convolution whose filters are the powers of the root of unity, times the window."""
    data, window = node.tensor(0, DType.FLOAT32), node.optional(2)
    if len(data.shape) != 3 or data.shape[2] not in (1, 2):
        raise node.invalid(f"has the signal {data.type}; [batch, length, 1 or 2] is expected")
    batches, size, parts = data.shape
    onesided, step = bool(node.attr("onesided", 1)), int(move_nodes.number_of(node, 1, "step"))
    length = _length(node, 3, window.type.size if window else size)
    if not 1 <= length <= size or step < 1 or (onesided and parts == 2):
        raise node.invalid(
            f"has frames of {length} by steps of {step}, onesided={int(onesided)}, for {data.type}"
        )
    made = length // 2 + 1 if onesided else length
    matrix = _powers(node, length, (made, length), -1)[..., :parts]
    filters = _constant(node, matrix.reshape(2 * made, 1, length, parts))
    if window is not None:
        node.expect(window, DType.FLOAT32)
        if window.shape != (length,):
            raise node.invalid(f"has the window {window.type} for frames of {length}")
        filters = binary(node, "multiply", filters, node.reshaped(window, (1, 1, length, 1)))
    attrs = Conv2DAttrs((1, step), (1, 1), "VALID", Activation.UNLIMITED, Rounding.DOUBLE)
    # The signal is an image of height 1, whose channels are the parts of numbers.
    image = node.reshaped(data, (batches, 1, size, parts))
    spectrum = node.emit("nn.conv2d", attrs, (image, filters))
    return node.reshaped(spectrum, (batches, spectrum.shape[2], made, 2))


def _window(terms: Sequence[float]) -> Callable[[OnnxNode], BuiltTensor]:
    """The importer of a sum of cosines. Its size is a constant, or declared for its output."""

    def importer(node: OnnxNode) -> BuiltTensor:
        declared = node.declared_for(0)
        size = declared[0] if declared else int(move_nodes.number_of(node, 0, "size"))
        dtype = types.dtype(int(node.attr("output_datatype", 1)), "the output", node.where)
        move_nodes.budgeted(node, (size,), dtype)
        # A periodic window is a symmetric window with one more element, without its last element.
        steps = size if node.attr("periodic", 1) else size - 1
        angles = 2 * np.pi * np.arange(size) / max(steps, 1)
        values = terms[0] - terms[1] * np.cos(angles) + terms[2] * np.cos(2 * angles)
        return node.constant(values.astype(dtype.numpy), "window")

    return importer


def _mel_weights(node: OnnxNode) -> BuiltTensor:
    """Source: MelWeightMatrix of ONNX, whose band edges (two more than bands) are at equal
    distances, from the lower edge on, on a scale that is logarithmic in the frequency.
    """
    names = ("number of bands", "length", "rate", "lower edge", "upper edge")
    bands, length, rate, low, high = (move_nodes.number_of(node, i, n) for i, n in enumerate(names))
    dtype = types.dtype(int(node.attr("output_datatype", 1)), "the output", node.where)
    if min(bands, length, rate) < 1 or not -700 < low < high:
        raise node.invalid(f"has {bands} bands from {low} to {high} of {length} values")
    kind = move_nodes.budgeted(node, (int(length) // 2 + 1, int(bands)), dtype)
    # The mel scale is 2595 log10(1 + f / 700); its factor cancels.
    edges = np.log10(1 + np.array([low, high]) / 700)
    places = edges[0] + (edges[1] - edges[0]) / (bands + 2) * np.arange(bands + 2)
    bins = np.floor((length + 1) * (700 * (10**places - 1)) / rate).astype(np.int64)
    if bins.min() < 0 or bins.max() >= kind.shape[0]:
        raise node.invalid(f"has bands up to place {bins.max()} of {kind.shape[0]}")
    return node.constant(_triangles(bins, kind.shape[0]).astype(dtype.numpy), "mel")


def _triangles(bins: Array, size: int) -> Array:
    """Triangles as columns, float64 [size, bands]: column k rises from 0 at edge k to 1 at edge k +
    1 and falls to 0 at edge k + 2. If two edges are equal, the side between them is vertical."""
    left, centre, right = bins[:-2], bins[1:-1], bins[2:]
    at = np.arange(size)[:, None]
    with np.errstate(all="ignore"):
        rising, falling = (at - left) / (centre - left), (right - at) / (right - centre)
    heights = np.where((at >= left) & (at <= centre) & (centre > left), rising, 0)
    heights = np.where((at == centre) & (centre == left), 1, heights)
    return np.where((at >= centre) & (at < right), falling, heights)


def _constant(node: OnnxNode, values: Array) -> BuiltTensor:
    return node.constant(np.ascontiguousarray(values, np.float32), "roots")


IMPORTERS = {
    "BlackmanWindow": _window(_BLACKMAN),
    "DFT": _dft,
    "HammingWindow": _window(_HAMMING),
    "HannWindow": _window(_HANN),
    "MelWeightMatrix": _mel_weights,
    "STFT": _stft,
}
