"""Type relations that several ops share."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType


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
    for name, found in zip(names, types, strict=True):
        if found.dtype != types[0].dtype:
            raise ValueError(
                f"{name} is {found}, expected dtype {types[0].dtype}, that of {names[0]}"
            )


def broadcast_shapes(names: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which ``shapes`` broadcast, by numpy's rules."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    out = []
    for dims in zip(*padded, strict=True):
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


def vector(name: str, found: TensorType, length: int, dtype: str) -> None:
    """Raise ValueError unless ``found`` is a vector of ``length`` values of ``dtype``."""
    expected = TensorType((length,), dtype)
    if found != expected:
        raise ValueError(f"{name} is {found}, expected {expected}")


def one_of(name: str, found: TensorType, dtypes: Sequence[str]) -> None:
    """Raise ValueError unless the dtype is one of ``dtypes``."""
    if found.dtype not in dtypes:
        raise ValueError(f"{name} is {found}, expected dtype {' or '.join(dtypes)}")


def fits(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise ValueError unless an attribute's value is one of ``choices``."""
    if value not in choices:
        raise ValueError(f"{name} is {value[:40]!r}, expected {' or '.join(map(repr, choices))}")
