"""layout_transform: the axes in another order, each named by a letter.

Source: TVM topi/transform.h, layout_transform, of layouts that split no axis: a transpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.graph.ir.graph import Attrs, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Shape, one_input
from microgen.graph.ops.constraints import unchanged
from microgen.graph.ops.cost import moved
from microgen.graph.ops.moves import transpose


@dataclass(frozen=True, slots=True)
class LayoutTransformAttrs(Attrs):
    """Input: data of any dtype. A layout has one upper-case letter per axis, outermost first:
    "NCHW" is the default of Relay's 2-D ops, and kernels compute in "NHWC"."""

    src_layout: str
    dst_layout: str

    @property
    def axes(self) -> tuple[int, ...]:
        """Axis k of the output is axis ``axes[k]`` of the data."""
        return tuple(self.src_layout.index(letter) for letter in self.dst_layout)


def infer(attrs: LayoutTransformAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The sizes in their new order."""
    one_input("layout_transform", inputs)
    source, target = attrs.src_layout, attrs.dst_layout
    letters = set(source)
    is_order = len(letters) == len(source) and sorted(source) == sorted(target)
    if not is_order or not (source.isupper() and source.isalpha()):
        raise ValueError(f"{target!r} is not an order of the axes of {source!r}")
    shape = inputs[0].shape
    if len(shape) != len(source):
        raise ValueError(
            f"the input {inputs[0]} does not have the {len(source)} axes of {source!r}"
        )
    return (tuple(shape[axis] for axis in attrs.axes),)


def parts(_attrs: LayoutTransformAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("layout_transform",)


OP = Op(
    "layout_transform",
    LayoutTransformAttrs,
    infer,
    unchanged,
    transpose.reference,
    parts,
    cost=moved,
    bound=bounds.moves(transpose.reference),
)
