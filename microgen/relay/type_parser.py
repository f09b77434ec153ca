"""Types in Relay text: ``Tensor[(1, 2), float32]``, ``float32``, ``(T, T)``, ``fn (T) -> T``."""

from __future__ import annotations

from microgen.relay.expr import DTYPES, FuncType, TensorType, TupleType, Type
from microgen.relay.infer_type import MAX_RANK
from microgen.relay.op.base import nearest
from microgen.relay.stream import TokenStream


def parse_type(stream: TokenStream) -> Type:
    """Read a type. Raises ModelError, or UnsupportedError for an unknown shape."""
    stream.deeper()
    if stream.accept("Tensor"):
        found: Type = _tensor(stream)
    elif stream.next.text == "(":
        found = TupleType(_fields(stream))
    elif stream.accept("fn"):
        params = _fields(stream)
        stream.expect("->")
        found = FuncType(params, parse_type(stream))
    else:
        found = TensorType((), _dtype(stream))
    stream.shallower()
    return found


def _dtype(stream: TokenStream) -> str:
    token = stream.next
    if token.kind != "name" or token.text not in DTYPES:
        hint = nearest(token.text, DTYPES) if token.kind == "name" else ""
        stream.found("a type, such as Tensor[(1, 2), float32] or float32", hint)
    return stream.take().text


def _tensor(stream: TokenStream) -> TensorType:
    stream.expect("[")
    start = stream.expect("(")
    dims: list[int | str] = []
    for _ in stream.items(")"):
        dims.append(_dim(stream))
        if len(dims) > MAX_RANK:
            stream.refuse(f"found a tensor of more than {MAX_RANK} axes", start)
    if any(isinstance(d, str) for d in dims):
        shape = ", ".join(map(str, dims))
        # TVM's sentence.
        stream.unsupported(f"Cannot allocate memory symbolic tensor shape [{shape}]", start)
    negative = [d for d in dims if isinstance(d, int) and d < 0]
    if negative:
        what = f"Cannot allocate memory for tensor with negative shape {negative[0]}"
        stream.unsupported(what, start)
    stream.expect(",")
    dtype = _dtype(stream)
    stream.expect("]")
    return TensorType(tuple(d for d in dims if isinstance(d, int)), dtype)


def _dim(stream: TokenStream) -> int | str:
    """An integer, or the text of a size that is known only at run time."""
    if stream.next.kind == "name" or stream.next.text == "?":
        return stream.take().text[:40]
    token = stream.next
    value = stream.number()
    if value.dtype.kind != "i":
        stream.refuse(f"found {token}, expected a dimension", token)
    return int(value)


def _fields(stream: TokenStream) -> tuple[Type, ...]:
    stream.expect("(")
    return tuple(parse_type(stream) for _ in stream.items(")"))
