"""Shared by type relations: layouts (orders of axis letters), axes, paddings, windows, shapes."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op.base import AttributeKind, Field

Shape = tuple[int, ...]

# Attributes of windows over images, which several structs of TVM have.
STRIDES = Field("strides", AttributeKind.PAIR, (1, 1))
DILATION = Field("dilation", AttributeKind.PAIR, (1, 1))
PADDING = Field("padding", AttributeKind.PADS, (0, 0))
OUT_LAYOUT = Field("out_layout", AttributeKind.STR, "")


def _order(layout: str, letters: str, name: str) -> str:
    if sorted(layout) != sorted(letters):
        raise ValueError(f"{name} is {layout[:20]!r}, expected an order of the letters {letters}")
    return layout


def to_standard(shape: Shape, attrs: Attrs, name: str, letters: str = "NCHW") -> Shape:
    """The shape of a tensor whose layout is the attribute ``name``, with its axes in the order of
    ``letters``."""
    layout = _order(attrs[name], letters, name)
    if len(shape) != len(letters):
        raise ValueError(f"an argument has shape {list(shape)}, but {name} is {layout}")
    return tuple(shape[layout.index(letter)] for letter in letters)


def image(nchw: Shape, attrs: Attrs, name: str, dtype: str) -> TensorType:
    """The type of an image of this shape in the layout ``out_layout``. If that is missing or empty,
    it is the layout of the input, the attribute ``name``."""
    layout = _order(attrs.get("out_layout") or attrs[name], "NCHW", "out_layout")
    return TensorType(tuple(nchw["NCHW".index(letter)] for letter in layout), dtype)


def pads(padding: Sequence[int]) -> tuple[int, int, int, int]:
    """(top, left, bottom, right) of a padding of 1, 2 or 4 numbers."""
    # One number is for all sides; two are for top and bottom, and for left and right.
    if len(padding) == 1:
        padding = (*padding, *padding)
    if len(padding) == 2:
        padding = (*padding, *padding)
    top, left, bottom, right = padding
    if min(top, left, bottom, right) < 0:
        raise ValueError(f"padding is {list(padding)}, expected numbers of at least 0")
    return top, left, bottom, right


def positive(name: str, values: Sequence[int]) -> None:
    """Raise ValueError unless all ``values`` are at least 1."""
    if min(values, default=1) < 1:
        raise ValueError(f"{name} is {list(values)}, expected numbers of at least 1")


def axis_of(axis: int, rank: int, name: str = "axis") -> int:
    """The axis, which may be negative, as a number in [0, rank)."""
    if not -rank <= axis < rank:
        raise ValueError(f"{name} is {axis}, expected an axis of a tensor of rank {rank}")
    return axis % rank


def windows(size: int, window: int, stride: int, padded: int, ceil: bool = False) -> int:
    """The number of positions of a window of ``window`` (dilation included) along an axis."""
    room = size + padded - window
    if room < 0:
        raise ValueError(f"the window spans {window}, but the padded input only {size + padded}")
    # ceil_mode counts a last window that is only partly inside.
    return (room + (stride - 1 if ceil else 0)) // stride + 1


def spans(attrs: Attrs, kernel: Sequence[int]) -> list[tuple[int, int, int]]:
    """(window with dilation, stride, padding) of the rows, and of the columns."""
    for name in ("strides", "dilation"):
        positive(name, attrs[name])
    top, left, bottom, right = pads(attrs["padding"])
    dilated = [(k - 1) * d + 1 for k, d in zip(kernel, attrs["dilation"], strict=True)]
    return list(zip(dilated, attrs["strides"], (top + bottom, left + right), strict=True))


def identity(_attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of the first argument."""
    return types[0]


def floating(_attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of the first argument, which must have floats."""
    if not types[0].dtype.startswith("float"):
        raise ValueError(f"the argument is {types[0]}, expected a tensor of floats")
    return types[0]


def same_dtype(names: Sequence[str], types: Sequence[TensorType]) -> None:
    """Raise ValueError unless all have the dtype of the first."""
    for name, type_ in zip(names, types, strict=True):
        if type_.dtype != types[0].dtype:
            raise ValueError(
                f"{name} is {type_}, expected dtype {types[0].dtype}, that of {names[0]}"
            )


def broadcast_shapes(names: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which ``shapes`` broadcast, by numpy's rules."""
    rank = max(map(len, shapes))
    # Missing axes are the first ones.
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    out = []
    for dims in zip(*padded, strict=True):
        # A size of 1 broadcasts to any size, including 0.
        wanted = {d for d in dims if d != 1} or {1}
        if len(wanted) > 1:
            parts = [f"{n} has {list(s)}" for n, s in zip(names, shapes, strict=True)]
            raise ValueError(f"shapes do not broadcast: {', '.join(parts)}")
        out.append(wanted.pop())
    return tuple(out)


def broadcast(_attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of a binary op whose operands have the same dtype and broadcast."""
    names = ("lhs", "rhs")
    same_dtype(names, types)
    return TensorType(broadcast_shapes(names, [t.shape for t in types]), types[0].dtype)


def comparison(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type that ``broadcast`` returns, but with dtype bool."""
    return TensorType(broadcast(attrs, types).shape, "bool")


def vector(name: str, type_: TensorType, length: int, dtype: str) -> None:
    """Raise ValueError unless ``type_`` is a vector of ``length`` values of ``dtype``."""
    expected = TensorType((length,), dtype)
    if type_ != expected:
        raise ValueError(f"{name} is {type_}, expected {expected}")


def one_of(name: str, type_: TensorType, dtypes: Sequence[str]) -> None:
    """Raise ValueError unless the dtype is one of ``dtypes``."""
    if type_.dtype not in dtypes:
        raise ValueError(f"{name} is {type_}, expected dtype {' or '.join(dtypes)}")


def fits(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise ValueError unless an attribute's value is one of ``choices``."""
    if value not in choices:
        raise ValueError(f"{name} is {value[:40]!r}, expected {' or '.join(map(repr, choices))}")
