"""Text -> graph. Anything that is not exactly a graph of TVM's form is refused, because the text
may come from an untrusted ELF."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from microgen.base.formats.checked_json import JsonPlace, parse
from microgen.relay.expr import DTYPES
from microgen.tvm.codegens.json_graph.node import OPS, RESERVED, Entry, JSONGraph, JSONNode, Shape

_MAX_DIM = 2**31 - 1  # C indexes with int32_t
_MAX_RANK = 32
_DTYPES = (*DTYPES, "uint1")  # TVM's name for bool here


def loads(text: str | bytes, where: str = "JSON graph") -> JSONGraph:
    """The graph of a text; errors call it ``where``. ``symbol`` may be absent, ``attrs``
    may be ``attr``, and an entry's version may be left out.

    Raises ModelError with the place for anything else that ``dumps`` would not write.
    """
    place = parse(text, where)
    _known(place, ("nodes", "arg_nodes", "heads", "node_row_ptr"), ("symbol",))
    nodes: list[JSONNode] = []
    for node in place.field("nodes").items():
        # A node refers to earlier ones only, so the graph has no cycle.
        nodes.append(_node(node, nodes))
    heads = _entries(place.field("heads"), nodes)
    if not heads:
        place.refuse("has no heads")
    symbol = _name(place.field("symbol")) if place.has("symbol") else None
    graph = JSONGraph(symbol, tuple(nodes), heads)
    _equal(place.field("arg_nodes"), graph.arg_nodes)
    _equal(place.field("node_row_ptr"), graph.node_row_ptr)
    _unique(place, graph.named("const"))
    return graph


def _known(place: JsonPlace, needed: Sequence[str], optional: Sequence[str] = ()) -> None:
    for key, _ in place.fields():
        if key not in (*needed, *optional):
            place.refuse(f"has an unknown key {key[:40]!r}, expected {', '.join(needed)}")
    for key in needed:
        place.field(key)


def _node(place: JsonPlace, before: Sequence[JSONNode]) -> JSONNode:
    spelled = "attr" if place.has("attr") else "attrs"
    _known(place, ("op", "name", spelled), ("inputs",))
    op = place.field("op").text()
    if op not in OPS:
        place.field("op").refuse(f"is {op[:40]!r}, expected one of {', '.join(OPS)}")
    inputs = _entries(place.field("inputs"), before) if place.has("inputs") else ()
    if bool(inputs) != (op == "kernel"):
        place.refuse(f"is of op {op} and has {len(inputs)} inputs; only a kernel has inputs")
    attrs = place.field(spelled)
    shapes, dtypes = _shapes(attrs), _dtypes(attrs)
    if len(shapes) != len(dtypes) or not shapes:
        attrs.refuse(f"has {len(shapes)} shapes and {len(dtypes)} dtypes, expected one per output")
    texts = {k: _texts(v) for k, v in attrs.fields() if k not in RESERVED}
    if texts and op != "kernel":
        attrs.refuse(f"has the attribute {next(iter(texts))[:40]!r}; only a kernel has attributes")
    node = JSONNode(op, _name(place.field("name")), shapes, dtypes, inputs, texts)
    _check_counts(attrs, node)
    return node


def _name(place: JsonPlace) -> str:
    name = place.text()
    if not name or "\0" in name:
        place.refuse("is not a name")
    return name


def _check_counts(attrs: JsonPlace, node: JSONNode) -> None:
    counts = {key: v.text() for key, v in attrs.fields() if key in ("num_inputs", "num_outputs")}
    if counts != node.counts:
        attrs.refuse(f"counts {_counted(counts)}, expected {_counted(node.counts)}")


def _counted(counts: dict[str, str]) -> str:
    return ", ".join(f"{key} {value[:20]}" for key, value in sorted(counts.items())) or "nothing"


def _entries(place: JsonPlace, nodes: Sequence[JSONNode]) -> tuple[Entry, ...]:
    return tuple(_entry(item, nodes) for item in place.items())


def _entry(place: JsonPlace, nodes: Sequence[JSONNode]) -> Entry:
    numbers = [item.size() for item in place.items()]
    if len(numbers) not in (2, 3):
        place.refuse(f"has {len(numbers)} numbers, expected node, output, version")
    # A version may be left out.
    node, output, version = (*numbers, 0)[:3]
    if node >= len(nodes):
        place.refuse(f"names node {node}, but {len(nodes)} nodes come before")
    if output >= len(nodes[node].shapes):
        place.refuse(f"names output {output} of node {node}, which has {len(nodes[node].shapes)}")
    if version:
        place.refuse(f"has version {version}, expected 0")
    return node, output, version


def _wrapped(place: JsonPlace) -> JsonPlace:
    """The only item of a list, which TVM puts around each attribute."""
    # Two are enough to tell, in a list of any length.
    items = list(itertools.islice(place.items(), 2))
    if len(items) != 1:
        place.refuse("is not a list of one item")
    return items[0]


def _texts(place: JsonPlace) -> tuple[str, ...]:
    return tuple(item.text() for item in _wrapped(place).items())


def _shapes(attrs: JsonPlace) -> tuple[Shape, ...]:
    return tuple(map(_shape, _wrapped(attrs.field("shape")).items()))


def _shape(place: JsonPlace) -> Shape:
    shape = tuple(item.size() for item in place.items())
    if len(shape) > _MAX_RANK or max(shape, default=0) > _MAX_DIM:
        place.refuse(f"has more than {_MAX_RANK} axes, or one longer than {_MAX_DIM}")
    return shape


def _dtypes(attrs: JsonPlace) -> tuple[str, ...]:
    place = attrs.field("dtype")
    dtypes = _texts(place)
    for dtype in dtypes:
        if dtype not in _DTYPES:
            place.refuse(f"has {dtype[:40]!r}, which is not a dtype")
    return dtypes


def _equal(place: JsonPlace, expected: Iterable[int]) -> None:
    numbers: Iterator[int] = (item.size() for item in place.items())
    if tuple(numbers) != tuple(expected):
        place.refuse("does not agree with the nodes")


def _unique(place: JsonPlace, names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        place.refuse("has two constants of one name")
