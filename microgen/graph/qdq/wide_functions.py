"""Functions of single int16 values: by an op that has an int16 form, or by an interpolated table.

Neither computes exactly what the model defines (dequantized, computed in float32, quantized), so
each is compared with it for all 65,536 values. A form that is off by more than ``MOST_OFF`` steps
of the output is not taken, and one that is off at all if the results span few steps.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from microgen.graph.arithmetic import in_float32
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Node, Origin
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands
from microgen.graph.ops.quantization.rescale import RequantizeAttrs
from microgen.graph.ops.tables import tables
from microgen.graph.ops.unary.activations import ClipAttrs
from microgen.graph.qdq import bent_functions, functions
from microgen.graph.qdq.rewriting import NotInteger, Rewriting

MOST_OFF = 1  # steps of the output
_FEW = 2**8  # steps between the results: with fewer of them, one is a large part of a result
_OWN = ("abs", "clip", "negative", "nn.leaky_relu", "sigmoid", "tanh")
_LEAST, _MOST = -(2**15), 2**15 - 1
_EVERY = np.arange(_LEAST, _MOST + 1).astype(np.int16)
_BETWEEN = 2**7  # values between two entries of a table


def is_wide(data: ArrayType, output: ArrayType) -> bool:
    """Whether a function of ``data`` with that output is one of int16 values."""
    return data.dtype is DType.INT16 and output.dtype is DType.INT16


def own_form(
    rewriting: Rewriting, tensor: str, result: tuple[ArrayType, str, Origin]
) -> str | None:
    """The integers by one op that has an int16 form; None if there is none that is near enough."""
    kind, name, origin = result
    node = _only_step(rewriting, tensor)
    if node is None:
        return _bent(rewriting, tensor, result)
    op, attrs = node
    integers = rewriting.source[tensor]
    data = dataclasses.replace(rewriting.types[integers], shape=_EVERY.shape)
    output = dataclasses.replace(kind, shape=_EVERY.shape)
    if registry()[op].check(attrs, (data,), (output,)) is not None:
        return None
    (stored,) = registry()[op].reference(attrs, Operands((_EVERY,), (data,), (output,)))
    expected = _expected(rewriting, tensor, kind)
    if expected is None or not _is_near(stored, expected):
        return None
    return rewriting.emit(op, attrs, (integers,), kind, name, origin)


def _bent(rewriting: Rewriting, tensor: str, result: tuple[ArrayType, str, Origin]) -> str | None:
    """The integers of HardSigmoid or HardSwish by a few ops; None if it is another function, or if
    they are too far off."""
    node, integers = rewriting.producers[tensor], rewriting.source[tensor]
    if node.inputs[0] not in rewriting.meaning:
        return None
    data = rewriting.types[integers]
    for plan in bent_functions.plans(node, data, result[0]):
        expected = _expected(rewriting, tensor, result[0])
        stored = bent_functions.computed(plan, _EVERY, data)
        if expected is not None and stored is not None and _is_near(stored, expected):
            return bent_functions.emitted(rewriting, plan, integers, result)
    return None


def _only_step(rewriting: Rewriting, tensor: str) -> tuple[str, Attrs] | None:
    """The op of a function of one step, and its attributes for integers."""
    if tensor in rewriting.meaning:
        return "qnn.requantize", RequantizeAttrs()
    node: Node = rewriting.producers[tensor]
    if node.op not in _OWN or node.inputs[0] not in rewriting.meaning:
        return None
    # Integers saturate, so they have one kind of Relu.
    if node.attrs == ClipAttrs(Activation.RELU_UNLIMITED):
        return node.op, ClipAttrs(Activation.RELU)
    return node.op, node.attrs


def table(rewriting: Rewriting, tensor: str, output: ArrayType) -> Array | None:
    """The table of ``tensor`` as op ``lookup`` interpolates it: int16[513]. None if the function
    has no result for a value. NotInteger if an interpolated value is too far from the function.

    An entry differs from the function by half the error of interpolation in the middle between it
    and its neighbours, so that the error is spread evenly.
    """
    data = rewriting.types[rewriting.source[tensor]]
    expected = _expected(rewriting, tensor, output)
    at = np.arange(_LEAST, _MOST + 2, _BETWEEN // 2).astype(np.int64)
    found = functions.evaluated(rewriting, tensor, in_float32.real(at, data))
    if found is None or expected is None or not np.isfinite(found).all():
        return None
    exact = found.astype(np.float64) / output.scale
    entries, middles = exact[::2], exact[1::2]
    error = (entries[:-1] + entries[1:]) / 2 - middles
    ends = np.pad(error, 1, mode="edge")
    fitted = entries - (ends[:-1] + ends[1:]) / 4
    values = np.clip(np.rint(fitted), _LEAST, _MOST).astype(np.int16)
    stored = tables.interpolated(values, _EVERY)
    if not _is_near(stored, expected):
        off = int(np.abs(stored.astype(np.int64) - expected).max())
        raise NotInteger(
            f"interpolated between {tables.ENTRIES} entries of a table, is up to {off} steps of "
            "its output off"
        )
    return values


def _expected(rewriting: Rewriting, tensor: str, output: ArrayType) -> Array | None:
    """The stored results that the model defines, int64[65536]."""
    data = rewriting.types[rewriting.source[tensor]]
    found = functions.evaluated(rewriting, tensor, in_float32.real(_EVERY, data))
    if found is None:
        return None
    return np.asarray(np.clip(in_float32.stored(found, output), _LEAST, _MOST))


def _is_near(stored: Array, expected: Array) -> bool:
    """Whether the results are near enough to those that the model defines."""
    most = MOST_OFF if np.ptp(expected) >= _FEW else 0
    return bool((np.abs(stored.astype(np.int64) - expected) <= most).all())
