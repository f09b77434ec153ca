"""QuantizeLinear: the integers that are computed for it, by a table, by a layer of integers, or by
quantizing floats."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, ArrayType, DType, Node, Origin
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands
from microgen.graph.ops.quantization.conversions import QuantizeAttrs
from microgen.graph.ops.tables.tables import LookupAttrs
from microgen.graph.ops.unary.unary import EVERY_INT8
from microgen.graph.qdq import functions, moves, wide_functions
from microgen.graph.qdq.functions import Clamp
from microgen.graph.qdq.layers import LAYERS
from microgen.graph.qdq.rewriting import NotInteger, Rewriting
from microgen.graph.unsigned import HALF

_INT8 = (-128, 127)
_MOST_DEPTH = 8  # of concatenations of concatenations


@dataclass(frozen=True, slots=True)
class _Chain:
    """The nodes between a layer and QuantizeLinear."""

    start: str  # the layer's result
    moves: tuple[Node, ...]  # the last one first
    clamp: Clamp


def quantized(
    rewriting: Rewriting, tensor: str, kind: ArrayType, name: str, origin: Origin, depth: int = 0
) -> str:
    """A float tensor quantized to integers of type ``kind``, called ``name``."""
    chain, nodes = _chain(rewriting, tensor), len(rewriting.nodes)
    try:
        known = _known(rewriting, tensor, kind, name)
        if known is not None:
            return known
        _check_readers(rewriting, tensor)
        return _computed(rewriting, chain, kind, name, depth)
    except NotInteger as reason:
        rewriting.back_to(nodes)
        rewriting.reasons[_before_views(rewriting, chain.start)] = str(reason)
    return _from_floats(rewriting, tensor, kind, name, origin)


def _known(rewriting: Rewriting, tensor: str, kind: ArrayType, name: str) -> str | None:
    """The integers of a function of other integers; None if the tensor is no such function, or if
    not all its results are known. NotInteger if its int16 form would be off."""
    integers = rewriting.source.get(tensor)
    if integers is None:
        return None
    if rewriting.meaning.get(tensor) == integers and rewriting.types[integers] == kind:
        return rewriting.called(integers, name)
    attrs, made = functions.name_of(rewriting, tensor), rewriting.producers[tensor].origin
    if wide_functions.is_wide(rewriting.types[integers], kind):
        own = wide_functions.own_form(rewriting, tensor, (kind, name, made))
        if own is not None:
            return own
        table = wide_functions.table(rewriting, tensor, kind)
    else:
        table = functions.table(rewriting, tensor, kind)
    if table is None:
        return None
    return _looked_up(rewriting, integers, table, attrs, (kind, name, made))


def _looked_up(
    rewriting: Rewriting,
    integers: str,
    table: Array,
    attrs: LookupAttrs,
    result: tuple[ArrayType, str, Origin],
) -> str:
    kind, name, origin = result
    entries = rewriting.constant(f"{name}#table", table, kind.quant)
    return rewriting.emit("lookup", attrs, (integers, entries), kind, name, origin)


def _chain(rewriting: Rewriting, tensor: str) -> _Chain:
    """The chain of moves and clamps before a tensor whose intermediate results nothing else
    reads."""
    steps: list[Node] = []
    clamp = Clamp()
    while tensor in rewriting.producers and tensor not in rewriting.source:
        node = rewriting.producers[tensor]
        own = functions.of(rewriting.graph, node)
        if own is None and node.op not in moves.HOISTED:
            break
        before = node.inputs[0] if own is None else functions.data(rewriting.graph, node)
        # Other readers need the floats before this node, too.
        if not _is_only_read_here(rewriting, before):
            break
        if own is None:
            steps.append(node)
        else:
            clamp = clamp.after(own)
        tensor = before
    return _Chain(tensor, tuple(steps), clamp)


def _before_views(rewriting: Rewriting, tensor: str) -> str:
    """The result of the layer that a tensor is a view of."""
    node = rewriting.producers.get(tensor)
    while node is not None and node.op in moves.VIEWS:
        tensor = node.inputs[0]
        node = rewriting.producers.get(tensor)
    return tensor


def _is_only_read_here(rewriting: Rewriting, tensor: str) -> bool:
    return len(rewriting.readers[tensor]) == 1 and tensor not in rewriting.graph.outputs


@dataclass(slots=True)
class _Names:
    """Names for the results of a number of steps. The last result gets the wanted name."""

    rewriting: Rewriting
    wanted: str
    left: int

    def next(self, hint: str) -> str:
        """The name of the next step's result."""
        self.left -= 1
        return self.rewriting.fresh(f"{self.wanted}#{hint}") if self.left else self.wanted


