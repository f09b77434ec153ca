"""nn.dense and nn.batch_matmul: products of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op.base import Field, Kind, RelayOp

# DenseAttrs. ``units`` may be None, but is always printed, as in TVM.
FIELDS = (
    Field("units", Kind.INT, built=None, nullable=True),
    Field("out_dtype", Kind.DTYPE, ""),
)


def relation(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of data @ weight.T for a weight of shape (units, inputs)."""
    data, weight = types[0], types[1]
    if not data.shape:
        raise ValueError("data is a scalar, expected at least one axis")
    units = attrs["units"] if attrs["units"] is not None else (weight.shape or (0,))[0]
    if weight.shape != (units, data.shape[-1]):
        raise ValueError(
            f"weight has shape {list(weight.shape)}, expected {[units, data.shape[-1]]}"
        )
    return TensorType((*data.shape[:-1], units), attrs["out_dtype"] or data.dtype)


def _swapped(shape: tuple[int, ...], swap: bool) -> tuple[int, ...]:
    return (*shape[:-2], shape[-1], shape[-2]) if swap else shape


def batch_matmul(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of types[0] @ types[1] for each batch, transposed according to the attributes."""
    for name, found in zip(("tensor_a", "tensor_b"), types, strict=True):
        if len(found.shape) != 3:
            raise ValueError(f"{name} is {found}, expected three axes")
    a = _swapped(types[0].shape, attrs["transpose_a"])
    b = _swapped(types[1].shape, attrs["transpose_b"])
    if a[2] != b[1] or (1 not in (a[0], b[0]) and a[0] != b[0]):
        raise ValueError(f"cannot multiply {list(a)} by {list(b)} (after transposition)")
    return TensorType(
        (a[0] if b[0] == 1 else b[0], a[1], b[2]), attrs["out_dtype"] or types[0].dtype
    )


# BatchMatmulAttrs.
BATCH_MATMUL = (
    Field("out_dtype", Kind.DTYPE, ""),
    Field("transpose_a", Kind.BOOL, False),
    Field("transpose_b", Kind.BOOL, False, built=True),
)

OPS = (
    RelayOp("nn.dense", ("data", "weight"), FIELDS, relation),
    RelayOp("nn.batch_matmul", ("tensor_a", "tensor_b"), BATCH_MATMUL, batch_matmul),
)
