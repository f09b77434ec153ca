"""Functions of two int8 values, which a proof compares for all 65,536 pairs.

The result of a proof is a constant of the kernel: ``scales`` of the operands and the output, and
arguments that identify the function. ``microgen/verifier/checks/proofs.py`` computes the function
from these again and compares it with the kernel's form, without the search.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from microgen.graph.arithmetic.affine import Affine
from microgen.graph.arithmetic.int8 import activation_range
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Graph, Node, Quant
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands
from microgen.graph.ops.elementwise.rescaled import RescaledAttrs
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast
from microgen.kernels.requantization import proven
from microgen.target.cpu import Feature

_VALUES = np.arange(-128, 128, dtype=np.int8)


@dataclasses.dataclass(frozen=True, slots=True)
class OperandPair:
    """An operator on two int8 values. ``lhs``, ``rhs`` and ``output`` are their quantizations."""

    op: str
    attrs: Attrs
    lhs: Quant
    rhs: Quant
    output: Quant

    @property
    def quants(self) -> tuple[Quant, Quant, Quant]:
        """The quantizations of both operands and the output."""
        return self.lhs, self.rhs, self.output

    @property
    def activation(self) -> Activation:
        """The operator's fused activation."""
        found: Activation = getattr(self.attrs, "activation", Activation.NONE)
        return found

    @property
    def limits(self) -> tuple[int, int]:
        """The range to which its results are clamped."""
        return activation_range(self.activation, self.output, DType.INT8)

    def results(self) -> Array:
        """The reference's results for all pairs: int8 [256, 256], lhs along the first axis."""
        shapes = ((256, 1), (1, 256), (256, 256))
        lhs, rhs, output = (
            ArrayType(shape, DType.INT8, quant)
            for shape, quant in zip(shapes, self.quants, strict=True)
        )
        values = _VALUES.reshape(lhs.shape), _VALUES.reshape(rhs.shape)
        (found,) = registry()[self.op].reference(
            self.attrs, Operands(values, (lhs, rhs), (output,))
        )
        return found


def pair(node: Node, graph: Graph) -> OperandPair | None:
    """The function of each pair of elements, None if they are not int8."""
    (lhs, rhs), output = base.types(node, graph)
    attrs = node.attrs
    if any(kind.dtype is not DType.INT8 or not kind.quant for kind in (lhs, rhs, output)):
        return None
    if isinstance(attrs, RescaledAttrs):
        # Relay's qnn operators have scales and zero points as attributes of their own.
        scales = (attrs.lhs_scale, attrs.rhs_scale, attrs.output_scale)
        zeros = (attrs.lhs_zero_point, attrs.rhs_zero_point, attrs.output_zero_point)
        quants = [Quant((s,), (z,)) for s, z in zip(scales, zeros, strict=True)]
        return OperandPair(node.op, attrs, *quants)
    if lhs.quant is None or rhs.quant is None or output.quant is None:
        return None
    return OperandPair(node.op, attrs, lhs.quant, rhs.quant, output.quant)


def scales(of: OperandPair) -> tuple[float, ...]:
    """The scales of both operands and the output, rounded to float32."""
    return tuple(float(np.float32(quant.scale[0])) for quant in of.quants)


def arguments(of: OperandPair) -> proven.Arguments:
    """Everything except the scales that decides the results."""
    rounding = getattr(of.attrs, "rounding", None)
    in_float32 = (("in_float32", 1),) if getattr(of.attrs, "in_float32", False) else ()
    return (
        ("op", of.op),
        ("lhs_zero_point", of.lhs.zero_point[0]),
        ("rhs_zero_point", of.rhs.zero_point[0]),
        ("output_zero_point", of.output.zero_point[0]),
        ("activation", of.activation.value),
        ("rounding", "" if rounding is None else rounding.value),
        ("float32_scales", int(getattr(of.attrs, "float32_scales", False))),
        ("double_scales", int(getattr(of.attrs, "double_scales", False))),
        *in_float32,
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PairForm:
    """A formula that kernels compute for two values. A search finds its numbers for a node."""

    kind: str  # the transform that makes the kernels' constant
    # None if it finds no numbers that are exact for all pairs
    search: Callable[[OperandPair], Affine | None]
    missing: str  # the refusal then
    fields: Callable[[OperandPair, Affine], base.Fields]  # of the kernels' structs, after the rows'
    numbers: Callable[[Affine], proven.Arguments]  # the recorded part of a result

    def kernel(self, symbol: str, needs: frozenset[Feature]) -> base.Implementation:
        """The kernel ``symbol`` of rows."""
        made = broadcast.row_kernel(symbol, needs, self._refusal, self._params)
        return dataclasses.replace(made, constants=self._constants)

    def _refusal(self, node: Node, graph: Graph) -> str | None:
        of = pair(node, graph)
        if of is None:
            return base.Mismatch(base.Trait.DTYPE, "it does not compute int8")
        # The search is last because it computes all pairs. Its results are kept.
        refusal = broadcast.too_many_for_rows(node, graph)
        return refusal or (None if self.search(of) else self.missing)

    def _found(self, node: Node, graph: Graph) -> tuple[OperandPair, Affine]:
        of = pair(node, graph)
        found = of and self.search(of)
        assert of, "the kernel was not refused"
        assert found, "the kernel was not refused"
        return of, found

    def _params(self, node: Node, graph: Graph) -> base.Fields:
        return (*broadcast.in_rows(node, graph), *self.fields(*self._found(node, graph)))

    def _constants(self, node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
        of, found = self._found(node, graph)
        recorded = (*arguments(of), *self.numbers(found))
        return proven.coefficient(node, self.kind, scales(of), recorded)