def _computed(rewriting: Rewriting, chain: _Chain, kind: ArrayType, name: str, depth: int) -> str:
    """The integers by a table or a layer of integers, then clamped and moved."""
    node = _layer(rewriting, chain)
    bounds = chain.clamp.stored(kind)
    has_clamp = node.op in LAYERS and hasattr(node.attrs, "activation")
    # The activation of a layer costs nothing. Other limits need a table.
    fused = functions.activation(bounds, kind) if has_clamp else None
    is_limited = fused is None and bounds != Clamp().stored(kind)
    names = _Names(rewriting, name, 1 + is_limited + len(chain.moves))
    shaped = dataclasses.replace(kind, shape=rewriting.graph.types[chain.start].shape)
    result = (shaped, names.next(chain.start.rpartition("#")[2] if "#" in chain.start else node.op))
    if chain.start in rewriting.source:
        computed = _function(rewriting, chain.start, *result)
    elif node.op == "concatenate":
        computed = _joined(rewriting, node, *result, depth)
    else:
        computed = LAYERS[node.op](rewriting, node, *result, fused or Activation.NONE)
    if is_limited:
        computed = _limited(rewriting, computed, bounds, names.next("clip"), node.origin)
    for each in reversed(chain.moves):
        wanted = names.next(each.op)
        attrs = moves.integer_attrs(rewriting, each, rewriting.types[computed])
        computed = rewriting.emit(each.op, attrs, (computed,), kind, wanted, each.origin)
    return computed


def _function(rewriting: Rewriting, tensor: str, kind: ArrayType, name: str) -> str:
    known = _known(rewriting, tensor, kind, name)
    if known is None:
        raise NotInteger("has no table of all its results")
    return known


def _layer(rewriting: Rewriting, chain: _Chain) -> Node:
    """The layer at the start of a chain. NotInteger if it has no integer form."""
    node = rewriting.producers.get(chain.start)
    if node is None:
        raise NotInteger("is an input of the model in floats")
    if node.op in moves.VIEWS:
        raise NotInteger("is read by other layers before it is quantized")
    is_known = node.op in (*LAYERS, "concatenate") or chain.start in rewriting.source
    if not is_known:
        raise NotInteger(f"{node.op} has no form for integers")
    return node


def _check_readers(rewriting: Rewriting, tensor: str) -> None:
    """Raise NotInteger if the floats are needed in any case."""
    if tensor in rewriting.graph.outputs:
        raise NotInteger("is an output of the model in floats")
    readers = rewriting.readers[tensor]
    # A layer of floats and one of integers would cost more than the layer of floats alone.
    if len(readers) > 1 and any(reader.op != "qnn.quantize" for reader in readers):
        raise NotInteger("is read by other layers before it is quantized")


def _joined(rewriting: Rewriting, node: Node, kind: ArrayType, name: str, depth: int) -> str:
    """The concatenation of tensors that are each quantized like the result."""
    if depth == _MOST_DEPTH:
        raise NotInteger("joins tensors that are joined from others, too deep")
    parts = []
    for i, each in enumerate(node.inputs):
        shaped = dataclasses.replace(kind, shape=rewriting.graph.types[each].shape)
        wanted = rewriting.fresh(f"{name}#{i}")
        parts.append(quantized(rewriting, each, shaped, wanted, node.origin, depth + 1))
    return rewriting.emit(node.op, node.attrs, parts, kind, name, node.origin)


def _limited(
    rewriting: Rewriting, integers: str, bounds: tuple[int, int], name: str, origin: Origin
) -> str:
    """int8 integers within bounds."""
    kind = rewriting.types[integers]
    if kind.dtype is not DType.INT8:
        raise NotInteger(f"is clamped, which {kind.dtype.value} has no table for")
    table = np.clip(EVERY_INT8, *bounds).astype(np.int8)
    return _looked_up(rewriting, integers, table, LookupAttrs("clip"), (kind, name, origin))


def clamped(rewriting: Rewriting, node: Node) -> bool:
    """Clamp stored int8 integers, if the node is their maximum or minimum with a constant number.

    Narrow integers are stored so: QuantizeLinear, Clip, DequantizeLinear. Clamps that follow one
    another become one.
    """
    numbers = [n for n in node.inputs if functions.is_number(rewriting, n)]
    stored = [n for n in node.inputs if n in rewriting.inner]
    if node.op not in ("maximum", "minimum") or len(numbers) != 1 or len(stored) != 1:
        return False
    integers, kind = rewriting.inner[stored[0]], rewriting.graph.types[stored[0]]
    if rewriting.types[integers].dtype is not DType.INT8:
        return False
    if rewriting.graph.types[node.outputs[0]].shape != kind.shape:
        return False
    number = int(rewriting.graph.constants[numbers[0]].reshape(-1)[0])
    # uint8 values are less by 128 inside the graph.
    number -= HALF if kind.dtype is DType.UINT8 else 0
    base, *ends = rewriting.limits.get(integers, (integers, *_INT8))
    choose = max if node.op == "maximum" else min
    low, high = (choose(end, number) for end in ends)
    if (low, high) == _INT8:
        rewriting.inner[node.outputs[0]] = base
        return True
    name = rewriting.name_for(node.outputs[0])
    result = _limited(rewriting, base, (low, high), name, node.origin)
    rewriting.limits[result] = (base, low, high)
    rewriting.inner[node.outputs[0]] = result
    return True


def _from_floats(
    rewriting: Rewriting, tensor: str, kind: ArrayType, name: str, origin: Origin
) -> str:
    """The integers by quantizing floats."""
    attrs = QuantizeAttrs(ties_even=True)
    if tensor in rewriting.graph.constants:
        floats = rewriting.graph.constants[tensor]
        operands = Operands((floats,), (rewriting.graph.types[tensor],), (kind,))
        (values,) = registry()["qnn.quantize"].reference(attrs, operands)
        return rewriting.constant(name, values, kind.quant)
    return rewriting.emit("qnn.quantize", attrs, (tensor,), kind, name, origin)
